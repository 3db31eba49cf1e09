"""The meaning of linear layers and embeddings with 4-bit weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.linear4.packing import product, unpack
from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


def add_bias(x: Array, bias: Array | None) -> Array:
    """Return ``x + bias``; ``bias`` may be longer than the last dim of ``x``."""
    return x if bias is None else np.asarray(x + np.asarray(bias, np.float32)[: x.shape[-1]])


@reference("et_vk.linear_q4gsw.default", "et_vk.q4gsw_linear.default")
def linear_q4gsw(out: Out, x: Array, weight: Array, scales: Array, group: int, bias: Array | None = None) -> Array:
    """Take x [..., K], weight uint8 [N, K/2] low nibble first, scales [K/group, N]."""
    return add_bias(product(x, weight, scales, group), bias)


@reference("et_vk.linear_dq8ca_q4gsw.default")
def linear_dq8ca_q4gsw(
    out: Out,
    x: Array,
    x_scale: Array,
    x_zero: Array,
    weight: Array,
    sums: Array,
    scales: Array,
    group: int,
    bias: Array | None = None,
) -> Array:
    """linear_q4gsw of x quantized to int8 by one scale and zero point a row and back."""
    rows = np.asarray(x, np.float32)
    scale = np.reshape(x_scale, (*x.shape[:-1], 1)).astype(np.float32)
    zero = np.reshape(x_zero, (*x.shape[:-1], 1)).astype(np.float32)
    quantized = np.clip(np.round(rows * (np.float32(1) / scale)) + zero, -128, 127)
    # The next layer rounds to int8: the order in which a BLAS sums must not decide about halves.
    return add_bias(product(((quantized - zero) * scale).astype(np.float64), weight, scales, group), bias)


@reference("et_vk.linear_qcs4w.default")
def linear_qcs4w(out: Out, x: Array, weight: Array, scales: Array) -> Array:
    """Take x [..., K], weight uint8 [N, K/2] high nibble first, one scale a row."""
    return product(x, weight, scales.reshape(1, -1), x.shape[-1], high_first=True)


@reference("et_vk.embedding_q4gsw.default")
def embedding_q4gsw(
    out: Out, weight: Array, scales: Array, group: int, indices: Array, low_first: bool = False
) -> Array:
    """Rows ``indices`` of weight uint8 [V, D/2] with scales [V, D/group] (or one scale for all)."""
    rows = np.asarray(indices).reshape(-1)
    values = unpack(weight[rows], 2 * weight.shape[1], not low_first).astype(np.float32)
    if scales.ndim > 1:
        factor = np.repeat(np.asarray(scales[rows], np.float32), group, 1)[:, : values.shape[1]]
    else:
        factor = np.asarray(scales, np.float32).reshape(1, 1)
    return np.asarray(values * factor)[:, : out.shape[-1]].reshape(*indices.shape, out.shape[-1])


@reference("quantized_decomposed.embedding_4bit.dtype")
def embedding_4bit(
    out: Out,
    weight: Array,
    scales: Array,
    zeros: Array | None,
    low: int,
    high: int,
    indices: Array,
    dtype: Any = None,
) -> Array:
    """Rows ``indices`` of weight uint8 [V, D/2], high nibble first, as (value - zero) * scale."""
    rows = np.asarray(indices).reshape(-1)
    values = unpack(weight[rows], 2 * weight.shape[1], high_first=True).astype(np.float32)
    groups = scales.shape[1] if scales.ndim > 1 else 1
    group = values.shape[1] // groups
    if zeros is not None:
        values -= np.repeat(np.asarray(zeros, np.float32).reshape(-1, groups)[rows], group, 1)
    factor = np.repeat(np.asarray(scales, np.float32).reshape(-1, groups)[rows], group, 1)
    return np.asarray(values * factor).reshape(*indices.shape, values.shape[1])
