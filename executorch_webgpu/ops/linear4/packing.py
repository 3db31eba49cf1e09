"""Two 4-bit values in a byte: how they lie and what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

# The two values, -8..7, of each byte, that of the low nibble first.
PAIRS = np.stack([np.arange(256) % 16 - 8, np.arange(256) // 16 - 8], -1)
# The same as floats, both in one 64-bit word: a look-up of words is several times as fast as one of pairs.
LOW_FIRST = PAIRS.astype(np.float32).view(np.uint64).ravel()
HIGH_FIRST = np.ascontiguousarray(PAIRS[:, ::-1]).astype(np.float32).view(np.uint64).ravel()
BLOCK = 1 << 22  # weights that are dequantized at once


def unpack(packed: Array, columns: int, high_first: bool = False) -> Array:
    """Return the values -8..7 of ``packed`` uint8 [N, ceil(K/2)] as int8 [N, ``columns``].

    The even column is the low nibble, or the high one where ``high_first``.
    """
    pairs = PAIRS.astype(np.int8)
    table = pairs[:, ::-1] if high_first else pairs
    return np.asarray(table[packed].reshape(packed.shape[0], -1)[:, :columns])


def dequantize(packed: Array, scales: Array, group: int, columns: int, high_first: bool = False) -> Array:
    """Return float32 [N, ``columns``]; ``scales`` is [groups, N or more], one for ``group`` columns."""
    rows = packed.shape[0]
    words = np.take(HIGH_FIRST if high_first else LOW_FIRST, packed)
    values = words.view(np.float32).reshape(rows, -1)[:, :columns]
    factors = np.asarray(scales, np.float32)[:, :rows].T
    if columns % group == 0 and factors.shape[1] == columns // group:
        grouped = values.reshape(rows, -1, group)
        return np.multiply(grouped, factors[:, :, None], out=grouped).reshape(rows, columns)
    return np.asarray(values * np.repeat(factors, group, 1)[:, :columns])


def product(x: Array, packed: Array, scales: Array, group: int, high_first: bool = False) -> Array:
    """Return ``x @ dequantize(packed)^T`` as float32, a block of weights at a time. A float64 x has float64 sums."""
    wide = x if x.dtype == np.float64 else np.asarray(x, np.float32)
    columns, outputs = x.shape[-1], packed.shape[0]
    out = np.empty((*x.shape[:-1], outputs), np.float32)
    step = max(1, BLOCK // max(columns, 1))
    for first in range(0, outputs, step):
        rows = slice(first, min(first + step, outputs))
        out[..., rows] = wide @ dequantize(packed[rows], scales[:, rows], group, columns, high_first).T
    return out
