"""One call of an operator, and the tensors to call it with."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

EDGES = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -0.5,
    -2.5,
    1e-30,
    -3e38,
    3e38,
    88.8,
    -104.0,
]
FLOATS = ("float32", "float16", "float64")
INTS = ("int32", "int64", "uint8", "int8", "int16")


class Case:
    """A call: the kernel's name in a plan, and the arguments in schema order without outputs."""

    def __init__(
        self,
        name: str,
        *args: Any,
        rtol: float = 2e-6,
        atol: float = 1e-6,
        dtype: torch.dtype | None = None,
        random: bool = False,
        expect: Any = None,
    ) -> None:
        """``dtype`` is that of the output where only the output says it; ``random`` leaves the values open."""
        self.name = name
        self.args = args
        self.rtol = rtol
        self.atol = atol
        self.dtype = dtype
        self.random = random
        self.expect = expect


def tensor(values: Any, dtype: str = "float32") -> torch.Tensor:
    """Return ``values`` as a tensor."""
    return torch.tensor(values, dtype=getattr(torch, dtype))


def edges(dtype: str = "float32") -> torch.Tensor:
    """Return special values: NaN, infinities, halves, huge and tiny ones."""
    if dtype == "bool":
        return tensor([True, False], dtype)
    if "int" in dtype:
        info = torch.iinfo(getattr(torch, dtype))
        return tensor([info.min, info.max, 0, 1, 2, 3, 7, 100, info.max - 1], dtype)
    return tensor(EDGES, dtype)


def some(
    *shape: int, dtype: str = "float32", low: float = -3, high: float = 3, seed: int = 0, nan: bool = False
) -> torch.Tensor:
    """Return seeded values in [low, high); with ``nan`` every seventh is NaN."""
    key = zlib.crc32(repr((shape, dtype, low, high, seed)).encode())
    generator = np.random.default_rng(key)
    if dtype == "bool":
        return torch.from_numpy(np.array(generator.random(shape) < 0.5))
    if "int" in dtype:
        bottom = max(int(low), 0) if dtype == "uint8" else int(low)
        return torch.from_numpy(np.array(generator.integers(bottom, int(high), shape), dtype))
    if "complex" in dtype:
        return torch.complex(some(*shape, seed=seed), some(*shape, seed=seed + 1))
    values = np.array(generator.random(shape) * (high - low) + low)
    if nan:
        values.reshape(-1)[::7] = np.nan
    return torch.from_numpy(values).to(getattr(torch, dtype))


def for_each(names: Sequence[str], *rows: Sequence[Any], **options: Any) -> list[Case]:
    """Return every name with every row of arguments."""
    return [Case(name, *row, **options) for name in names for row in rows]
