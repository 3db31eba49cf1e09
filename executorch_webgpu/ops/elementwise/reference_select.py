"""The meaning of operators that choose between values: where, clamp, masked_fill."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.ops.promotion import Array, Value, cast, promoted, quiet, result_type
from executorch_webgpu.ops.registry import Out, reference


@reference("aten.where.self", "aten::where.self_out")
def where(out: Out, condition: Array, x: Array, y: Array) -> Array:
    """``x`` where ``condition``, else ``y``."""
    dtype = result_type(x, y)
    return np.where(condition, cast(x, dtype), cast(y, dtype))


@reference("aten.clamp.default", "aten.clamp.Tensor", "aten::clamp.out", "aten::clamp.Tensor_out")
@quiet
def clamp(out: Out, x: Array, low: Value | None = None, high: Value | None = None) -> Array:
    """``min(max(x, low), high)``; NaN in any of them gives NaN, and ``high`` wins where the two cross."""
    bounds = [bound for bound in (low, high) if bound is not None]
    z, *others = promoted(x, *bounds, like=out.dtype)
    if low is not None:
        z = np.maximum(z, others[0])
    if high is not None:
        z = np.minimum(z, others[-1])
    return np.asarray(z)


@reference(
    "aten.masked_fill.Scalar",
    "aten.masked_fill.Tensor",
    "aten::masked_fill.Scalar_out",
    "aten::masked_fill.Tensor_out",
)
@quiet
def masked_fill(out: Out, x: Array, mask: Array, value: Value) -> Array:
    """``value`` where ``mask``, else ``x``; the dtype is that of ``x``."""
    return np.where(mask, cast(value, x.dtype), x)
