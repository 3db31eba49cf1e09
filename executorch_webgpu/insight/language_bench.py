"""Times a language model as llama-bench counts: prompt processing (pp), generation (tg), each at a depth of context."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from executorch_webgpu.errors import InvalidArgument


class TextDecoder(Protocol):
    """What is timed: a language model that takes token ids and draws greedily."""

    context_length: int
    vocab_size: int | None

    def reset(self) -> None:
        """Begin a new text."""

    def prefill(self, tokens: Sequence[int]) -> None:
        """Append tokens to the text."""


Draw = Callable[[int], Generator[object, None, None]]  # draws that many tokens, one at a time


@dataclass(frozen=True)
class SpeedTest:
    """One figure: ``prompt`` tokens taken or ``generate`` tokens drawn, after ``depth`` tokens of context."""

    prompt: int
    generate: int
    depth: int

    @property
    def name(self) -> str:
        """The name that llama-bench gives it, such as ``pp512 @ d1024``."""
        figure = f"pp{self.prompt}" if self.prompt else f"tg{self.generate}"
        return f"{figure} @ d{self.depth}" if self.depth else figure

    @property
    def tokens(self) -> int:
        """The number of tokens that are timed."""
        return self.prompt or self.generate

    @property
    def context(self) -> int:
        """The tokens that the context must hold."""
        if self.prompt:
            return self.depth + self.prompt + (1 if self.depth else 0)
        return max(self.depth, 1) + self.generate + 1


@dataclass(frozen=True)
class SpeedResult:
    """Seconds of each repetition."""

    test: SpeedTest
    seconds: list[float]

    @property
    def speeds(self) -> list[float]:
        """Tokens a second of each repetition."""
        return [self.test.tokens / value for value in self.seconds]

    @property
    def mean(self) -> float:
        """The mean speed."""
        return float(np.mean(self.speeds))

    @property
    def deviation(self) -> float:
        """The standard deviation of the speeds, 0 for a single one."""
        return float(np.std(self.speeds, ddof=1)) if len(self.seconds) > 1 else 0.0


def plan_tests(
    prompts: Sequence[int], generates: Sequence[int], depths: Sequence[int], context: int
) -> list[SpeedTest]:
    """Return the tests in llama-bench's order; 0 leaves a kind out.

    Raises:
        InvalidArgument: A test does not fit the model's context.
    """
    tests = []
    for depth in depths:
        tests += [SpeedTest(count, 0, depth) for count in prompts if count]
        tests += [SpeedTest(0, count, depth) for count in generates if count]
    for test in tests:
        if test.context > context:
            raise InvalidArgument(
                f"{test.name} needs a context of {test.context} tokens; the model has {context} "
                "(-p, -n and -d set the sizes)"
            )
    return tests


def time_test(decoder: TextDecoder, draw: Draw, test: SpeedTest, repeat: int, seed: int = 0) -> SpeedResult:
    """Run one test ``repeat`` times after a warm-up run. Tokens are random; the first token drawn belongs to pp."""
    random = np.random.default_rng(seed)
    vocabulary = decoder.vocab_size or 256

    def ids(count: int) -> list[int]:
        return [int(token) for token in random.integers(0, vocabulary, count)]

    def once(generate: int) -> float:
        decoder.reset()
        if test.prompt:
            if test.depth:
                decoder.prefill(ids(test.depth))
                _drain(draw(1))  # waits: what is only submitted must not run in the timed part
            start = time.perf_counter()
            decoder.prefill(ids(test.prompt))
            _drain(draw(1))
            return time.perf_counter() - start
        decoder.prefill(ids(max(test.depth, 1)))
        tokens = draw(generate + 1)
        next(tokens)
        start = time.perf_counter()
        _drain(tokens)
        return time.perf_counter() - start

    once(min(test.generate, 4))
    return SpeedResult(test, [once(test.generate) for _ in range(repeat)])


def _drain(tokens: Generator[object, None, None]) -> None:
    for _ in tokens:
        pass
