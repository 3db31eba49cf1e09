"""Reads the golden files that tests/export writes: programs, the calls made on them and PyTorch's answers."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "ops"
Value = Any  # an array, a Python scalar or None


@dataclass(frozen=True)
class Call:
    """One call: arguments and expected results."""

    inputs: list[Value]
    outputs: list[Value]


@dataclass(frozen=True)
class Golden:
    """One program with its calls; ``operators`` are in its delegates, ``kernels`` in its plan."""

    family: str
    name: str
    model: bytes
    operators: frozenset[str]
    kernels: frozenset[str]
    below_bound: bool
    stateful: bool
    atol: float
    rtol: float
    atol_int: int
    calls: list[Call]

    def __str__(self) -> str:
        return f"{self.family}/{self.name}"


def _value(told: dict[str, Any], block: bytes) -> Value:
    if told["kind"] == "none":
        return None
    if told["kind"] != "tensor":
        return told["value"]
    start, length = told["bytes"]
    return np.frombuffer(block[start : start + length], told["dtype"]).reshape(told["shape"])


@functools.cache
def goldens() -> tuple[Golden, ...]:
    """Return the cases of every family."""
    found = []
    for path in sorted(FIXTURES.glob("*.npz")):
        with np.load(path) as arrays:
            cases = json.loads(arrays["meta"].tobytes())["cases"]
            block = arrays["block"].tobytes()
        for case in cases:
            start, length = case.pop("model")
            calls = [
                Call(*([_value(item, block) for item in call[side]] for side in ("inputs", "outputs")))
                for call in case.pop("calls")
            ]
            sets = {key: frozenset(case.pop(key)) for key in ("operators", "kernels")}
            found.append(Golden(path.stem, model=block[start : start + length], calls=calls, **sets, **case))
    return tuple(found)


def difference(got: Value, want: Value, atol: float, rtol: float, atol_int: int) -> str | None:
    """Return None where they agree, else a line that says how they do not."""
    if not isinstance(want, np.ndarray):
        if isinstance(got, np.ndarray) or got is None:
            return f"{type(got).__name__} is not {want!r}"
        return None if abs(float(got) - float(want)) <= atol + rtol * abs(float(want)) else f"{got} is not {want}"
    if not isinstance(got, np.ndarray):
        return f"{type(got).__name__} is not an array"
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        return f"{got.dtype}{list(got.shape)} is not {want.dtype}{list(want.shape)}"
    a, b = np.atleast_1d(got).astype(np.float64), np.atleast_1d(want).astype(np.float64)
    floating = want.dtype.kind == "f"
    allowed = atol + rtol * np.abs(b) if floating else np.full(b.shape, float(atol_int))
    with np.errstate(invalid="ignore"):
        # Infinities must be equal: a gap to infinity is infinite, and so may be what is allowed.
        close = np.isfinite(b) & (np.abs(a - b) <= allowed)
    same = (a == b) | (np.isnan(a) & np.isnan(b)) | close
    if same.all():
        return None
    first = tuple(int(i[0]) for i in np.nonzero(~same))
    return f"{(~same).sum()} of {want.size} values differ, at {list(first)} {a[first]} is not {b[first]}"
