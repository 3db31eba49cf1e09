"""The meaning of changing the size of images."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from executorch_webgpu.ops.promotion import Array, cast, quiet, wide
from executorch_webgpu.ops.registry import Out, reference

Scales = Sequence[float] | None


def _target(x: Array, output_size: Sequence[int] | None, scales: Scales) -> tuple[int, int]:
    """Return height and width of the result: given, or the input's times the scales, rounded down."""
    if output_size is not None:
        return int(output_size[0]), int(output_size[1])
    if scales is None:
        raise ValueError("neither an output size nor scale factors are given")
    return int(x.shape[-2] * float(scales[0])), int(x.shape[-1] * float(scales[1]))


def _step(size: int, count: int, scale: float | None) -> np.float32:
    """Return how many pixels of the input one of the output covers, in float32 as PyTorch computes it."""
    if scale is not None and scale > 0:
        return np.float32(1.0 / scale)
    return np.float32(size) / np.float32(max(count, 1))


def _nearest_index(size: int, count: int, scale: float | None) -> Array:
    if count in (size, 2 * size):
        # PyTorch does not look at the scale here.
        return np.arange(count) // (count // max(size, 1))
    index = np.floor(np.arange(count, dtype=np.float32) * _step(size, count, scale))
    return np.asarray(np.minimum(index.astype(np.int64), size - 1))


def nearest(x: Array, height: int, width: int, scale_h: float | None, scale_w: float | None) -> Array:
    """Return the last two dims at another size, each pixel a copy."""
    rows = _nearest_index(x.shape[-2], height, scale_h)
    columns = _nearest_index(x.shape[-1], width, scale_w)
    return np.asarray(x[..., rows[:, None], columns])


def _sources(size: int, count: int, align_corners: bool, scale: float | None) -> tuple[Array, Array, Array]:
    """Return the two source pixels of each output pixel along one dim, and the weight of the second."""
    index = np.arange(count, dtype=np.float32)
    if count == size:
        # PyTorch does not look at the scale here.
        source = index
    elif align_corners:
        step = np.float32(size - 1) / np.float32(count - 1) if count > 1 else np.float32(0)
        source = index * step
    else:
        step = _step(size, count, scale)
        source = np.maximum(step * (index + np.float32(0.5)) - np.float32(0.5), np.float32(0))
    first = np.minimum(source.astype(np.int64), size - 1)
    second = np.minimum(first + 1, size - 1)
    return first, second, np.clip(source - first.astype(np.float32), np.float32(0), np.float32(1))


def bilinear(
    x: Array, height: int, width: int, align_corners: bool, scale_h: float | None, scale_w: float | None
) -> Array:
    """Return the last two dims at another size, each pixel mixed of four."""
    z = wide(x)
    top, bottom, down = _sources(x.shape[-2], height, align_corners, scale_h)
    left, right, across = _sources(x.shape[-1], width, align_corners, scale_w)
    down = down.astype(z.dtype)[:, None]
    across = across.astype(z.dtype)
    rows = z[..., top, :] * (1 - down) + z[..., bottom, :] * down
    return np.asarray(rows[..., left] * (1 - across) + rows[..., right] * across)


@reference("aten.upsample_nearest2d.vec", "aten::upsample_nearest2d.vec_out")
def upsample_nearest2d(out: Out, x: Array, output_size: Sequence[int] | None, scale_factors: Scales = None) -> Array:
    """Resize by the nearest pixel to ``output_size`` or by ``scale_factors``."""
    scales = scale_factors if scale_factors is not None else (None, None)
    return nearest(x, *_target(x, output_size, scale_factors), scales[0], scales[1])


@reference("aten.upsample_nearest2d.default", "aten::upsample_nearest2d.out")
def upsample_nearest2d_sized(
    out: Out, x: Array, output_size: Sequence[int], scales_h: float | None = None, scales_w: float | None = None
) -> Array:
    """Resize by the nearest pixel to ``output_size``."""
    return nearest(x, output_size[0], output_size[1], scales_h, scales_w)


@reference("aten.upsample_bilinear2d.vec", "aten::upsample_bilinear2d.vec_out")
@quiet
def upsample_bilinear2d(
    out: Out, x: Array, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Scales = None
) -> Array:
    """Resize by linear interpolation to ``output_size`` or by ``scale_factors``."""
    scales = scale_factors if scale_factors is not None else (None, None)
    return bilinear(x, *_target(x, output_size, scale_factors), bool(align_corners), scales[0], scales[1])


@reference("aten.upsample_bilinear2d.default", "aten::upsample_bilinear2d.out")
@quiet
def upsample_bilinear2d_sized(
    out: Out,
    x: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Array:
    """Resize by linear interpolation to ``output_size``."""
    return bilinear(x, output_size[0], output_size[1], bool(align_corners), scales_h, scales_w)


def _antialias(size: int, count: int, align_corners: bool, scale: float | None) -> Array:
    """Return the weights ``(count, size)`` of a triangle filter as wide as the step, at least one pixel."""
    if align_corners:
        step = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        step = 1.0 / scale if scale is not None and scale > 0 else size / count
    support = max(step, 1.0)
    center = step * (np.arange(count) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    last = np.minimum((center + support + 0.5).astype(np.int64), size)
    pixel = np.arange(size)[None]
    weights = np.maximum(1 - np.abs((pixel - center[:, None] + 0.5) / support), 0)
    weights[(pixel < first[:, None]) | (pixel >= last[:, None])] = 0
    return np.asarray(weights / weights.sum(1, keepdims=True))


@reference("aten._upsample_bilinear2d_aa.default", "aten::_upsample_bilinear2d_aa.out")
@quiet
def upsample_bilinear2d_aa(
    out: Out,
    x: Array,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Array:
    """Resize by linear interpolation over as many pixels as one of the output covers."""
    z = wide(x)
    rows = _antialias(x.shape[-2], output_size[0], bool(align_corners), scales_h)
    columns = _antialias(x.shape[-1], output_size[1], bool(align_corners), scales_w)
    return cast(np.matmul(np.matmul(rows, z), columns.T), z.dtype)
