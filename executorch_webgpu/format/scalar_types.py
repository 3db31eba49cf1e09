"""ExecuTorch's ScalarType numbers as numpy dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.errors import NotSupported

SCALAR_TYPES: dict[int, np.dtype[Any]] = {
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
_OTHERS = {
    12: "qint8",
    13: "quint8",
    14: "qint32",
    15: "bfloat16",
    16: "quint4x2",
    17: "quint2x4",
    22: "bits16",
    23: "float8_e5m2",
    24: "float8_e4m3fn",
    25: "float8_e5m2fnuz",
    26: "float8_e4m3fnuz",
}


def scalar_dtype(number: int, what: str) -> np.dtype[Any]:
    """Return the dtype of a ScalarType.

    Raises:
        NotSupported: numpy has no such dtype; ``what`` names the tensor.
    """
    found = SCALAR_TYPES.get(number)
    if found is None:
        raise NotSupported(f"{what} has dtype {_OTHERS.get(number, number)}, which is not supported")
    return found
