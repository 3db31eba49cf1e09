"""Makes a tiny tokenizer of each kind for the tests; needs tokenizers, tiktoken and sentencepiece.

Writes into ``tests/fixtures/llm``: ``byte_level.json`` and ``byte_fallback.json`` (tokenizer.json files, one like
GPT-2's, one like Llama 2's), ``ranks.tiktoken``, ``pieces.model`` (sentencepiece), ``llama2c.bin`` and
``executorch.bin`` (made of pieces.model, without and with ExecuTorch's header), and ``tokenizers.json``: what the
packages themselves say of some texts. Run ``python tests/export/llm_tokenizers.py``.
"""

from __future__ import annotations

import base64
import io
import json
import struct
from pathlib import Path
from typing import Any

import sentencepiece
import tiktoken
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "llm"
CORPUS = [
    "Once upon a time there was a king who had three sons, and the youngest of the three was very brave.",
    "It was a dark night, and the old house by the river stood alone; the wind went through the trees.",
    "And it came to pass in those days that he went up to the mountain and spoke to the people there.",
    "The little girl said to the old woman that she would go to the house in the wood and bring the bread.",
    "1, 2, 3, 10, 100: the numbers in the book were written by hand. café, naïve, über.",
]
TEXTS = [
    "Once upon a time",
    "  two  spaces and\ta tab\n\nand lines",
    "naïve café \u2013 “quotes” 漢字 🙂",
    "the king's 1234 sons",
    "",
    " ",
]
VOCABULARY = 320


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<pad>", "<s>", "</s>", "<|user|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def pieces() -> bytes:
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=stream,
        model_type="bpe",
        vocab_size=VOCABULARY,
        byte_fallback=True,
        character_coverage=1.0,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        split_digits=True,
        minloglevel=2,
    )
    return stream.getvalue()


def byte_fallback(model: Any) -> Tokenizer:
    """Llama 2's layout of a sentencepiece model: a BPE with byte fallback, spaces as a visible character."""
    count = model.GetPieceSize()
    vocabulary = {model.IdToPiece(token): token for token in range(count)}
    merges = []
    for piece in sorted(
        (piece for piece, token in vocabulary.items() if model.GetScore(token) < 0 and len(piece) > 1),
        key=lambda piece: -model.GetScore(vocabulary[piece]),
    ):
        cuts = [(piece[:at], piece[at:]) for at in range(1, len(piece))]
        merges += [cut for cut in cuts if cut[0] in vocabulary and cut[1] in vocabulary]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(
        [AddedToken(name, special=True, normalized=False) for name in ("<unk>", "<s>", "</s>")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def ranks(tokenizer: Tokenizer) -> bytes:
    """The byte-level vocabulary as tiktoken ranks: the bytes in order, then the merges."""
    document = json.loads(tokenizer.to_str())
    alphabet = {char: byte for byte, char in _alphabet().items()}
    parts = [bytes([byte]) for byte in range(256)]
    for left, right in document["model"]["merges"]:
        parts.append(bytes(alphabet[char] for char in left + right))
    return b"".join(base64.b64encode(part) + b" %d\n" % rank for rank, part in enumerate(parts))


def _alphabet() -> dict[int, str]:
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {byte: chr(byte) for byte in printable}
    for offset, byte in enumerate(byte for byte in range(256) if byte not in printable):
        table[byte] = chr(256 + offset)
    return table


def llama2c(model: Any, header: bool) -> bytes:
    entries = []
    for token in range(model.GetPieceSize()):
        text = {model.bos_id(): "\n<s>\n", model.eos_id(): "\n</s>\n"}.get(token, model.IdToPiece(token))
        if header:
            text = text.strip("\n")
        entries.append((model.GetScore(token), text.replace("▁", " ").encode()))
    longest = max(len(text) for _, text in entries)
    head = (
        struct.pack("<4I", len(entries), model.bos_id(), model.eos_id(), longest)
        if header
        else struct.pack("<I", longest)
    )
    return head + b"".join(struct.pack("<fI", score, len(text)) + text for score, text in entries)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    level = byte_level()
    data = pieces()
    model = sentencepiece.SentencePieceProcessor(model_proto=data)
    fallback = byte_fallback(model)
    level.save(str(FOLDER / "byte_level.json"), pretty=False)
    fallback.save(str(FOLDER / "byte_fallback.json"), pretty=False)
    (FOLDER / "pieces.model").write_bytes(data)
    (FOLDER / "llama2c.bin").write_bytes(llama2c(model, header=False))
    (FOLDER / "executorch.bin").write_bytes(llama2c(model, header=True))
    rank_file = ranks(level)
    (FOLDER / "ranks.tiktoken").write_bytes(rank_file)
    table = {base64.b64decode(line.split()[0]): int(line.split()[1]) for line in rank_file.splitlines()}
    encoding = tiktoken.Encoding(
        "golden",
        pat_str=r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s*[\r\n]+|\s+(?!\S)|\s+",
        mergeable_ranks=table,
        special_tokens={},
    )
    golden = [
        {
            "text": text,
            "byte_level": level.encode(text, add_special_tokens=False).ids,
            "byte_fallback": fallback.encode(text, add_special_tokens=False).ids,
            "tiktoken": encoding.encode(text),
            "sentencepiece": model.EncodeAsIds(text),
        }
        for text in TEXTS
    ]
    (FOLDER / "tokenizers.json").write_text(json.dumps(golden) + "\n")
    print(*(f"{path.name}: {path.stat().st_size}" for path in sorted(FOLDER.iterdir())), sep="\n")


if __name__ == "__main__":
    main()
