"""Hugging Face's tokenizer.json, read by the package ``tokenizers``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm.extras import require
from executorch_webgpu.llm.tokenizer.base import ByteTokenizer, Detokenizer, Tokenizer

# Spellings of begin and end tokens, tried in order where tokenizer_config.json does not name them.
_BEGIN = ("<|begin_of_text|>", "<s>", "<bos>", "<|startoftext|>", "<|im_start|>", "[BOS]", "<|endoftext|>")
_END = ("<|end_of_text|>", "<|eot_id|>", "</s>", "<eos>", "<end_of_turn>", "<|im_end|>", "<|endoftext|>", "[EOS]")


def why_not(data: bytes) -> str | None:
    """Return why ``data`` is no tokenizer.json, None if it looks like one."""
    if data.lstrip()[:1] != b"{":
        return "it does not begin with { as JSON does"
    try:
        document = json.loads(data)
    except ValueError as error:
        return f"it is not valid JSON ({error})"
    if not isinstance(document.get("model"), dict):
        return 'the JSON has no object "model"'
    return None


def load(data: bytes, folder: Path | None) -> Tokenizer:
    """Make a tokenizer of the bytes of a tokenizer.json; ``folder`` may hold a tokenizer_config.json."""
    package = require("tokenizers", "tokenizer.json files")
    document = json.loads(data)
    try:
        inner = package.Tokenizer.from_str(data.decode("utf-8"))
    except Exception as error:  # the package raises bare Exception
        raise InvalidArgument(f"the package tokenizers refuses the tokenizer.json: {error}") from error
    inner.no_truncation()
    inner.no_padding()
    config = read_config(folder)
    if _is_byte_level(document.get("decoder")):
        return _ByteLevelTokenizer(inner, document, config)
    return _GeneralTokenizer(inner, document, config)


def read_config(folder: Path | None) -> Mapping[str, Any]:
    """Return the tokenizer_config.json in ``folder``, empty where there is none."""
    path = folder / "tokenizer_config.json" if folder is not None else None
    if path is None or not path.is_file():
        return {}
    try:
        config = json.loads(path.read_text("utf-8"))
    except (ValueError, OSError) as error:
        raise InvalidArgument(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(config, dict):
        raise InvalidArgument(f"{path} holds no JSON object")
    return config


def token_name(value: Any) -> str | None:
    """Return the spelling of a token of tokenizer_config.json, which is a string or an object with ``content``."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else None


def _is_byte_level(decoder: Any) -> bool:
    if not isinstance(decoder, dict):
        return False
    if decoder.get("type") == "Sequence":
        inner = decoder.get("decoders", [])
        return len(inner) == 1 and _is_byte_level(inner[0])
    return bool(decoder.get("type") == "ByteLevel")


def _byte_alphabet() -> dict[str, int]:
    """Return GPT-2's printable stand-ins of the 256 bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(byte): byte for byte in printable}
    for offset, byte in enumerate(byte for byte in range(256) if byte not in printable):
        alphabet[chr(256 + offset)] = byte
    return alphabet


class _Common(Tokenizer):
    kind = "huggingface"

    def __init__(self, inner: Any, document: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self._inner = inner
        self._config = config
        self.vocab_size = max(inner.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        added = [token for token in document.get("added_tokens", []) if isinstance(token, dict)]
        self.added = {int(token["id"]): str(token["content"]) for token in added}
        self.special: Mapping[int, str] = {
            int(token["id"]): str(token["content"]) for token in added if token.get("special")
        }
        self.bos_id = self._named("bos_token", _BEGIN)
        end = self._named("eos_token", _END)
        self.eos_ids = frozenset() if end is None else frozenset({end})

    def _named(self, key: str, usual: Sequence[str]) -> int | None:
        name = token_name(self._config.get(key))
        if name is not None:
            return self.token_id(name)
        special = {text: token for token, text in self.special.items()}
        return next((special[text] for text in usual if text in special), None)

    def token_id(self, text: str) -> int | None:
        found: int | None = self._inner.token_to_id(text)
        return found

    def encode_plain(self, text: str) -> list[int]:
        ids: list[int] = self._inner.encode(text, add_special_tokens=False).ids
        return ids

    def bos_prefix(self, text: str) -> list[int]:
        if self._config.get("add_bos_token") is False:
            return []
        plain = self.encode_plain(text)
        full: list[int] = self._inner.encode(text, add_special_tokens=True).ids
        extra = len(full) - len(plain)
        for offset in range(1, extra + 1):
            if full[offset : offset + len(plain)] == plain:
                return full[:offset]
        if self._config.get("add_bos_token") is True and self.bos_id is not None:
            return [self.bos_id]
        return []


class _ByteLevelTokenizer(_Common, ByteTokenizer):
    """Byte-level vocabularies (GPT-2's alphabet): every token has exact bytes."""

    def __init__(self, inner: Any, document: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        super().__init__(inner, document, config)
        self._alphabet = _byte_alphabet()
        self._bytes: dict[int, bytes] = {}

    def token_bytes(self, token: int) -> bytes:
        known = self._bytes.get(token)
        if known is None:
            text = self.added.get(token)
            if text is None:
                text = self._inner.id_to_token(token) or ""
                known = b"".join(
                    bytes([self._alphabet[char]]) if char in self._alphabet else char.encode() for char in text
                )
            else:
                known = text.encode()
            self._bytes[token] = known
        return known


class _GeneralTokenizer(_Common):
    """Any other decoder: text is the difference of two decodings of a short window."""

    def token_text(self, token: int) -> str:
        return self.special.get(token) or self._inner.id_to_token(token) or ""

    def detokenizer(self, context: Sequence[int] = (), *, skip_special: bool = True) -> Detokenizer:
        return _WindowDetokenizer(self._inner, list(context)[-6:], skip_special)


class _WindowDetokenizer(Detokenizer):
    LONGEST = 4  # bytes of a UTF-8 character: an invalid one cannot be completed by more tokens

    def __init__(self, inner: Any, context: list[int], skip_special: bool) -> None:
        self._inner = inner
        self._skip_special = skip_special
        self._ids = context
        self._start = 0
        self._read = len(context)

    def _decode(self, ids: list[int]) -> str:
        text: str = self._inner.decode(ids, skip_special_tokens=self._skip_special)
        return text

    def push(self, token: int) -> str:
        self._ids.append(token)
        if self._incomplete() and len(self._ids) - self._read < self.LONGEST:
            return ""
        return self._take()

    def _incomplete(self) -> bool:
        return self._decode(self._ids[self._start :]).endswith("\ufffd")

    def _take(self) -> str:
        before = self._decode(self._ids[self._start : self._read])
        text = self._decode(self._ids[self._start :])[len(before) :]
        if text:
            self._start, self._read = self._read, len(self._ids)
        return text

    def flush(self) -> str:
        return self._take() if self._read < len(self._ids) else ""
