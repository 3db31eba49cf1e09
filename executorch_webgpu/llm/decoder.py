"""Decoders: what holds the text so far in the model's terms and draws the tokens that follow.

The generation loop talks to this interface alone. A decoder may run ahead of its reader: it may have computed tokens
beyond the last one it handed out. Such surplus does not count: only tokens that were handed out belong to the text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from executorch_webgpu.llm.config import Sampling


@dataclass(frozen=True, slots=True)
class TokenStep:
    """One drawn token, its place in the whole text, and the log-probability (None where not asked for)."""

    token: int
    position: int
    logprob: float | None


class Decoder(ABC):
    """The text so far (``tokens``, drawn ones included) and the model's state for it.

    ``context_length`` is the most tokens a text can have; ``vocab_size`` is None where it is not known yet.
    """

    context_length: int
    vocab_size: int | None

    @property
    @abstractmethod
    def tokens(self) -> Sequence[int]:
        """The token ids of the text so far."""

    @property
    def position(self) -> int:
        """How many tokens the text has."""
        return len(self.tokens)

    @abstractmethod
    def prefill(self, tokens: Sequence[int]) -> None:
        """Append given tokens to the text; the caller has checked that they fit."""

    @abstractmethod
    def generate_tokens(self, sampling: Sampling, limit: int) -> Generator[TokenStep, None, None]:
        """Draw up to ``limit`` tokens, each appended to the text as it is handed out.

        The text must not be empty. The caller may close the generator at any time; computed surplus is then dropped.
        """

    @abstractmethod
    def rewind(self, position: int) -> None:
        """Shorten the text to its first ``position`` tokens."""

    @abstractmethod
    def reset(self) -> None:
        """Begin a new text with every cache at its initial value: the same calls give the same bits again."""
