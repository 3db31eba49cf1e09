"""The meaning of matrix products."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.ops.promotion import Array, cast, compute_type, quiet
from executorch_webgpu.ops.registry import Out, reference


def product(a: Array, b: Array) -> Array:
    """Return the matrix product, halves in float32; integers wrap."""
    dtype = compute_type(a.dtype)
    return np.asarray(np.matmul(a.astype(dtype, copy=False), b.astype(dtype, copy=False)))


@reference("aten.mm.default", "aten.bmm.default", "aten::mm.out", "aten::bmm.out")
@quiet
def matmul(out: Out, a: Array, b: Array) -> Array:
    """``a @ b``."""
    return product(a, b)


@reference("aten.addmm.default", "aten.baddbmm.default", "aten::addmm.out", "aten::baddbmm.out")
@quiet
def addmm(out: Out, x: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
    """``beta * x + alpha * (a @ b)``; where ``beta`` is 0, ``x`` is not looked at."""
    result = product(a, b)
    if alpha != 1:
        result = result * cast(alpha, result.dtype)
    if beta == 0:
        return np.asarray(result)
    return np.asarray(result + x.astype(result.dtype, copy=False) * cast(beta, result.dtype))


@reference("aten.linear.default", "aten::linear.out")
@quiet
def linear(out: Out, x: Array, weight: Array, bias: Array | None = None) -> Array:
    """``x @ weight.T + bias``."""
    result = product(x, weight.T)
    return result if bias is None else np.asarray(result + bias.astype(result.dtype, copy=False))
