"""The meaning of softmax and of layer, group and batch normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from executorch_webgpu.ops.promotion import Array, cast, quiet, wide
from executorch_webgpu.ops.registry import Out, reference

Triple = tuple[Array, Array, Array]


@reference("aten._softmax.default", "aten::_softmax.out")
@quiet
def softmax(out: Out, x: Array, dim: int, half_to_float: bool = False) -> Array:
    """``exp(x)`` over its sum along ``dim``."""
    if x.size == 0:
        return x
    z = np.atleast_1d(wide(x))
    power = np.exp(z - z.max(dim, keepdims=True))
    return np.asarray(power / power.sum(dim, keepdims=True)).reshape(x.shape)


@reference("aten._log_softmax.default", "aten::_log_softmax.out")
@quiet
def log_softmax(out: Out, x: Array, dim: int, half_to_float: bool = False) -> Array:
    """``x`` less the logarithm of the sum of ``exp(x)`` along ``dim``."""
    if x.size == 0:
        return x
    z = np.atleast_1d(wide(x))
    shifted = z - z.max(dim, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))).reshape(x.shape)


def _moments(x: Array, over: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """Return ``x`` less its mean, the mean and the biased variance over ``over``, all with their dims kept."""
    mean = np.mean(x, axis=over, keepdims=True, dtype=np.float64).astype(x.dtype)
    centred = x - mean
    return centred, mean, np.mean(centred * centred, axis=over, keepdims=True, dtype=np.float64).astype(x.dtype)


def _scaled(x: Array, weight: Array | None, bias: Array | None, shape: Sequence[int]) -> Array:
    if weight is not None:
        x = x * wide(weight).reshape(shape)
    if bias is not None:
        x = x + wide(bias).reshape(shape)
    return x


@reference("aten.native_layer_norm.default", "aten::native_layer_norm.out", outputs=3)
@quiet
def layer_norm(
    outs: Sequence[Out],
    x: Array,
    normalized_shape: Sequence[int],
    weight: Array | None,
    bias: Array | None,
    eps: float,
) -> Triple:
    """Normalize over the last ``len(normalized_shape)`` dims; also the mean and 1 over the standard deviation."""
    rank = len(normalized_shape)
    over = tuple(range(x.ndim - rank, x.ndim))
    if x.size == 0:
        stats = (*x.shape[: x.ndim - rank], *([1] * rank))
        return x, np.zeros(stats, np.float32), np.full(stats, np.nan, np.float32)
    centred, mean, variance = _moments(wide(x), over)
    rstd = 1 / np.sqrt(variance + centred.dtype.type(eps))
    return _scaled(centred * rstd, weight, bias, x.shape[x.ndim - rank :]), mean, rstd


@reference("aten.native_group_norm.default", "aten::native_group_norm.out", outputs=3)
@quiet
def group_norm(
    outs: Sequence[Out],
    x: Array,
    weight: Array | None,
    bias: Array | None,
    n: int,
    channels: int,
    pixels: int,
    group: int,
    eps: float,
) -> Triple:
    """Normalize each of ``group`` groups of channels; also the mean and 1 over the standard deviation."""
    count = x.shape[0]
    if x.size == 0:
        return x, np.zeros((count, group), np.float32), np.zeros((count, group), np.float32)
    grouped = wide(x).reshape(count, group, -1)
    centred, mean, variance = _moments(grouped, (2,))
    rstd = 1 / np.sqrt(variance + grouped.dtype.type(eps))
    shape = (-1, *([1] * (x.ndim - 2)))
    result = _scaled((centred * rstd).reshape(x.shape), weight, bias, shape)
    return result, mean.reshape(count, group), rstd.reshape(count, group)


def _batch_norm(
    x: Array, weight: Array | None, bias: Array | None, mean: Array, variance: Array, eps: float
) -> tuple[Array, Array]:
    z = wide(x)
    shape = (-1, *([1] * (x.ndim - 2)))
    rstd = 1 / np.sqrt(wide(variance) + np.float64(eps)).astype(z.dtype)
    return _scaled((z - wide(mean).reshape(shape)) * rstd.reshape(shape), weight, bias, shape), rstd


def _empty(x: Array) -> Array:
    return np.zeros((0,), x.dtype)


@reference(
    "aten._native_batch_norm_legit_no_training.default",
    "aten::_native_batch_norm_legit_no_training.out",
    outputs=3,
)
@quiet
def batch_norm_inference(
    outs: Sequence[Out],
    x: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> Triple:
    """Normalize each channel with the running statistics; the other two outputs are empty."""
    return _batch_norm(x, weight, bias, running_mean, running_var, eps)[0], _empty(x), _empty(x)


@reference("aten._native_batch_norm_legit.no_stats", "aten::_native_batch_norm_legit.no_stats_out", outputs=3)
@quiet
def batch_norm_no_stats(
    outs: Sequence[Out],
    x: Array,
    weight: Array | None,
    bias: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Triple:
    """Normalize each channel with its own statistics; also the means and 1 over the standard deviations."""
    _, mean, variance = _moments(wide(x), (0, *range(2, x.ndim)))
    result, rstd = _batch_norm(x, weight, bias, mean, variance, eps)
    return result, mean.reshape(-1), rstd.reshape(-1)


@reference("aten._native_batch_norm_legit.default", "aten::_native_batch_norm_legit.out", outputs=3, writes=(3, 4))
@quiet
def batch_norm(
    outs: Sequence[Out],
    x: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> Triple:
    """Normalize each channel; in training with its own statistics, which move the running ones."""
    if not training:
        return batch_norm_inference(outs, x, weight, bias, running_mean, running_var, momentum, eps)
    over = (0, *range(2, x.ndim))
    _, mean, variance = _moments(wide(x), over)
    count = math.prod(x.shape[axis] for axis in over)
    unbiased = variance.reshape(-1) * np.float64(count) / (count - 1)
    running_mean[...] = cast((1 - momentum) * running_mean + momentum * mean.reshape(-1), running_mean.dtype)
    running_var[...] = cast((1 - momentum) * running_var + momentum * unbiased, running_var.dtype)
    result, rstd = _batch_norm(x, weight, bias, mean, variance, eps)
    return result, mean.reshape(-1), rstd.reshape(-1)
