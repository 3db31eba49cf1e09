"""The meaning of reductions: sum, mean, extremes, any, argmax, variance, product, cumulative sum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.ops.promotion import FLOAT64, Array, cast, compute_type, quiet, wide
from executorch_webgpu.ops.registry import Out, reference

Dims = Sequence[int] | int | None


def axes(dims: Dims, rank: int) -> tuple[int, ...]:
    """Return ``dims`` counted from 0; none and an empty list mean all."""
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        return tuple(range(rank))
    listed = [dims] if isinstance(dims, int) else list(dims)
    return tuple(dim % rank for dim in listed) if rank else ()


def _count(x: Array, over: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in over)


def _accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to add up in: wide enough that a long sum loses nothing."""
    return FLOAT64 if dtype.kind == "f" else np.dtype(np.int64) if dtype.kind in "biu" else dtype


@reference("aten.sum.dim_IntList", "aten::sum.IntList_out")
@quiet
def total(out: Out, x: Array, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Array:
    """The sum over ``dim``."""
    accumulator = _accumulator(out.dtype if out.dtype.kind in "fc" else x.dtype)
    return cast(np.sum(x, axis=axes(dim, x.ndim), keepdims=keepdim, dtype=accumulator), out.dtype)


@reference("aten.mean.dim", "aten::mean.out")
@quiet
def mean(out: Out, x: Array, dim: Dims = None, keepdim: bool = False, dtype: object = None) -> Array:
    """The mean over ``dim``; NaN over nothing."""
    over = axes(dim, x.ndim)
    # The sum is held in float32, as in PyTorch: where it overflows, so does the mean.
    summed = np.sum(x, axis=over, keepdims=keepdim, dtype=_accumulator(out.dtype))
    summed = cast(summed, compute_type(out.dtype, floating=True))
    return np.asarray(summed / np.float64(_count(x, over)))


@reference("aten.mean.default", "aten::mean.dtype_out")
def mean_all(out: Out, x: Array, dtype: object = None) -> Array:
    """The mean of all elements."""
    return mean(out, x)


@reference("aten.amax.default", "aten::amax.out")
@quiet
def amax(out: Out, x: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """The largest over ``dim``; NaN where there is one."""
    return np.asarray(np.max(x, axis=axes(dim, x.ndim), keepdims=keepdim))


@reference("aten.amin.default", "aten::amin.out")
@quiet
def amin(out: Out, x: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """The smallest over ``dim``; NaN where there is one."""
    return np.asarray(np.min(x, axis=axes(dim, x.ndim), keepdims=keepdim))


@reference("aten.max.default", "aten::max.unary_out")
def max_all(out: Out, x: Array) -> Array:
    """The largest of all elements."""
    return amax(out, x)


@reference("aten.min.default", "aten::min.unary_out")
def min_all(out: Out, x: Array) -> Array:
    """The smallest of all elements."""
    return amin(out, x)


@reference("aten.any.dim", "aten.any.dims", "aten::any.out", "aten::any.dims_out")
def any_dims(out: Out, x: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether any element over ``dim`` is not zero; unlike elsewhere, an empty list is no dim."""
    if isinstance(dim, Sequence) and not dim:
        return np.asarray(x != 0)
    return np.asarray(np.any(x, axis=axes(dim, x.ndim), keepdims=keepdim))


@reference("aten.any.default", "aten::any.all_out")
def any_all(out: Out, x: Array) -> Array:
    """Whether any element is not zero."""
    return np.asarray(np.any(x))


def _arg(x: Array, dim: int | None, keepdim: bool, largest: bool) -> Array:
    found = np.argmax if largest else np.argmin
    if dim is None or x.ndim == 0:
        index = np.asarray(found(x.reshape(-1)), np.int64)
        return index.reshape((1,) * x.ndim) if keepdim else index
    return np.asarray(found(x, axis=dim, keepdims=keepdim), np.int64)


@reference("aten.argmax.default", "aten::argmax.out")
def argmax(out: Out, x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The index of the first largest, or of the first NaN."""
    return _arg(x, dim, keepdim, largest=True)


@reference("aten.argmin.default", "aten::argmin.out")
def argmin(out: Out, x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The index of the first smallest, or of the first NaN."""
    return _arg(x, dim, keepdim, largest=False)


@reference("aten.max.dim", "aten::max.dim_max", outputs=2)
def max_dim(outs: Sequence[Out], x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The largest over ``dim`` and the index of the first."""
    over = axes(dim, x.ndim)
    return np.asarray(np.max(x, axis=over, keepdims=keepdim)), _arg(x, dim, keepdim, largest=True)


@reference("aten.min.dim", "aten::min.dim_min", outputs=2)
def min_dim(outs: Sequence[Out], x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    """The smallest over ``dim`` and the index of the first."""
    over = axes(dim, x.ndim)
    return np.asarray(np.min(x, axis=over, keepdims=keepdim)), _arg(x, dim, keepdim, largest=False)


def _variance(x: Array, dim: Dims, correction: float, keepdim: bool) -> tuple[Array, Array]:
    over = axes(dim, x.ndim)
    z = wide(x).astype(np.float64)
    count = np.float64(_count(x, over))
    average = np.sum(z, axis=over, keepdims=True) / count
    squares = np.sum((z - average) ** 2, axis=over, keepdims=keepdim)
    if not keepdim:
        average = average.reshape(squares.shape)
    return np.asarray(squares / np.maximum(count - correction, 0)), np.asarray(average)


@reference("aten.var.correction", "aten::var.correction_out")
@quiet
def var_correction(
    out: Out, x: Array, dim: Dims = None, correction: float | None = None, keepdim: bool = False
) -> Array:
    """The variance over ``dim``, divided by the count less ``correction`` (1 where it is not given)."""
    return cast(_variance(x, dim, 1 if correction is None else correction, keepdim)[0], out.dtype)


@reference("aten.var.dim", "aten::var.out")
@quiet
def var(out: Out, x: Array, dim: Dims = None, unbiased: bool = True, keepdim: bool = False) -> Array:
    """The variance over ``dim``, divided by the count less 1 if ``unbiased``."""
    return cast(_variance(x, dim, int(unbiased), keepdim)[0], out.dtype)


@reference("aten.var_mean.correction", "aten::var_mean.correction_out", outputs=2)
@quiet
def var_mean(
    outs: Sequence[Out], x: Array, dim: Dims = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Array, Array]:
    """The variance and the mean over ``dim``."""
    found = _variance(x, dim, 1 if correction is None else correction, keepdim)
    return cast(found[0], outs[0].dtype), cast(found[1], outs[1].dtype)


@reference("aten.prod.dim_int", "aten::prod.int_out")
@quiet
def prod(out: Out, x: Array, dim: int | None, keepdim: bool = False, dtype: object = None) -> Array:
    """The product over ``dim``."""
    accumulator = _accumulator(out.dtype if out.dtype.kind in "fc" else x.dtype)
    return cast(np.prod(x, axis=axes(dim, x.ndim), keepdims=keepdim, dtype=accumulator), out.dtype)


@reference("aten.prod.default", "aten::prod.out")
def prod_all(out: Out, x: Array, dtype: object = None) -> Array:
    """The product of all elements."""
    return prod(out, x, None)


@reference("aten.cumsum.default", "aten::cumsum.out")
@quiet
def cumsum(out: Out, x: Array, dim: int, dtype: object = None) -> Array:
    """The sum of the elements so far along ``dim``."""
    if x.ndim == 0:
        return cast(x, out.dtype)
    accumulator = _accumulator(out.dtype if out.dtype.kind in "fc" else x.dtype)
    return cast(np.cumsum(x, axis=dim, dtype=accumulator), out.dtype)
