"""The meaning of binary arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


@reference("aten.add.Tensor", "aten::add.out", "aten::add.Scalar_out")
def add(out: Out, x: Array, y: Array | float, alpha: float = 1) -> Array:
    """``x + alpha * y`` in the promoted dtype."""
    return np.asarray(x + y if alpha == 1 else x + np.multiply(y, alpha))
