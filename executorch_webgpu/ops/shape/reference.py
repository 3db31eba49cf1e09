"""The meaning of operators that rename, reorder or pick elements by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.ops.promotion import Array
from executorch_webgpu.ops.registry import Out, reference


@reference("aten.view_copy.default", "aten._unsafe_view.default", "aten::view_copy.out")
def view(out: Out, x: Array, size: Sequence[int]) -> Array:
    """The elements in order under shape ``size``; one entry may be -1."""
    return x.reshape(tuple(size))


@reference("aten.permute_copy.default", "aten.permute.default", "aten::permute_copy.out")
def permute(out: Out, x: Array, dims: Sequence[int]) -> Array:
    """Dim ``i`` of the result is dim ``dims[i]`` of ``x``."""
    return x.transpose(tuple(dims))


@reference("aten.transpose_copy.int", "aten::transpose_copy.int_out")
def transpose(out: Out, x: Array, dim0: int, dim1: int) -> Array:
    """Exchange two dims."""
    return x if x.ndim == 0 else np.swapaxes(x, dim0, dim1)


@reference("aten.t_copy.default", "aten::t_copy.out")
def transpose_matrix(out: Out, x: Array) -> Array:
    """Exchange the dims of a matrix."""
    return x.T


@reference("aten.unsqueeze_copy.default", "aten::unsqueeze_copy.out")
def unsqueeze(out: Out, x: Array, dim: int) -> Array:
    """Insert a dim of size 1."""
    return np.expand_dims(x, dim)


@reference(
    "aten.squeeze_copy.dim", "aten.squeeze_copy.dims", "aten::squeeze_copy.dim_out", "aten::squeeze_copy.dims_out"
)
def squeeze(out: Out, x: Array, dim: Sequence[int] | int) -> Array:
    """Drop the dims of ``dim`` that have size 1."""
    if x.ndim == 0:
        return x
    listed = [dim] if isinstance(dim, int) else dim
    wanted = {d % x.ndim for d in listed}
    return x.reshape([n for axis, n in enumerate(x.shape) if n != 1 or axis not in wanted])


@reference("aten.squeeze_copy.default", "aten::squeeze_copy.out")
def squeeze_all(out: Out, x: Array) -> Array:
    """Drop all dims of size 1."""
    return x.reshape([n for n in x.shape if n != 1])


@reference("aten.expand_copy.default", "aten::expand_copy.out")
def expand(out: Out, x: Array, size: Sequence[int], implicit: bool = False) -> Array:
    """Repeat dims of size 1 up to ``size``; -1 keeps a dim."""
    own = (1,) * (len(size) - x.ndim) + x.shape
    return np.broadcast_to(x, [own[axis] if n == -1 else n for axis, n in enumerate(size)])


@reference("aten.slice_copy.Tensor", "aten.slice.Tensor", "aten::slice_copy.Tensor_out")
def slice_dim(
    out: Out, x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """Every ``step``-th element of ``dim`` from ``start`` to ``end``; both are clamped to the size."""
    return np.asarray(x[_along(x, dim, slice(start, end, step))])


def _along(x: Array, dim: int, part: Any) -> tuple[Any, ...]:
    """Return the index that takes ``part`` of ``dim`` and all of the others."""
    return (*[slice(None)] * (dim % x.ndim), part)


@reference("aten.narrow_copy.default", "aten::narrow_copy.out")
def narrow(out: Out, x: Array, dim: int, start: int, length: int) -> Array:
    """``length`` elements of ``dim`` from ``start``."""
    first = start % x.shape[dim] if start < 0 else start
    return np.asarray(x[_along(x, dim, slice(first, first + length))])


@reference("aten.select_copy.int", "aten.select.int", "aten::select_copy.int_out")
def select(out: Out, x: Array, dim: int, index: int) -> Array:
    """Element ``index`` of ``dim``, which goes away."""
    return np.asarray(x[_along(x, dim, index)])


@reference("aten.select_scatter.default", "aten::select_scatter.out")
def select_scatter(out: Out, x: Array, source: Array, dim: int, index: int) -> Array:
    """``x`` with element ``index`` of ``dim`` replaced by ``source``."""
    result = x.copy()
    result[_along(x, dim, index)] = source
    return result


@reference("aten.slice_scatter.default", "aten::slice_scatter.out")
def slice_scatter(
    out: Out,
    x: Array,
    source: Array,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Array:
    """``x`` with a slice replaced by ``source``."""
    result = x.copy()
    result[_along(x, dim, slice(start, end, step))] = source
    return result


@reference("aten.diagonal_copy.default", "aten::diagonal_copy.out")
def diagonal(out: Out, x: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """The elements of ``dim1`` and ``dim2`` whose indices differ by ``offset``, as the last dim."""
    return x.diagonal(offset, dim1, dim2)


@reference("aten.tril.default", "aten::tril.out")
def tril(out: Out, x: Array, diagonal: int = 0) -> Array:
    """Zeros above the diagonal."""
    return np.tril(x, diagonal)


@reference("aten.flip.default", "aten::flip.out")
def flip(out: Out, x: Array, dims: Sequence[int]) -> Array:
    """The elements of ``dims`` in the opposite order."""
    return np.flip(x, tuple(dims)) if x.ndim else x


@reference("aten.roll.default", "aten::roll.out")
def roll(out: Out, x: Array, shifts: Sequence[int] | int, dims: Sequence[int] | int = ()) -> Array:
    """The elements of ``dims`` moved up by ``shifts``, those that leave come back; without dims in flat order."""
    steps = [shifts] if isinstance(shifts, int) else list(shifts)
    listed = [dims] if isinstance(dims, int) else list(dims)
    return np.roll(x, tuple(steps), tuple(listed)) if listed else np.roll(x, steps[0])


@reference("aten.unfold_copy.default", "aten::unfold_copy.out")
def unfold(out: Out, x: Array, dimension: int, size: int, step: int) -> Array:
    """Windows of ``size`` every ``step`` along a dim; the elements of a window are the last dim."""
    if x.ndim == 0:
        return x.reshape(1)[:size]
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return np.asarray(windows[_along(x, dimension, slice(None, None, step))])


@reference("aten.as_strided_copy.default", "aten::as_strided_copy.out")
def as_strided(
    out: Out, x: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    """Read contiguous ``x`` with other strides, in elements."""
    flat = np.ascontiguousarray(x).reshape(-1)
    index: Array = np.asarray(storage_offset or 0, np.int64)
    for extent, step in zip(size, stride, strict=True):
        index = index[..., None] + np.arange(extent) * step
    return np.asarray(flat[index])


@reference("aten.view_as_real_copy.default", "aten::view_as_real_copy.out")
def view_as_real(out: Out, x: Array) -> Array:
    """Complex numbers as pairs in a last dim."""
    return np.stack([x.real, x.imag], -1)


@reference("aten.pixel_shuffle.default", "aten::pixel_shuffle.out")
def pixel_shuffle(out: Out, x: Array, upscale_factor: int) -> Array:
    """Move ``r * r`` channels to an image ``r`` times as high and wide."""
    *batch, channels, height, width = x.shape
    r = upscale_factor
    n = len(batch)
    parts = x.reshape(*batch, channels // (r * r), r, r, height, width)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return parts.transpose(order).reshape(*batch, channels // (r * r), height * r, width * r)


@reference("aten.pixel_unshuffle.default", "aten::pixel_unshuffle.out")
def pixel_unshuffle(out: Out, x: Array, downscale_factor: int) -> Array:
    """Move blocks of ``r * r`` pixels to channels."""
    *batch, channels, height, width = x.shape
    r = downscale_factor
    n = len(batch)
    parts = x.reshape(*batch, channels, height // r, r, width // r, r)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return parts.transpose(order).reshape(*batch, channels * r * r, height // r, width // r)
