"""Programs of a few lines of numpy in the place of exported language models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from executorch_webgpu.errors import InvalidArgument, NotFound
from executorch_webgpu.llm.tokenizer.base import ByteTokenizer

VOCABULARY = 260
BOS, EOS = 256, 257
_TABLE = np.random.default_rng(3).normal(size=(VOCABULARY, VOCABULARY)).astype(np.float32)


def expected_logits(tokens: Sequence[int]) -> np.ndarray:
    """What the fake model says after ``tokens``: it depends on each of them and on its place."""
    return _expected(tuple(tokens))


@functools.lru_cache(4096)
def _expected(tokens: tuple[int, ...]) -> np.ndarray:
    logits = np.zeros(VOCABULARY, np.float32)
    for place, token in enumerate(tokens):
        logits += np.roll(_TABLE[token], place) / np.float32(1 + len(tokens) - place)
    return logits


def greedy(tokens: Sequence[int], count: int) -> list[int]:
    """The greedy continuation of ``tokens``."""
    text = list(tokens)
    for _ in range(count):
        text.append(int(expected_logits(text).argmax()))
    return text[len(tokens) :]


@dataclass
class FakeInfo:
    bound: tuple[tuple[int, int], ...]
    code: int = 4

    def sizes(self) -> tuple[int, ...]:
        return tuple(high for _, high in self.bound)

    def dtype(self) -> int:
        return self.code

    def bounds(self) -> tuple[tuple[int, int], ...]:
        return self.bound


@dataclass
class FakeMeta:
    inputs: tuple[FakeInfo | None, ...]

    def num_inputs(self) -> int:
        return len(self.inputs)

    def input_tensor_meta(self, index: int) -> FakeInfo:
        info = self.inputs[index]
        if info is None:
            raise InvalidArgument("not a tensor")
        return info


@dataclass
class FakeMethod:
    """A method with or without a cache; ``cache`` may be shared between methods. ``calls`` records (length, start)."""

    metadata: FakeMeta
    rows: str = "last"  # or "all": which positions have logits
    cache: dict[int, int] = field(default_factory=dict)
    calls: list[tuple[int, int]] = field(default_factory=list)
    has_delegate_state: bool = True
    prepared: bool = False
    tokens_at: int = 0
    before: Callable[[], None] = lambda: None

    def prepare(self) -> None:
        self.prepared = True

    def reset(self) -> None:
        self.cache.clear()

    def execute(self, inputs: Sequence[Any]) -> list[Any]:
        self.before()
        values = list(inputs)
        for value, info in zip(values, self.metadata.inputs, strict=True):
            if info is None:
                assert type(value) is int
            else:
                assert value.dtype == {3: np.int32, 4: np.int64}[info.code]
                assert len(value.shape) == len(info.bound)
                assert all(low <= size <= high for size, (low, high) in zip(value.shape, info.bound, strict=True))
        tokens = [int(token) for token in values.pop(self.tokens_at).reshape(-1)]
        if not values:
            known, start = tokens, 0
        else:
            places = np.asarray(values[0]).reshape(-1)
            start = int(places[0])
            if len(places) > 1:
                assert list(places) == list(range(start, start + len(tokens)))
            for offset, token in enumerate(tokens):
                self.cache[start + offset] = token
            known = [self.cache[index] for index in range(start + len(tokens))]
        self.calls.append((len(tokens), start))
        rows = [expected_logits(known[: start + index + 1]) for index in range(len(tokens))]
        logits = np.stack(rows)[None] if self.rows == "all" else rows[-1][None]
        return [logits]


@dataclass
class FakeConstant:
    values: list[Any]

    def execute(self, inputs: Sequence[Any]) -> list[Any]:
        assert not inputs
        return self.values


class FakeProgram:
    """Methods by name."""

    def __init__(self, methods: dict[str, FakeMethod], constants: dict[str, Any] | None = None) -> None:
        told = {
            name: FakeConstant(value if isinstance(value, list) else [value])
            for name, value in (constants or {}).items()
        }
        self._methods: dict[str, Any] = {**methods, **told}
        self.device = "numpy"
        self.gpu_bytes = None

    @property
    def method_names(self) -> set[str]:
        return set(self._methods)

    def load_method(self, name: str) -> Any:
        if name not in self._methods:
            raise NotFound(name)
        return self._methods[name]


METADATA = {
    "get_bos_id": BOS,
    "get_eos_ids": [EOS],
    "get_vocab_size": VOCABULARY,
    "get_max_context_len": 40,
    "get_max_seq_len": 40,
    "use_kv_cache": True,
}


def tokens_input(shortest: int, longest: int) -> FakeInfo:
    return FakeInfo(((1, 1), (shortest, longest)))


def start_input() -> FakeInfo:
    return FakeInfo(((1, 1),))


def cached_program(longest: int = 7, **constants: Any) -> FakeProgram:
    """A program with a cache that takes up to ``longest`` tokens a call."""
    method = FakeMethod(FakeMeta((tokens_input(0, longest), start_input())))
    return FakeProgram({"forward": method}, {**METADATA, **constants})


class Bytes(ByteTokenizer):
    """Each byte is a token."""

    kind = "bytes"
    vocab_size = VOCABULARY
    bos_id = BOS
    eos_ids = frozenset({EOS})
    special: ClassVar = {BOS: "<s>", EOS: "</s>"}

    def token_bytes(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else b""

    def token_id(self, text: str) -> int | None:
        return next((token for token, name in self.special.items() if name == text), None)

    def encode_plain(self, text: str) -> list[int]:
        from executorch_webgpu.llm.tokenizer.base import split_special

        names = {name: token for token, name in self.special.items()}
        ids: list[int] = []
        for part, special in split_special(text, names):
            ids += [names[part]] if special else list(part.encode())
        return ids
