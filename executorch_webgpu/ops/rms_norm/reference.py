"""The meaning of root-mean-square normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


@reference("et_vk.rms_norm.default")
def rms_norm(out: Out, x: Array, weight: Array, eps: float = 1e-6) -> Array:
    """Return ``x / sqrt(mean(x^2) + eps) * weight`` over the last dim."""
    wide = np.asarray(x, np.float32)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        variance = np.mean(wide * wide, -1, keepdims=True)
        return np.asarray(wide / np.sqrt(variance + np.float32(eps)) * np.asarray(weight, np.float32))
