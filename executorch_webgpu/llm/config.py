"""What a caller can ask of one generation."""

from __future__ import annotations

from dataclasses import dataclass, field

from executorch_webgpu.errors import InvalidArgument


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a token is chosen from logits; see ``sampler`` for the exact meaning of each number.

    ``temperature`` 0 is greedy, ``top_k`` 0 and ``top_p`` 1 and ``min_p`` 0 and ``repetition_penalty`` 1 switch off.
    """

    temperature: float = 0.8
    top_k: int = 0
    top_p: float = 0.9
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0
    logprobs: bool = True

    @property
    def greedy(self) -> bool:
        """Whether the most likely token is taken, whatever the seed."""
        return self.temperature == 0 or self.top_k == 1


@dataclass(frozen=True, kw_only=True)
class GenerationConfig:
    """Settings of one call of ``generate`` or ``stream``.

    The first block has the names and defaults of ExecuTorch's ``GenerationConfig``: ``max_new_tokens`` and ``seq_len``
    (all tokens of the text, prompt included) are -1 for as many as fit; ``echo`` makes ``generate`` hand the prompt to
    the callback first; ``warming`` marks a run whose speed does not count. ``num_bos`` None lets the tokenizer's file
    decide, which is 0 unless it says otherwise. ``top_p`` 0.9 is ExecuTorch's fixed value.

    ``seed`` None draws one at random. ``stop`` lists texts that end the answer and do not belong to it.
    """

    echo: bool = True
    max_new_tokens: int = -1
    warming: bool = False
    seq_len: int = -1
    temperature: float = 0.8
    num_bos: int | None = None
    num_eos: int = 0

    top_k: int = 0
    top_p: float = 0.9
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = field(default=())
    ignore_eos: bool = False
    skip_special_tokens: bool = True
    logprobs: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.stop, str):
            object.__setattr__(self, "stop", (self.stop,))
        object.__setattr__(self, "stop", tuple(self.stop))
        checks = (
            ("temperature", self.temperature >= 0, "0 (greedy) or more"),
            ("top_k", self.top_k >= 0, "0 (all tokens) or more"),
            ("top_p", 0 < self.top_p <= 1, "above 0 and at most 1"),
            ("min_p", 0 <= self.min_p <= 1, "from 0 to 1"),
            ("repetition_penalty", 0 < self.repetition_penalty < float("inf"), "above 0"),
            ("max_new_tokens", self.max_new_tokens >= -1, "-1 (as many as fit) or more"),
            ("seq_len", self.seq_len >= -1, "-1 (the context's length) or more"),
            ("num_bos", self.num_bos is None or self.num_bos >= 0, "0 or more"),
            ("num_eos", self.num_eos >= 0, "0 or more"),
            ("seed", self.seed is None or 0 <= self.seed < 2**64, "from 0 to 2^64 - 1"),
            ("stop", all(self.stop), "texts that are not empty"),
        )
        for name, holds, allowed in checks:
            if not holds:  # a NaN fails every comparison
                raise InvalidArgument(f"{name} is {getattr(self, name)!r}; allowed is {allowed}")

    def resolve_max_new_tokens(self, max_context_len: int, num_tokens_occupied: int) -> int:
        """Return how many tokens may be generated after ``num_tokens_occupied`` of them, as ExecuTorch counts."""
        room = max_context_len if self.seq_len == -1 else min(self.seq_len, max_context_len)
        room -= num_tokens_occupied
        if self.max_new_tokens != -1:
            room = min(room, self.max_new_tokens)
        return max(room, 0)

    def sampling(self, seed: int) -> Sampling:
        """Return what the decoder has to know, with the seed decided."""
        return Sampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
            seed=seed,
            logprobs=self.logprobs,
        )
