"""Tokenizers of every kind: ids as the packages themselves give them, text that streams, errors that explain."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from pathlib import Path

import pytest

from executorch_webgpu.errors import InvalidArgument, MissingExtra, NotFound
from executorch_webgpu.llm.tokenizer import Tokenizer, load_tokenizer
from executorch_webgpu.llm.tokenizer.base import split_special

FIXTURES = Path(__file__).parent.parent / "fixtures" / "llm"
GOLDEN = json.loads((FIXTURES / "tokenizers.json").read_text("utf-8"))
# File, kind, and the golden column.
FILES = [
    ("byte_level.json", "huggingface", "byte_level"),
    ("byte_fallback.json", "huggingface", "byte_fallback"),
    ("ranks.tiktoken", "tiktoken", "tiktoken"),
    ("pieces.model", "sentencepiece", "sentencepiece"),
    ("llama2c.bin", "llama2c", "sentencepiece"),
    ("executorch.bin", "llama2c", "sentencepiece"),
]
NAMES = [name for name, _, _ in FILES]


def load(name: str) -> Tokenizer:
    return load_tokenizer(FIXTURES / name)


@pytest.mark.parametrize(("name", "kind", "column"), FILES)
def test_ids_are_the_package_s_own(name: str, kind: str, column: str) -> None:
    tokenizer = load(name)
    assert tokenizer.kind == kind
    for case in GOLDEN:
        assert tokenizer.encode(case["text"], num_bos=0) == case[column], case["text"]


@pytest.mark.parametrize("name", NAMES)
def test_text_comes_back(name: str) -> None:
    tokenizer = load(name)
    for case in GOLDEN:
        ids = tokenizer.encode(case["text"], num_bos=0)
        assert tokenizer.decode(ids) == case["text"]


@pytest.mark.parametrize("name", NAMES)
def test_streams_are_whole_characters(name: str) -> None:
    tokenizer = load(name)
    text = "né 漢字 🙂 café"
    context = tokenizer.encode("Once upon", num_bos=0)
    ids = tokenizer.encode("Once upon " + text, num_bos=0)
    assert ids[: len(context)] == context
    detokenizer = tokenizer.detokenizer(context)
    pieces = [detokenizer.push(token) for token in ids[len(context) :]]
    assert "".join(pieces) + detokenizer.flush() == " " + text
    assert not any("\ufffd" in piece for piece in pieces)


@pytest.mark.parametrize("name", NAMES)
def test_broken_bytes_come_out_as_replacement(name: str) -> None:
    tokenizer = load(name)
    ids = tokenizer.encode("a🙂", num_bos=0)
    detokenizer = tokenizer.detokenizer(tokenizer.encode("x", num_bos=0))
    text = "".join(detokenizer.push(token) for token in ids[:-1]) + detokenizer.flush()
    assert text.lstrip(" ").rstrip("\ufffd") == "a" and text.endswith("\ufffd")
    # And they do not hold back what follows for ever.
    detokenizer = tokenizer.detokenizer(tokenizer.encode("x", num_bos=0))
    text = "".join(detokenizer.push(token) for token in [*ids[:-1], *tokenizer.encode("Once upon a time", num_bos=0)])
    assert "upon a time" in text


@pytest.mark.parametrize("name", NAMES)
def test_special_tokens(name: str) -> None:
    tokenizer = load(name)
    begin = tokenizer.bos_id
    assert begin is not None and tokenizer.eos_ids
    spelling = tokenizer.token_text(begin)
    assert tokenizer.token_id(spelling) == begin
    ids = tokenizer.encode_plain(f"{spelling}king")
    assert ids[0] == begin and tokenizer.decode(ids) == "king"
    assert tokenizer.decode(ids, skip_special=False).replace(" ", "") == f"{spelling}king"
    assert tokenizer.encode("king", num_bos=2)[:2] == [begin, begin]
    assert tokenizer.encode("king", num_bos=1, bos_id=7)[0] == 7
    assert tokenizer.encode("king", num_bos=0, num_eos=1)[-1] in tokenizer.eos_ids


@pytest.mark.parametrize("name", NAMES)
def test_unknown_ids_give_no_text(name: str) -> None:
    tokenizer = load(name)
    assert tokenizer.decode([tokenizer.vocab_size + 5]) == ""
    assert tokenizer.token_text(tokenizer.vocab_size + 5) == ""
    assert tokenizer.token_id("no such token") is None


@pytest.mark.parametrize("name", NAMES)
def test_the_name_does_not_matter(name: str, tmp_path: Path) -> None:
    shutil.copy(FIXTURES / name, tmp_path / "something.else")
    assert load_tokenizer(tmp_path / "something.else").kind == load(name).kind


def test_the_file_decides_about_begin_tokens(tmp_path: Path) -> None:
    assert load("byte_level.json").encode("king") == load("byte_level.json").encode("king", num_bos=0)
    tokenizer = load("byte_fallback.json")
    assert tokenizer.encode("king") == [1, *tokenizer.encode("king", num_bos=0)]
    assert tokenizer.encode("<s>king") == tokenizer.encode("<s>king", num_bos=0)
    assert load("pieces.model").encode("king") == load("pieces.model").encode("king", num_bos=0)
    shutil.copy(FIXTURES / "byte_level.json", tmp_path / "tokenizer.json")
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"add_bos_token": True, "bos_token": {"content": "<|user|>"}, "eos_token": "<pad>"}))
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.token_text(tokenizer.encode("king")[0]) == "<|user|>"
    assert {tokenizer.token_text(token) for token in tokenizer.eos_ids} == {"<pad>"}
    config.write_text("[]")
    with pytest.raises(InvalidArgument, match="holds no JSON object"):
        load_tokenizer(tmp_path)


def test_truncation_and_padding_of_the_file_are_ignored(tmp_path: Path) -> None:
    document = json.loads((FIXTURES / "byte_level.json").read_text("utf-8"))
    document["truncation"] = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    (tmp_path / "t.json").write_text(json.dumps(document))
    text = "Once upon a time there was a king"
    assert load_tokenizer(tmp_path / "t.json").encode(text) == load("byte_level.json").encode(text)


def test_llama3_is_assumed_for_tiktoken_and_said() -> None:
    tokenizer = load("ranks.tiktoken")
    assert "assuming Llama 3's split pattern and special tokens" in tokenizer.notes[0]
    first = tokenizer.bos_id
    assert first is not None
    assert tokenizer.vocab_size == first + 256
    assert tokenizer.token_text(first) == "<|begin_of_text|>"
    assert tokenizer.token_text(first + 9) == "<|eot_id|>"
    # As in Llama 3.1: 128000 + 255 is the last one.
    assert tokenizer.token_text(first + 255) == "<|reserved_special_token_245|>"
    assert {first + 1, first + 8, first + 9} == tokenizer.eos_ids


def test_other_tiktoken_styles() -> None:
    qwen = load_tokenizer(FIXTURES / "ranks.tiktoken", tiktoken_style="qwen")
    assert {qwen.token_text(token) for token in qwen.eos_ids} == {"<|endoftext|>", "<|im_end|>"}
    # Qwen splits digits one by one, Llama 3 in threes.
    assert len(qwen.encode("1234")) == 4
    cl100k = load_tokenizer(FIXTURES / "ranks.tiktoken", tiktoken_style="cl100k")
    assert cl100k.bos_id is None
    with pytest.raises(ValueError, match="which token begins"):
        cl100k.encode("x", num_bos=1)
    with pytest.raises(InvalidArgument, match="unknown tiktoken style 'x': llama3, qwen, cl100k"):
        load_tokenizer(FIXTURES / "ranks.tiktoken", tiktoken_style="x")


def test_no_leading_space_at_the_start_of_a_text() -> None:
    for name in ("pieces.model", "llama2c.bin"):
        tokenizer = load(name)
        ids = tokenizer.encode("king", num_bos=0)
        assert tokenizer.bos_id is not None
        first = tokenizer.detokenizer([tokenizer.bos_id])
        assert "".join(first.push(token) for token in ids) == "king"
        later = tokenizer.detokenizer(ids)
        assert "".join(later.push(token) for token in ids) == " king"


def test_what_is_no_tokenizer_says_why_for_each_kind(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"just some words\n")
    with pytest.raises(InvalidArgument) as caught:
        load_tokenizer(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: no known kind of tokenizer; tried Hugging Face tokenizer.json: ")
    for part in ("tiktoken ranks: line 1 is not", "llama2.c .bin: with ExecuTorch's header", "sentencepiece .model: "):
        assert part in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it has no pieces"),
        (b"{", "not valid JSON"),
        (b'{"version": 1}', 'no object "model"'),
        (b'{"model": {"type": "Nonsense"}}', "tokenizers refuses"),
        (b"IQ== 0\n", "no rank for the byte 0x00"),
        (b"IQ== 0\nIg== x\n", "line 2 is not"),
        (struct.pack("<4I", 3, 1, 2, 5) + struct.pack("<fI", 0, 9), "longer (9) than the stated maximum (5)"),
        (struct.pack("<I", 5) + struct.pack("<fI", 0, 2) + b"a", "ends inside token 0"),
    ],
)
def test_damaged_files(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(InvalidArgument) as caught:
        load_tokenizer(tmp_path / "x")
    assert message in str(caught.value) and str(tmp_path / "x") in str(caught.value)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such file"):
        load_tokenizer(tmp_path / "none.json")
    with pytest.raises(NotFound, match=r"holds none of tokenizer.json"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("name", "package"),
    [("byte_level.json", "tokenizers"), ("ranks.tiktoken", "tiktoken"), ("pieces.model", "sentencepiece")],
)
def test_a_missing_package_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf'{package} is needed for .*pip install "executorch-webgpu\[llm\]"'):
        load(name)
    # llama2.c's needs none.
    assert load("llama2c.bin").kind == "llama2c"


def test_splitting_at_special_tokens() -> None:
    assert split_special("a<s>b<s>", ["<s>", "<"]) == [("a", False), ("<s>", True), ("b", False), ("<s>", True)]
    assert split_special("ab", []) == [("ab", False)]
    assert split_special("", ["<s>"]) == []
