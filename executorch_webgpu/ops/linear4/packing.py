"""Two 4-bit values in a byte: how they lie and what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def unpack(packed: Array, columns: int, high_first: bool = False) -> Array:
    """Return the values -8..7 of ``packed`` uint8 [N, ceil(K/2)] as int8 [N, ``columns``].

    The even column is the low nibble, or the high one where ``high_first``.
    """
    nibbles = np.stack([packed & 15, packed >> 4], -1)
    if high_first:
        nibbles = nibbles[..., ::-1]
    return np.asarray(nibbles.reshape(packed.shape[0], -1)[:, :columns].astype(np.int8) - 8)


def dequantize(packed: Array, scales: Array, group: int, columns: int, high_first: bool = False) -> Array:
    """Return float32 [N, ``columns``]; ``scales`` is [groups, N or more], one for ``group`` columns."""
    values = unpack(packed, columns, high_first).astype(np.float32)
    rows = np.asarray(scales, np.float32)[:, : values.shape[0]].T
    return np.asarray(values * np.repeat(rows, group, 1)[:, :columns])
