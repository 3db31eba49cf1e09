"""tiktoken rank files (``base64 rank`` a line, such as Llama 3's tokenizer.model), read by the package ``tiktoken``.

The file holds ranks only: the split pattern and the special tokens are not in it and are assumed by a named style.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm.extras import require
from executorch_webgpu.llm.tokenizer.base import ByteTokenizer, Tokenizer

_CL100K_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN_PATTERN = _CL100K_PATTERN.replace(r"\p{N}{1,3}", r"\p{N}")


def _llama3_special(base: int) -> dict[str, int]:
    """Llama 3.1 and later: 256 tokens after the ranks (Meta's model card lists them)."""
    named = [
        "<|begin_of_text|>",
        "<|end_of_text|>",
        "<|reserved_special_token_0|>",
        "<|reserved_special_token_1|>",
        "<|finetune_right_pad_id|>",
        "<|step_id|>",
        "<|start_header_id|>",
        "<|end_header_id|>",
        "<|eom_id|>",
        "<|eot_id|>",
        "<|python_tag|>",
        "<|image|>",
    ]
    named += [f"<|reserved_special_token_{index}|>" for index in range(2, 2 + 256 - len(named))]
    return {text: base + index for index, text in enumerate(named)}


def _qwen_special(base: int) -> dict[str, int]:
    named = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{index}|>" for index in range(205))]
    return {text: base + index for index, text in enumerate(named)}


def _cl100k_special(base: int) -> dict[str, int]:
    # The id before the first special token is unused in OpenAI's table.
    return {
        "<|endoftext|>": base + 1,
        "<|fim_prefix|>": base + 2,
        "<|fim_middle|>": base + 3,
        "<|fim_suffix|>": base + 4,
        "<|endofprompt|>": base + 20,
    }


@dataclass(frozen=True)
class _Style:
    title: str
    pattern: str
    special: Callable[[int], dict[str, int]]
    begin: str | None
    end: tuple[str, ...]


STYLES = {
    "llama3": _Style(
        "Llama 3",
        _CL100K_PATTERN,
        _llama3_special,
        "<|begin_of_text|>",
        ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"),
    ),
    "qwen": _Style("Qwen", _QWEN_PATTERN, _qwen_special, None, ("<|endoftext|>", "<|im_end|>")),
    "cl100k": _Style("OpenAI cl100k_base", _CL100K_PATTERN, _cl100k_special, None, ("<|endoftext|>",)),
}


def _ranks(data: bytes) -> dict[bytes, int]:
    """Read the lines; ValueError says which one is wrong."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        parts = line.split()
        try:
            if len(parts) != 2:
                raise ValueError
            ranks[base64.b64decode(parts[0], validate=True)] = int(parts[1])
        except (ValueError, binascii.Error):
            raise ValueError(f"line {number} is not `base64 rank`") from None
    if not ranks:
        raise ValueError("it has no lines of `base64 rank`")
    return ranks


def why_not(data: bytes) -> str | None:
    """Return why ``data`` is no rank file, None if it looks like one."""
    head = data[:4096]
    if len(data) > len(head):
        head = head[: head.rfind(b"\n") + 1] or head
    try:
        _ranks(head)
    except ValueError as error:
        return str(error)
    return None


def load(data: bytes, style: str) -> Tokenizer:
    """Make a tokenizer of the bytes of a rank file under the assumptions of ``style`` (a key of STYLES)."""
    if style not in STYLES:
        raise InvalidArgument(f"unknown tiktoken style {style!r}: {', '.join(STYLES)}")
    try:
        ranks = _ranks(data)
    except ValueError as error:
        raise InvalidArgument(f"damaged tiktoken rank file: {error}") from None
    missing = next((byte for byte in range(256) if bytes([byte]) not in ranks), None)
    if missing is not None:
        raise InvalidArgument(f"damaged tiktoken rank file: no rank for the byte {missing:#04x}")
    return _TiktokenTokenizer(ranks, style)


class _TiktokenTokenizer(ByteTokenizer):
    kind = "tiktoken"

    def __init__(self, ranks: dict[bytes, int], style: str) -> None:
        package = require("tiktoken", "tiktoken rank files")
        chosen = STYLES[style]
        spelled = chosen.special(max(ranks.values()) + 1)
        self._encoding = package.Encoding(
            name=style, pat_str=chosen.pattern, mergeable_ranks=ranks, special_tokens=spelled
        )
        self._bytes = {rank: data for data, rank in ranks.items()}
        self._spelled = spelled
        self.style = style
        self.special = {token: text for text, token in spelled.items()}
        self.vocab_size = max(self.special) + 1
        self.bos_id = spelled[chosen.begin] if chosen.begin is not None else None
        self.eos_ids = frozenset(spelled[text] for text in chosen.end)
        self.notes = (f"a tiktoken file holds ranks only: assuming {chosen.title}'s split pattern and special tokens",)

    def token_bytes(self, token: int) -> bytes:
        return self._bytes.get(token, b"")

    def token_id(self, text: str) -> int | None:
        if text in self._spelled:
            return self._spelled[text]
        return next((token for token, data in self._bytes.items() if data == text.encode()), None)

    def encode_plain(self, text: str) -> list[int]:
        ids: list[int] = self._encoding.encode(text, allowed_special="all")
        return ids
