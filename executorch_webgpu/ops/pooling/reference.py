"""The meaning of pooling over windows and to a given size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from executorch_webgpu.ops.promotion import Array, cast, quiet, wide
from executorch_webgpu.ops.registry import Out, Shape, reference


def _full(values: Sequence[int] | int, rank: int, default: Shape = ()) -> Shape:
    """Return one value for each spatial dim; an empty list means ``default``."""
    listed = (values,) if isinstance(values, int) else tuple(values)
    if not listed:
        return default
    return listed * rank if len(listed) == 1 else listed


def pooled_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Return the number of windows; with ``ceil_mode`` the last may reach over the end but starts inside."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


@reference("aten.avg_pool2d.default", "aten::avg_pool2d.out")
@quiet
def avg_pool2d(
    out: Out,
    x: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Array:
    """The mean of each window of the last two dims."""
    kernel = _full(kernel_size, 2)
    steps, pads = _full(stride, 2, kernel), _full(padding, 2, (0, 0))
    size = x.shape[-2:]
    result = wide(x).astype(np.float64)
    counts = []
    for i, axis in enumerate((-2, -1)):
        n = pooled_size(size[i], kernel[i], steps[i], pads[i], 1, ceil_mode)
        start = np.arange(n) * steps[i] - pads[i]
        end = np.minimum(start + kernel[i], size[i] + pads[i])
        inner = np.maximum(start, 0), np.minimum(end, size[i])
        counts.append(end - start if count_include_pad else inner[1] - inner[0])
        # Windows are separable: one axis after the other, as differences would lose digits.
        weights = _membership(inner[0], inner[1], size[i])
        result = np.moveaxis(np.matmul(np.moveaxis(result, axis, -1), weights), -1, axis)
    area = np.multiply.outer(*counts) if divisor_override is None else divisor_override
    return cast(result / area, wide(x).dtype)


def _membership(start: Array, end: Array, size: int) -> Array:
    """Return a matrix ``(size, windows)`` of ones where a window ``[start, end)`` holds the pixel."""
    pixel = np.arange(size)[:, None]
    return ((pixel >= start) & (pixel < end)).astype(np.float64)


def max_pool(
    x: Array, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool
) -> tuple[Array, Array]:
    """Return the largest of each window of the last dims, and where it was (flat, over those dims).

    The first of equals wins; a NaN wins over all, the last of several.
    """
    rank = len(kernel)
    size = x.shape[-rank:]
    count = [pooled_size(size[i], kernel[i], stride[i], padding[i], dilation[i], ceil_mode) for i in range(rank)]
    low = cast(-np.inf if x.dtype.kind == "f" else 0 if x.dtype == np.bool_ else np.iinfo(x.dtype).min, x.dtype)
    ends = [
        max(0, (count[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - size[i] - padding[i])
        for i in range(rank)
    ]
    pads = [(0, 0)] * (x.ndim - rank) + list(zip(padding, ends, strict=True))
    padded = np.pad(x, pads, constant_values=low)
    starts = [np.arange(count[i]) * stride[i] - padding[i] for i in range(rank)]
    best = np.full((*x.shape[:-rank], *count), low, x.dtype)
    # A window of nothing but the lowest value points at its first pixel inside the image.
    first = [np.where(s < 0, s + -(s // d) * d, s) for s, d in zip(starts, dilation, strict=True)]
    where = np.broadcast_to(_flat(first, size), best.shape).copy()
    for tap in itertools.product(*map(range, kernel)):
        offset = [t * d for t, d in zip(tap, dilation, strict=True)]
        window = tuple(slice(o, o + s * (n - 1) + 1, s) for o, s, n in zip(offset, stride, count, strict=True))
        value = padded[(slice(None),) * (x.ndim - rank) + window]
        better = (value > best) | np.isnan(value) if x.dtype.kind == "f" else value > best
        best = np.where(better, value, best)
        where = np.where(better, _flat([s + o for s, o in zip(starts, offset, strict=True)], size), where)
    return best, where


def _flat(positions: Sequence[Array], size: Sequence[int]) -> Array:
    """Return the flat index over an image of ``size`` for every combination of ``positions``."""
    flat: Array = np.zeros((), np.int64)
    for position, extent in zip(positions, size, strict=True):
        flat = flat[..., None] * extent + position
    return flat


def _max_pool_arguments(
    rank: int, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[Shape, Shape, Shape, Shape]:
    full = _full(kernel, rank)
    return full, _full(stride, rank, full), _full(padding, rank, (0,) * rank), _full(dilation, rank, (1,) * rank)


@reference("aten.max_pool2d_with_indices.default", "aten::max_pool2d_with_indices.out", outputs=2)
@quiet
def max_pool2d_with_indices(
    outs: Sequence[Out],
    x: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """The largest of each window of the last two dims, and its flat index in the image."""
    return max_pool(x, *_max_pool_arguments(2, kernel_size, stride, padding, dilation), ceil_mode)


@reference("aten.max_pool2d.default")
@quiet
def max_pool2d(
    out: Out,
    x: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Array:
    """The largest of each window of the last two dims."""
    return max_pool(x, *_max_pool_arguments(2, kernel_size, stride, padding, dilation), ceil_mode)[0]


@reference("aten.max_pool3d_with_indices.default", "aten::max_pool3d_with_indices.out", outputs=2)
@quiet
def max_pool3d_with_indices(
    outs: Sequence[Out],
    x: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """The largest of each window of the last three dims, and its flat index in the volume."""
    return max_pool(x, *_max_pool_arguments(3, kernel_size, stride, padding, dilation), ceil_mode)


@reference("aten.max_pool2d_with_indices_backward.default", "aten::max_pool2d_with_indices_backward.grad_input")
def max_pool2d_backward(
    out: Out,
    grad: Array,
    x: Array,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Array,
) -> Array:
    """The gradient of ``x``: each window's slope goes to the pixel that was the largest."""
    planes = math.prod(x.shape[:-2])
    result = np.zeros((planes, x.shape[-2] * x.shape[-1]), wide(grad).dtype)
    plane = np.arange(planes)[:, None]
    np.add.at(result, (plane, indices.reshape(planes, -1)), wide(grad).reshape(planes, -1))
    return result.reshape(x.shape)


