"""ExecuTorch's ScalarType numbers, their names, and the numpy dtypes of those that can be computed with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# What numpy lacks: bytes an element, as ExecuTorch counts them.
_OPAQUE = {
    12: ("qint8", 1),
    13: ("quint8", 1),
    14: ("qint32", 4),
    15: ("bfloat16", 2),
    16: ("quint4x2", 1),
    17: ("quint2x4", 1),
    22: ("bits16", 2),
    23: ("float8_e5m2", 1),
    24: ("float8_e4m3fn", 1),
    25: ("float8_e5m2fnuz", 1),
    26: ("float8_e4m3fnuz", 1),
}
_COMPUTED: Mapping[int, np.dtype[Any]] = {
    0: np.dtype(np.uint8),
    1: np.dtype(np.int8),
    2: np.dtype(np.int16),
    3: np.dtype(np.int32),
    4: np.dtype(np.int64),
    5: np.dtype(np.float16),
    6: np.dtype(np.float32),
    7: np.dtype(np.float64),
    11: np.dtype(np.bool_),
    27: np.dtype(np.uint16),
    28: np.dtype(np.uint32),
    29: np.dtype(np.uint64),
}

SCALAR_NAMES: Mapping[int, str] = {
    **{number: dtype.name for number, dtype in _COMPUTED.items()},
    **{number: name for number, (name, _) in _OPAQUE.items()},
}
SCALAR_NUMBERS: Mapping[str, int] = {name: number for number, name in SCALAR_NAMES.items()}
SUPPORTED = ", ".join(dtype.name for dtype in _COMPUTED.values())


def scalar_dtype(number: int) -> tuple[np.dtype[Any], str | None]:
    """Return the dtype of a ScalarType of the schema and None; where numpy has none, raw bytes and the type's name."""
    if number in _OPAQUE:
        name, size = _OPAQUE[number]
        return np.dtype((np.void, size)), name
    return _COMPUTED[number], None
