"""The meaning of quantization: q = clamp(round(x / scale) + zero, low, high), halves to even."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.ops.quantization.blocks import block_counts, per_channel, per_token, reduced_shape, whole
from executorch_webgpu.ops.registry import Out, Shape, reference

Array = np.ndarray[Any, np.dtype[Any]]

SMALLEST_NORMAL = {"float32": 2.0**-126, "float16": 2.0**-14}
TOKEN_EPS = 2.0**-23  # quantized_decomposed.choose_qparams_per_token_asymmetric


def spread(params: Array, shape: Shape, block: Sequence[int]) -> Array:
    """Return the parameters of blocks as an array that broadcasts to (count, block) pairs of every dim."""
    counts = block_counts(shape, block)
    return np.asarray(params).reshape([n for count in counts for n in (count, 1)])


def pairs(x: Array, block: Sequence[int]) -> Array:
    """Return x as (count, block) pairs of every dim."""
    counts, sizes = block_counts(x.shape, block), whole(x.shape, block)
    return x.reshape([n for both in zip(counts, sizes, strict=True) for n in both])


def quantize(x: Array, scale: Array, zero: Array, low: float, high: float, out: Out, inside: bool = False) -> Array:
    """Quantize in float32; ``inside`` adds the zero point before rounding."""
    wide = np.asarray(x, np.float32)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        scaled = wide * (np.float32(1) / np.asarray(scale, np.float32))
        zeros = np.asarray(zero, np.float32)
        rounded = np.round(scaled + zeros) if inside else np.round(scaled) + zeros
        return np.asarray(np.nan_to_num(np.clip(rounded, low, high)).astype(out.dtype))


def dequantize(x: Array, scale: Array, zero: Array | None) -> Array:
    """Return ``(x - zero) * scale`` in float32."""
    wide = np.asarray(x, np.float32)
    if zero is not None:
        wide = wide - np.asarray(zero, np.float32)
    return np.asarray(wide * np.asarray(scale, np.float32))


@reference("quantized_decomposed.quantize_per_tensor.default")
def quantize_per_tensor(out: Out, x: Array, scale: float, zero: int, low: int, high: int, dtype: Any = None) -> Array:
    """One scale and zero point for all, as numbers; the inverse of the scale is taken in double."""
    wide = np.asarray(x, np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = np.round(wide * np.float32(1.0 / scale)) + np.float32(zero)
        return np.asarray(np.nan_to_num(np.clip(rounded, low, high)).astype(out.dtype))


@reference("quantized_decomposed.quantize_per_tensor.tensor")
def quantize_per_tensor_tensor(
    out: Out, x: Array, scale: Array, zero: Array, low: int, high: int, dtype: Any = None
) -> Array:
    """One scale and zero point for all, as tensors."""
    return quantize(x, scale.reshape(()), zero.reshape(()), low, high, out)


@reference("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(
    out: Out, x: Array, scales: Array, zeros: Array, axis: int, low: int, high: int, dtype: Any = None
) -> Array:
    """One scale and zero point for each index along ``axis``."""
    block = per_channel(x.shape, axis)
    return _quantize_blocks(out, x, block, scales, zeros, low, high)


@reference("quantized_decomposed.quantize_per_token.default")
def quantize_per_token(
    out: Out, x: Array, scales: Array, zeros: Array, low: int, high: int, dtype: Any = None
) -> Array:
    """One scale and zero point for each run along the last dim; the zero point is added before rounding."""
    return _quantize_blocks(out, x, per_token(x.shape), scales, zeros, low, high, inside=True)


@reference("torchao.quantize_affine.default")
def quantize_affine(
    out: Out,
    x: Array,
    block: Sequence[int],
    scales: Array,
    zeros: Array | None,
    dtype: Any = None,
    low: int | None = None,
    high: int | None = None,
) -> Array:
    """One scale and zero point for each block."""
    info = np.iinfo(out.dtype)
    bottom, top = info.min if low is None else low, info.max if high is None else high
    return _quantize_blocks(out, x, block, scales, zeros, bottom, top)


def _quantize_blocks(
    out: Out,
    x: Array,
    block: Sequence[int],
    scales: Array,
    zeros: Array | None,
    low: float,
    high: float,
    inside: bool = False,
) -> Array:
    zero = spread(zeros, x.shape, block) if zeros is not None and zeros.size else np.float32(0)
    return quantize(pairs(x, block), spread(scales, x.shape, block), np.asarray(zero), low, high, out, inside).reshape(
        x.shape
    )


@reference("quantized_decomposed.dequantize_per_tensor.default", "quantized_decomposed.dequantize_per_tensor.tensor")
def dequantize_per_tensor(
    out: Out,
    x: Array,
    scale: Array | float,
    zero: Array | int,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> Array:
    """One scale and zero point for all, as numbers or tensors."""
    return dequantize(x, np.asarray(scale).reshape(()), np.asarray(zero).reshape(()))


@reference("quantized_decomposed.dequantize_per_channel.default")
def dequantize_per_channel(
    out: Out,
    x: Array,
    scales: Array,
    zeros: Array | None,
    axis: int,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> Array:
    """One scale and zero point for each index along ``axis``."""
    return _dequantize_blocks(x, per_channel(x.shape, axis), scales, zeros)


@reference("quantized_decomposed.dequantize_per_token.default")
def dequantize_per_token(
    out: Out,
    x: Array,
    scales: Array,
    zeros: Array,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> Array:
    """One scale and zero point for each run along the last dim."""
    return _dequantize_blocks(x, per_token(x.shape), scales, zeros)


@reference("torchao.dequantize_affine.default")
def dequantize_affine(
    out: Out,
    x: Array,
    block: Sequence[int],
    scales: Array,
    zeros: Array | None,
    dtype: Any = None,
    low: int | None = None,
    high: int | None = None,
    out_dtype: Any = None,
) -> Array:
    """One scale and zero point for each block."""
    return _dequantize_blocks(x, block, scales, zeros)


def _dequantize_blocks(x: Array, block: Sequence[int], scales: Array, zeros: Array | None) -> Array:
    zero = spread(zeros, x.shape, block) if zeros is not None and zeros.size else None
    return dequantize(pairs(x, block), spread(scales, x.shape, block), zero).reshape(x.shape)


def extremes(x: Array, block: Sequence[int]) -> tuple[Array, Array]:
    """Return each block's minimum (at most 0) and maximum (at least 0) in float32; NaN stays."""
    parts = pairs(np.asarray(x, np.float32), block)
    axes = tuple(range(1, parts.ndim, 2))
    return (
        np.minimum(parts.min(axes, initial=0.0), np.float32(0)),
        np.maximum(parts.max(axes, initial=0.0), np.float32(0)),
    )