def _regions(size: int, count: int) -> tuple[Array, Array]:
    """Return where the regions of adaptive pooling start and end."""
    index = np.arange(count)
    return index * size // count, -(-(index + 1) * size // count)


@reference("aten._adaptive_avg_pool2d.default", "aten::_adaptive_avg_pool2d.out")
@quiet
def adaptive_avg_pool2d(out: Out, x: Array, output_size: Sequence[int]) -> Array:
    """The means of regions that divide the last two dims as evenly as they can."""
    result = wide(x).astype(np.float64)
    for axis, count in zip((-2, -1), output_size, strict=True):
        start, end = _regions(x.shape[axis], count)
        weights = _membership(start, end, x.shape[axis]) / (end - start)
        result = np.moveaxis(np.matmul(np.moveaxis(result, axis, -1), weights), -1, axis)
    return cast(result, wide(x).dtype)


@reference("aten.adaptive_max_pool2d.default", "aten::adaptive_max_pool2d.out", outputs=2)
@quiet
def adaptive_max_pool2d(outs: Sequence[Out], x: Array, output_size: Sequence[int]) -> tuple[Array, Array]:
    """The largest of regions that divide the last two dims evenly, and its flat index in the image."""
    height, width = x.shape[-2:]
    rows, columns = _regions(height, output_size[0]), _regions(width, output_size[1])
    best = np.empty((*x.shape[:-2], *output_size), x.dtype)
    where = np.empty(best.shape, np.int64)
    for i, (top, bottom) in enumerate(zip(*rows, strict=True)):
        for j, (left, right) in enumerate(zip(*columns, strict=True)):
            region = x[..., top:bottom, left:right].reshape(*x.shape[:-2], -1)
            index = _last_nan_or_first_max(region)
            best[..., i, j] = np.take_along_axis(region, index[..., None], -1)[..., 0]
            where[..., i, j] = (top + index // (right - left)) * width + left + index % (right - left)
    return best, where


def _last_nan_or_first_max(region: Array) -> Array:
    index = np.argmax(region, -1)
    if region.dtype.kind != "f":
        return np.asarray(index)
    nan = np.isnan(region)
    last = region.shape[-1] - 1 - np.argmax(nan[..., ::-1], -1)
    return np.asarray(np.where(nan.any(-1), last, index))
