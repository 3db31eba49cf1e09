"""The meaning of the delegate's own operators of this family."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


@reference("et_vk.grid_priors.default")
def grid_priors(out: Out, x: Array, stride: int, offset: float) -> Array:
    """The points ``((column + offset) * stride, (row + offset) * stride)`` of the pixels of ``x``, row by row."""
    height, width = x.shape[-2:]
    rows, columns = np.meshgrid(np.arange(height, dtype=np.float32), np.arange(width, dtype=np.float32), indexing="ij")
    points: Array = (np.stack((columns.ravel(), rows.ravel()), axis=-1) + np.float32(offset)) * np.float32(stride)
    return points
