"""The meaning of sampling an image at given points."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.ops.promotion import Array, quiet, wide
from executorch_webgpu.ops.registry import Out, reference

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


def _unnormalize(grid: Array, size: int, align_corners: bool) -> Array:
    """Return positions in pixels of positions in [-1, 1]."""
    if align_corners:
        return np.asarray((grid + 1) / 2 * (size - 1))
    return np.asarray(((grid + 1) * size - 1) / 2)


def _reflect(position: Array, low: float, high: float) -> Array:
    """Return positions mirrored into ``[low / 2, high / 2]``."""
    if low == high:
        return np.zeros_like(position)
    start, span = low / 2, (high - low) / 2
    size = np.abs(position - start)
    rest = np.fmod(size, span)
    turns = np.floor(size / span)
    return np.where(turns % 2 == 0, rest + start, span - rest + start).astype(position.dtype)


def _inside(position: Array, size: int, padding_mode: int, align_corners: bool) -> Array:
    """Return positions as the padding mode moves them; NaN goes to the first pixel."""
    if padding_mode == _REFLECTION:
        ends = (0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)
        position = _reflect(position, *ends)
    if padding_mode in (_BORDER, _REFLECTION):
        position = np.where(np.isnan(position), 0, position)
        return np.clip(position, 0, size - 1)
    return position


def _pixels(x: Array, row: Array, column: Array) -> Array:
    """Return ``x[n, :, row, column]`` as ``(N, C, *points)``, zero outside of the image."""
    height, width = x.shape[-2:]
    valid = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    rows = np.where(valid, row, 0).astype(np.int64)
    columns = np.where(valid, column, 0).astype(np.int64)
    sample = np.arange(x.shape[0])[:, None, None]
    found = np.moveaxis(x.transpose(0, 2, 3, 1)[sample, rows, columns], -1, 1)
    return np.where(valid[:, None], found, np.zeros((), x.dtype))


def _cubic(t: Array) -> list[Array]:
    """Return the weights of four pixels around ``t`` in [0, 1): Keys' cubic with a = -0.75."""
    a = -0.75

    def near(d: Array) -> Array:
        return np.asarray(((a + 2) * d - (a + 3)) * d * d + 1)

    def far(d: Array) -> Array:
        return np.asarray(((a * d - 5 * a) * d + 8 * a) * d - 4 * a)

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


@reference("aten.grid_sampler_2d.default", "aten::grid_sampler_2d.out")
@quiet
def grid_sampler_2d(
    out: Out, x: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Array:
    """Sample ``(N, C, H, W)`` at ``grid`` ``(N, h, w, 2)``, points ``(x, y)`` with the image over [-1, 1]."""
    z, points = wide(x), wide(grid)
    height, width = x.shape[-2:]
    column = _unnormalize(points[..., 0], width, bool(align_corners))
    row = _unnormalize(points[..., 1], height, bool(align_corners))

    def moved(r: Array, c: Array) -> tuple[Array, Array]:
        return (
            _inside(r, height, padding_mode, bool(align_corners)),
            _inside(c, width, padding_mode, bool(align_corners)),
        )

    if interpolation_mode == _NEAREST:
        row, column = moved(row, column)
        return _pixels(z, np.rint(row), np.rint(column))
    if interpolation_mode == _BILINEAR:
        row, column = moved(row, column)
    top, left = np.floor(row), np.floor(column)
    down, across = row - top, column - left
    result = np.zeros((x.shape[0], x.shape[1], *grid.shape[1:3]), z.dtype)
    if interpolation_mode == _BILINEAR:
        for dy, weight_y in ((0, 1 - down), (1, down)):
            for dx, weight_x in ((0, 1 - across), (1, across)):
                result += _pixels(z, top + dy, left + dx) * (weight_y * weight_x)[:, None]
        return result
    for dy, weight_y in enumerate(_cubic(down), -1):
        for dx, weight_x in enumerate(_cubic(across), -1):
            result += _pixels(z, *moved(top + dy, left + dx)) * (weight_y * weight_x)[:, None]
    return result
