"""Lowerings that read the elements of one tensor in another order, fewer or more of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.broadcasting import contiguous_strides, wrap_dim
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import ALL, lowering
from executorch_webgpu.ops.shape.strided import Axis, axes_of, select_axes, strided_copy
from executorch_webgpu.ops.symbols import IntLike, Sym


@lowering("aten.permute.default", "aten.permute_copy.default", dtypes=ALL)
def permute(ctx: Lowering, x: Tensor, dims: Sequence[int]) -> None:
    """Dim ``k`` of the result is dim ``dims[k]`` of ``x``."""
    axes = axes_of(x)
    moved = [axes[wrap_dim(dim, x.rank)] for dim in dims]
    out = ctx.out([axis.size for axis in moved])
    strided_copy(ctx, x, out, moved)


@lowering("aten.t_copy.default", dtypes=ALL)
def transpose(ctx: Lowering, x: Tensor) -> None:
    """A matrix with rows and columns exchanged; a vector or scalar as it is."""
    permute(ctx, x, range(x.rank - 1, -1, -1))


@lowering("aten.select_copy.int", "aten.select.int", dtypes=ALL)
def select(ctx: Lowering, x: Tensor, dim: int, index: int | Sym) -> None:
    """Slice ``index`` along ``dim``, which goes."""
    axes, offset = select_axes(ctx, x, dim, index)
    out = ctx.out([kept.size for kept in axes])
    strided_copy(ctx, x, out, axes, offset=offset)


@lowering("aten.slice_copy.Tensor", "aten.slice.Tensor", dtypes=ALL)
def slice_(
    ctx: Lowering, x: Tensor, dim: int = 0, start: int | Sym | None = None, end: int | Sym | None = None, step: int = 1
) -> None:
    """Elements ``start`` to ``end`` along ``dim``, every ``step``-th; bounds past the size are cut to it."""
    axes = axes_of(x)
    at = wrap_dim(dim, x.rank)
    axis = axes[at]
    first, length = _range(ctx, axis.size, start, end)
    axes[at] = Axis(-(-length // step), axis.stride * step)
    out = ctx.out([kept.size for kept in axes])
    strided_copy(ctx, x, out, axes, offset=first * axis.stride)


def _range(ctx: Lowering, size: int, start: IntLike | None, end: IntLike | None) -> tuple[IntLike, int]:
    """Return where a slice starts and its length before the step."""
    start = 0 if start is None else start
    end = size if end is None else end
    if isinstance(start, Sym) and isinstance(end, Sym):
        length = end - start
        if isinstance(length, int) and 0 < length <= size:
            # The live parts cancel: one compiled graph serves every position.
            ctx.guard(start, 0, size - length, f"the start of a slice of {length} along a dim of size {size}")
            return start, length
    first, last = _cut(ctx.pin(start), size), _cut(ctx.pin(end), size)
    return first, max(last - first, 0)


def _cut(position: int, size: int) -> int:
    return min(max(position + size if position < 0 else position, 0), size)


@lowering("aten.split_with_sizes_copy.default", dtypes=ALL)
def split(ctx: Lowering, x: Tensor, sizes: Sequence[IntLike], dim: int = 0) -> None:
    """Consecutive parts of ``sizes`` along ``dim``, one output each."""
    at = wrap_dim(dim, x.rank)
    lengths = [ctx.pin(size) for size in sizes]
    if sum(lengths) != x.shape[at]:
        raise InvalidProgram(f"parts of {lengths} do not add up to a dim of {x.shape[at]}")
    first = 0
    for index, length in enumerate(lengths):
        axes = axes_of(x)
        stride = axes[at].stride
        axes[at] = Axis(length, stride)
        out = ctx.out([axis.size for axis in axes], index)
        strided_copy(ctx, x, out, axes, offset=first * stride)
        first += length


@lowering("aten.expand_copy.default", dtypes=ALL)
def expand(ctx: Lowering, x: Tensor, sizes: Sequence[IntLike], implicit: bool = False) -> None:
    """``x`` repeated along its dims of size 1 and along new leading dims; -1 keeps a dim."""
    targets = [ctx.pin(size) for size in sizes]
    lead = len(targets) - x.rank
    axes: list[Axis] = []
    for axis, target in enumerate(targets):
        if axis < lead:
            axes.append(Axis(target, 0))
            continue
        size = x.shape[axis - lead]
        stride = contiguous_strides(x.shape)[axis - lead]
        if target in (-1, size):
            axes.append(Axis(size, stride))
        elif size == 1:
            axes.append(Axis(target, 0))
        else:
            raise InvalidProgram(f"{list(x.shape)} cannot be expanded to {targets}")
    out = ctx.out([axis.size for axis in axes])
    strided_copy(ctx, x, out, axes)


@lowering("aten.flip.default", dtypes=ALL)
def flip(ctx: Lowering, x: Tensor, dims: Sequence[int]) -> None:
    """``x`` turned round along ``dims``."""
    axes = axes_of(x)
    offset = 0
    for at in {wrap_dim(dim, x.rank) for dim in dims} if x.rank else ():
        axis = axes[at]
        offset += (axis.size - 1) * axis.stride
        axes[at] = Axis(axis.size, -axis.stride)
    strided_copy(ctx, x, ctx.out(x.shape), axes, offset=offset)


@lowering("aten.repeat.default", dtypes=ALL)
def repeat(ctx: Lowering, x: Tensor, repeats: Sequence[IntLike]) -> None:
    """``x`` laid out ``repeats[k]`` times along dim ``k``; further repeats make leading dims."""
    counts = [ctx.pin(count) for count in repeats]
    shape = (*[1] * (len(counts) - x.rank), *x.shape)
    strides = contiguous_strides(shape)
    axes = [
        axis
        for count, size, stride in zip(counts, shape, strides, strict=True)
        for axis in (Axis(count, 0), Axis(size, stride))
    ]
    out = ctx.out([count * size for count, size in zip(counts, shape, strict=True)])
    strided_copy(ctx, x, out, axes)


@lowering("aten.repeat_interleave.self_int", dtypes=ALL)
def repeat_interleave(
    ctx: Lowering, x: Tensor, repeats: int | Sym, dim: int | None = None, output_size: int | Sym | None = None
) -> None:
    """Each slice along ``dim`` ``repeats`` times in a row; without ``dim`` each element of ``x`` flattened."""
    count = ctx.pin(repeats)
    axes = axes_of(x) if dim is not None else [Axis(x.numel, 1)]
    at = wrap_dim(dim, x.rank) if dim is not None else 0
    shape = [axis.size * (count if k == at else 1) for k, axis in enumerate(axes)]
    axes.insert(at + 1, Axis(count, 0))
    strided_copy(ctx, x, ctx.out(shape), axes)


@lowering("aten.unfold_copy.default", dtypes=ALL)
def unfold(ctx: Lowering, x: Tensor, dimension: int, size: int, step: int) -> None:
    """All windows of ``size`` along ``dimension``, ``step`` apart; the window is the last dim."""
    axes = axes_of(x)
    if axes:
        at = wrap_dim(dimension, x.rank)
        along = axes[at]
        axes[at] = Axis((along.size - size) // step + 1, along.stride * step)
    else:  # a scalar has one window: itself
        along = Axis(1, 1)
    if size > along.size:
        raise InvalidProgram(f"a window of {size} does not fit in a dim of {along.size}")
    axes.append(Axis(size, along.stride))
    strided_copy(ctx, x, ctx.out([axis.size for axis in axes]), axes)


@lowering("aten.constant_pad_nd.default", dtypes=ALL)
def pad(ctx: Lowering, x: Tensor, pads: Sequence[IntLike], value: float = 0) -> None:
    """``x`` with ``value`` around: ``pads`` are (before, after) of the last dim, then the one before; < 0 cuts."""
    amounts = [ctx.pin(amount) for amount in pads]
    axes = axes_of(x)
    for pair in range(len(amounts) // 2):
        at = x.rank - 1 - pair
        before, after = amounts[2 * pair], amounts[2 * pair + 1]
        size = axes[at].size
        axes[at] = Axis(size + before + after, axes[at].stride, low=before, valid=size)
    if any(axis.size < 0 for axis in axes):
        raise InvalidProgram(f"padding of {amounts} cuts {list(x.shape)} below 0")
    out = ctx.out([axis.size for axis in axes])
    strided_copy(ctx, x, out, axes, fill=_bits(value, out.dtype))


def _bits(value: float, dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """Return the bits of ``value`` as an element of ``dtype``: low word, high word."""
    with np.errstate(over="ignore", invalid="ignore"):
        scalar = np.asarray(value).astype(dtype)
    low, high = struct.unpack("<II", scalar.tobytes().ljust(8, b"\0"))
    return low, high


@lowering("aten.pixel_shuffle.default", dtypes=ALL)
def pixel_shuffle(ctx: Lowering, x: Tensor, factor: int) -> None:
    """``(..., c * r * r, h, w)`` to ``(..., c, h * r, w * r)``: channels become pixels."""
    *lead, channels, height, width = x.shape
    if channels % (factor * factor):
        raise InvalidProgram(f"{channels} channels are no multiple of {factor} squared")
    kept = channels // (factor * factor)
    plane = height * width
    outer = 1
    for size in lead:
        outer *= size
    axes = [
        Axis(outer * kept, factor * factor * plane),
        Axis(height, width),
        Axis(factor, factor * plane),
        Axis(width, 1),
        Axis(factor, plane),
    ]
    out = ctx.out([*lead, kept, height * factor, width * factor])
    strided_copy(ctx, x, out, axes)
