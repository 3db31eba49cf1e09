"""The meaning of convolutions over any number of spatial dims: plain, transposed, and their gradients.

All are matrix products with the windows of the input laid out as columns. Columns are made for a band of output rows
at a time, so that large images need little memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from executorch_webgpu.ops.promotion import Array, quiet, wide
from executorch_webgpu.ops.registry import Out, Shape, reference

_BAND = 4 << 20  # elements of columns made at a time


@dataclass(frozen=True)
class Geometry:
    """Where the windows lie. All lists have one entry for each spatial dim."""

    kernel: Shape
    stride: Shape
    padding: Shape
    dilation: Shape

    def span(self, axis: int) -> int:
        """Return the pixels from the first to the last tap of a window."""
        return self.dilation[axis] * (self.kernel[axis] - 1) + 1

    def output(self, size: Sequence[int]) -> Shape:
        """Return the number of windows over an input of ``size``."""
        return tuple((n + 2 * self.padding[i] - self.span(i)) // self.stride[i] + 1 for i, n in enumerate(size))

    def offsets(self) -> Iterator[Shape]:
        """Yield the offset of each tap of a window in pixels, in the kernel's order."""
        for tap in itertools.product(*map(range, self.kernel)):
            yield tuple(t * d for t, d in zip(tap, self.dilation, strict=True))


def geometry(weight: Array, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> Geometry:
    """Return the geometry of a call; a list of one entry holds for every dim."""
    kernel = weight.shape[2:]

    def full(values: Sequence[int]) -> Shape:
        return tuple(values) if len(values) == len(kernel) else tuple(values) * len(kernel)

    return Geometry(kernel, full(stride), full(padding), full(dilation))


def _bands(x: Array, geo: Geometry, groups: int) -> Iterator[tuple[Array, int, int]]:
    """Yield the windows of one sample ``(C, *spatial)`` as columns ``(groups, C / groups * taps, pixels)``.

    With each come the first and the last output row (along the first spatial dim) that it covers.
    """
    rank = len(geo.kernel)
    spatial = tuple(range(1, rank + 1))
    padded = np.pad(x, [(0, 0), *((p, p) for p in geo.padding)]) if any(geo.padding) else x
    windows = np.lib.stride_tricks.sliding_window_view(padded, [geo.span(i) for i in range(rank)], axis=spatial)
    steps = tuple(slice(None, None, step) for step in (*geo.stride, *geo.dilation))
    windows = windows[(slice(None), *steps)]
    order = (0, *range(rank + 1, 2 * rank + 1), *spatial)
    rows = windows.shape[1]
    depth = x.shape[0] * math.prod(geo.kernel)
    step = max(1, _BAND // max(1, depth * math.prod(windows.shape[2 : rank + 1])))
    for first in range(0, rows, step):
        last = min(first + step, rows)
        yield windows[:, first:last].transpose(order).reshape(groups, depth // groups, -1), first, last


def _depthwise(x: Array, weight: Array, geo: Geometry) -> Array:
    """Return the convolution of ``(N, C, *spatial)`` with one filter (or several) for each channel."""
    multiplier = weight.shape[0] // x.shape[1]
    size = geo.output(x.shape[2:])
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in geo.padding)])
    result = np.zeros((*x.shape[:2], multiplier, *size), x.dtype)
    filters = weight.reshape(x.shape[1], multiplier, -1, *([1] * len(size)))
    for tap, offset in enumerate(geo.offsets()):
        part = padded[(slice(None), slice(None), *_strided(offset, geo.stride, size))]
        result += part[:, :, None] * filters[:, :, tap]
    return result.reshape(x.shape[0], -1, *size)


def _strided(offset: Shape, stride: Shape, size: Sequence[int]) -> tuple[slice, ...]:
    """Return the slices that hold one tap of every window."""
    return tuple(slice(o, o + s * (n - 1) + 1, s) for o, s, n in zip(offset, stride, size, strict=True))


