"""What every tokenizer offers, and how token ids turn back into text piece by piece."""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence


class Detokenizer(ABC):
    """Turns one token after another into text; never cuts inside a UTF-8 character."""

    @abstractmethod
    def push(self, token: int) -> str:
        """Take one token; return the text that is complete now, which may be empty."""

    @abstractmethod
    def flush(self) -> str:
        """End the text; an unfinished character comes out as U+FFFD."""


class Tokenizer(ABC):
    """Text to token ids and back.

    ``bos_id`` and ``eos_ids`` are what the tokenizer itself says (the program's metadata may say otherwise).
    ``notes`` are assumptions a user should see, one line each.
    """

    kind: str
    vocab_size: int
    bos_id: int | None = None
    eos_ids: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    @abstractmethod
    def encode_plain(self, text: str) -> list[int]:
        """Return the ids of ``text``; spelled-out special tokens become their ids, nothing is added."""

    @abstractmethod
    def detokenizer(self, context: Sequence[int] = (), *, skip_special: bool = True) -> Detokenizer:
        """Return a detokenizer for what follows ``context``; special tokens give no text if ``skip_special``."""

    @abstractmethod
    def token_text(self, token: int) -> str:
        """Return the spelling of one token, special ones included; empty where the id is unknown."""

    @abstractmethod
    def token_id(self, text: str) -> int | None:
        """Return the id of the token spelled ``text``, None where there is none."""

    def bos_prefix(self, text: str) -> list[int]:
        """Return the ids that this tokenizer's own file says to put before ``text``; none by default."""
        del text
        return []

    def encode(
        self, text: str, *, num_bos: int | None = None, num_eos: int = 0, bos_id: int | None = None
    ) -> list[int]:
        """Return the ids of ``text`` with ``num_bos`` begin tokens before and ``num_eos`` end tokens after it.

        With ``num_bos`` None the tokenizer's file decides, and a begin token that the text already spells is not
        doubled. ``bos_id`` overrides the tokenizer's own.
        """
        ids = self.encode_plain(text)
        if num_bos is None:
            prefix = self.bos_prefix(text)
            if prefix and ids[: len(prefix)] == prefix:
                prefix = []
        elif num_bos:
            begin = self.bos_id if bos_id is None else bos_id
            if begin is None:
                raise ValueError("neither the tokenizer nor the program says which token begins a text")
            prefix = [begin] * num_bos
        else:
            prefix = []
        suffix: list[int] = []
        if num_eos:
            if not self.eos_ids:
                raise ValueError("the tokenizer does not say which token ends a text")
            suffix = [min(self.eos_ids)] * num_eos
        return prefix + ids + suffix

    def decode(self, tokens: Iterable[int], *, skip_special: bool = True) -> str:
        """Return the text of ``tokens``."""
        detokenizer = self.detokenizer(skip_special=skip_special)
        return "".join([detokenizer.push(token) for token in tokens]) + detokenizer.flush()


class ByteTokenizer(Tokenizer):
    """A tokenizer in which each token is a fixed string of bytes.

    ``special`` maps the ids that stand for no text to their spelling. ``leads_with_space`` says that a text's first
    token carries a space that the text does not have (sentencepiece's dummy prefix).
    """

    special: Mapping[int, str]
    leads_with_space: bool = False

    @abstractmethod
    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of an ordinary token; empty where the id is unknown."""

    def token_text(self, token: int) -> str:
        """Return the spelling of one token."""
        if token in self.special:
            return self.special[token]
        return self.token_bytes(token).decode("utf-8", "replace")

    def detokenizer(self, context: Sequence[int] = (), *, skip_special: bool = True) -> Detokenizer:
        """Return a detokenizer for what follows ``context``."""
        at_start = all(token in self.special for token in context)
        return _ByteDetokenizer(self, skip_special, self.leads_with_space and at_start)


class _ByteDetokenizer(Detokenizer):
    def __init__(self, tokenizer: ByteTokenizer, skip_special: bool, strip_space: bool) -> None:
        self._tokenizer = tokenizer
        self._skip_special = skip_special
        self._strip_space = strip_space
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        spelled = self._tokenizer.special.get(token)
        if spelled is not None:
            return "" if self._skip_special else self._decoder.decode(spelled.encode())
        data = self._tokenizer.token_bytes(token)
        if self._strip_space and data:
            self._strip_space = False
            data = data.removeprefix(b" ")
        return self._decoder.decode(data)

    def flush(self) -> str:
        return self._decoder.decode(b"", True)


def split_special(text: str, spellings: Iterable[str]) -> list[tuple[str, bool]]:
    """Cut ``text`` at spelled-out special tokens: pairs of (part, whether it is special), the longest match first."""
    ordered = sorted(spellings, key=len, reverse=True)
    if not ordered:
        return [(text, False)] if text else []
    pattern = re.compile("(" + "|".join(map(re.escape, ordered)) + ")")
    return [(part, index % 2 == 1) for index, part in enumerate(pattern.split(text)) if part]
