"""The meaning of Fourier transforms and of distances between rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from executorch_webgpu.ops.promotion import Array, cast, quiet, wide
from executorch_webgpu.ops.registry import Out, reference


def _scale(normalization: int, count: int) -> float:
    """Return the factor of ATen's normalization modes: none, by the square root of the count, by the count."""
    return (1.0, 1 / math.sqrt(count), 1 / count)[normalization]


@reference("aten._fft_r2c.default", "aten::_fft_r2c.out")
def fft_r2c(out: Out, x: Array, dim: Sequence[int], normalization: int, onesided: bool) -> Array:
    """The Fourier transform of reals over ``dim``; of the last of these only the first half if ``onesided``."""
    axes = tuple(dim)
    z = wide(x)
    found = np.fft.rfftn(z, axes=axes) if onesided else np.fft.fftn(z, axes=axes)
    return cast(found * _scale(normalization, math.prod(x.shape[axis] for axis in axes)), out.dtype)


@reference("aten._fft_c2r.default", "aten::_fft_c2r.out")
def fft_c2r(out: Out, x: Array, dim: Sequence[int], normalization: int, last_dim_size: int) -> Array:
    """The inverse of ``fft_r2c`` with a last dim of ``last_dim_size``, not scaled unless ``normalization`` says so."""
    axes = tuple(dim)
    sizes = [x.shape[axis] for axis in axes[:-1]] + [last_dim_size]
    found = np.fft.irfftn(x, sizes, axes, norm="forward")
    return cast(found * _scale(normalization, math.prod(sizes)), out.dtype)


def _distance(difference: Array, p: float) -> Array:
    """Return the p-norm over the last dim."""
    size = np.abs(difference).astype(np.float64)
    if p == 0:
        return np.asarray(np.sum(size != 0, axis=-1, dtype=np.float64))
    if math.isinf(p):
        return np.asarray(np.max(size, axis=-1, initial=0.0))
    if p == 1:
        return np.asarray(np.sum(size, axis=-1))
    return np.asarray(np.sum(size**p, axis=-1) ** (1 / p))


@reference("aten._cdist_forward.default", "aten::_cdist_forward.out")
@quiet
def cdist(out: Out, x: Array, y: Array, p: float, compute_mode: int | None) -> Array:
    """The distance of every row of ``x`` from every row of ``y``; batches broadcast."""
    a, b = wide(x), wide(y)
    return cast(_distance(a[..., :, None, :] - b[..., None, :, :], p), a.dtype)


@reference("aten._pdist_forward.default", "aten::_pdist_forward.out")
@quiet
def pdist(out: Out, x: Array, p: float = 2.0) -> Array:
    """The distance of every row from every later row."""
    z = wide(x)
    first, second = np.triu_indices(x.shape[0], 1)
    return cast(_distance(z[first] - z[second], p), z.dtype)