def forward(x: Array, weight: Array, geo: Geometry, groups: int) -> Array:
    """Return the convolution of ``(N, C, *spatial)``."""
    size = geo.output(x.shape[2:])
    if x.size == 0 or math.prod(size) == 0:
        return np.zeros((x.shape[0], weight.shape[0], *size), x.dtype)
    if groups == x.shape[1] and groups > 1:
        return _depthwise(x, weight, geo)
    result = np.empty((x.shape[0], weight.shape[0], *size), x.dtype)
    matrix = weight.reshape(groups, weight.shape[0] // groups, -1)
    for sample, target in zip(x, result, strict=True):
        for columns, first, last in _bands(sample, geo, groups):
            target[:, first:last] = np.matmul(matrix, columns).reshape(-1, last - first, *size[1:])
    return result


def transposed(x: Array, weight: Array, geo: Geometry, groups: int, size: Sequence[int]) -> Array:
    """Return the transposed convolution of ``(N, C, *spatial)`` with an output of spatial ``size``."""
    inner = x.shape[2:]
    outputs = weight.shape[1] * groups
    # The windows of all inputs, before the padding is cut off.
    full = [
        max(s * (n - 1) + geo.span(i), p + want)
        for i, (s, n, p, want) in enumerate(zip(geo.stride, inner, geo.padding, size, strict=True))
    ]
    matrix = np.swapaxes(weight.reshape(groups, weight.shape[0] // groups, -1), 1, 2)
    result = np.zeros((x.shape[0], outputs, *full), x.dtype)
    if x.size:
        for sample, target in zip(x, result, strict=True):
            columns = np.matmul(matrix, sample.reshape(groups, sample.shape[0] // groups, -1))
            columns = columns.reshape(outputs, -1, *inner)
            for tap, offset in enumerate(geo.offsets()):
                target[(slice(None), *_strided(offset, geo.stride, inner))] += columns[:, tap]
    crop = tuple(slice(p, p + n) for p, n in zip(geo.padding, size, strict=True))
    return result[(slice(None), slice(None), *crop)]


def weight_gradient(x: Array, grad: Array, weight: Array, geo: Geometry, groups: int) -> Array:
    """Return the gradient of a plain convolution's weight, ``grad`` being that of its output."""
    result = np.zeros((groups, weight.shape[0] // groups, weight[0].size), x.dtype)
    for sample, slope in zip(x, grad, strict=True):
        for columns, first, last in _bands(sample, geo, groups):
            band = slope[:, first:last].reshape(groups, slope.shape[0] // groups, -1)
            result += np.matmul(band, np.swapaxes(columns, 1, 2))
    return result.reshape(weight.shape)


@reference("aten.convolution.default", "aten::convolution.out")
@quiet
def convolution(
    out: Out,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Array:
    """Convolve ``(N, C, *spatial)`` with ``(O, C / groups, *kernel)``, transposed ``(C, O / groups, *kernel)``."""
    geo = geometry(weight, stride, padding, dilation)
    z, w = wide(x), wide(weight)
    if is_transposed:
        extra = (
            tuple(output_padding) if len(output_padding) == len(geo.kernel) else tuple(output_padding) * len(geo.kernel)
        )
        size = [
            (n - 1) * geo.stride[i] - 2 * geo.padding[i] + geo.span(i) + extra[i] for i, n in enumerate(x.shape[2:])
        ]
        result = transposed(z, w, geo, groups, size)
    else:
        result = forward(z, w, geo, groups)
    if bias is not None:
        result = result + wide(bias).reshape(-1, *([1] * (x.ndim - 2)))
    return result


@reference("aten.convolution_backward.default", "aten::convolution_backward.out", outputs=3)
@quiet
def convolution_backward(
    outs: Sequence[Out],
    grad: Array,
    x: Array,
    weight: Array,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Array, Array, Array]:
    """Return the gradients of input, weight and bias; those that ``output_mask`` leaves out are zero."""
    geo = geometry(weight, stride, padding, dilation)
    z, w, slope = wide(x), wide(weight), wide(grad)
    results = [np.zeros(x.shape, z.dtype), np.zeros(weight.shape, z.dtype), np.zeros(slope.shape[1], z.dtype)]
    if is_transposed:
        # The gradient is that of a plain convolution from the output to the input. Output padding may have made room
        # for more windows than there are inputs.
        windows = geo.output(slope.shape[2:])
        if output_mask[0]:
            results[0] = forward(slope, w, geo, groups)[(slice(None), slice(None), *map(slice, x.shape[2:]))]
        if output_mask[1]:
            rest = [(0, n - own) for n, own in zip(windows, x.shape[2:], strict=True)]
            results[1] = weight_gradient(slope, np.pad(z, [(0, 0), (0, 0), *rest]), w, geo, groups)
    else:
        if output_mask[0]:
            results[0] = transposed(slope, w, geo, groups, x.shape[2:])
        if output_mask[1]:
            results[1] = weight_gradient(z, slope, w, geo, groups)
    if output_mask[2]:
        results[2] = np.sum(slope, axis=(0, *range(2, x.ndim)))
    return results[0], results[1], results[2]
