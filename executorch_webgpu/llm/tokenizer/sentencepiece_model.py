"""sentencepiece .model files, read by the package ``sentencepiece``."""

from __future__ import annotations

from typing import Any

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm.extras import require
from executorch_webgpu.llm.tokenizer.base import ByteTokenizer, Tokenizer, split_special

_SPACE = "\u2581"  # sentencepiece's stand-in for a space


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 64:
        if at >= len(data):
            raise ValueError("it ends inside a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a number has more than 64 bits")


def why_not(data: bytes) -> str | None:
    """Return why ``data`` is no ModelProto, None if its outer protobuf fields hold together.

    Source of the field numbers: sentencepiece_model.proto (1 pieces, 2 trainer, 3 normalizer, 4 self test, 5
    denormalizer).
    """
    at, pieces = 0, 0
    try:
        while at < len(data):
            key, at = _varint(data, at)
            field, wire = key >> 3, key & 7
            if wire != 2 or field == 0:
                raise ValueError(f"byte {at - 1} begins no protobuf field of a sentencepiece model")
            size, at = _varint(data, at)
            if at + size > len(data):
                raise ValueError("a protobuf field runs past the end")
            pieces += field == 1
            at += size
    except ValueError as error:
        return str(error)
    return None if pieces else "it has no pieces"


def load(data: bytes) -> Tokenizer:
    """Make a tokenizer of the bytes of a .model file."""
    package = require("sentencepiece", "sentencepiece .model files")
    processor = package.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(data)
    except Exception as error:  # the package raises RuntimeError and others
        raise InvalidArgument(f"the package sentencepiece refuses the model: {error}") from error
    return _SentencePieceTokenizer(processor)


class _SentencePieceTokenizer(ByteTokenizer):
    kind = "sentencepiece"

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.vocab_size = int(inner.GetPieceSize())
        self._bytes: dict[int, bytes] = {}
        special: dict[int, str] = {}
        for token in range(self.vocab_size):
            piece = str(inner.IdToPiece(token))
            if inner.IsControl(token) or inner.IsUnknown(token):
                special[token] = piece
            elif inner.IsByte(token):
                self._bytes[token] = bytes([int(piece[3:5], 16)])
            else:
                self._bytes[token] = piece.replace(_SPACE, " ").encode()
        self.special = special
        self._spelled = {text: token for token, text in special.items() if not inner.IsUnknown(token)}
        begin, end = int(inner.bos_id()), int(inner.eos_id())
        self.bos_id = begin if begin >= 0 else None
        self.eos_ids = frozenset({end}) if end >= 0 else frozenset()
        # Whether a dummy space is added is a setting of the model: see what it does to a letter.
        self.leads_with_space = str(inner.DecodePieces([_SPACE + "a"])) == "a"

    def token_bytes(self, token: int) -> bytes:
        return self._bytes.get(token, b"")

    def token_id(self, text: str) -> int | None:
        token = int(self._inner.PieceToId(text))
        return token if 0 <= token < self.vocab_size and self._inner.IdToPiece(token) == text else None

    def encode_plain(self, text: str) -> list[int]:
        ids: list[int] = []
        for part, special in split_special(text, self._spelled):
            ids += [self._spelled[part]] if special else self._inner.EncodeAsIds(part)
        return ids