def asymmetric(low: Array, high: Array, qmin: int, qmax: int, eps: float) -> tuple[Array, Array]:
    """Return the scale, at least ``eps``, and the zero point that spread low..high over qmin..qmax."""
    scale = np.maximum((high - low) / np.float32(qmax - qmin), np.float32(eps))
    with np.errstate(invalid="ignore", over="ignore"):
        return scale, np.clip(np.float32(qmin) - np.round(low / scale), qmin, qmax)


@reference("torchao.choose_qparams_affine.default", outputs=2)
def choose_qparams_affine(
    out: tuple[Out, Out],
    x: Array,
    mapping: str,
    block: Sequence[int],
    dtype: Any = None,
    qmin: int | None = None,
    qmax: int | None = None,
    eps: float | None = None,
    scale_dtype: Any = None,
    zero_dtype: Any = None,
    keepdim: bool = False,
) -> tuple[Array, Array]:
    """Choose a scale and a zero point for each block."""
    bottom, top = -128 if qmin is None else int(qmin), 127 if qmax is None else int(qmax)
    floor = SMALLEST_NORMAL[x.dtype.name] if eps is None else eps
    low, high = extremes(x, block)
    if mapping == "ASYMMETRIC":
        scale, zero = asymmetric(low, high, bottom, top, floor)
    else:
        if mapping == "SYMMETRIC":
            scale = np.maximum(-low, high) / np.float32((top - bottom) / 2)
        else:
            scale = np.maximum(low / np.float32(bottom), high / np.float32(top))
        scale = np.maximum(scale, np.float32(floor))
        zero = np.full_like(scale, int((top + bottom + 1) / 2))
    shape = reduced_shape(x.shape, block, keepdim)
    return scale.reshape(shape), zero.reshape(shape)


@reference("quantized_decomposed.choose_qparams.tensor", outputs=2)
def choose_qparams(
    out: tuple[Out, Out], x: Array, qmin: int, qmax: int, eps: float, dtype: Any = None
) -> tuple[Array, Array]:
    """Choose one scale and zero point for all of x, each of shape [1]."""
    low, high = extremes(x, x.shape)
    scale, zero = asymmetric(low, high, int(qmin), int(qmax), eps)
    return scale.reshape(1), zero.reshape(1)


@reference("quantized_decomposed.choose_qparams_per_token_asymmetric.default", outputs=2)
def choose_qparams_per_token_asymmetric(out: tuple[Out, Out], x: Array, dtype: Any = None) -> tuple[Array, Array]:
    """Choose an int8 scale and zero point for each run along the last dim, shapes [..., 1]."""
    shape = (*x.shape[:-1], 1)
    low, high = (part.reshape(shape) for part in extremes(x, per_token(x.shape)))
    scale = np.maximum((high - low) / np.float32(255), np.float32(TOKEN_EPS))
    bottom, top = low / scale, high / scale
    lower_error = (-128 + bottom) + (127 + top) > 0
    zero = np.where(lower_error, -128 - bottom, 127 - top)
    return scale, np.round(np.clip(zero, -128, 127))
