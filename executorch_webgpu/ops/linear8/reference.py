"""The meaning of linear layers, convolutions and elementwise operators on 8-bit values."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.linear8.shapes import Pair, conv_size, transposed_size
from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


def dequantize(x: Array, scale: float, zero: int) -> Array:
    """Return ``(x - zero) * scale`` in float32."""
    return np.asarray((np.asarray(x, np.float32) - np.float32(zero)) * np.float32(scale))


def quantize(x: Array, scale: float, zero: int) -> Array:
    """Return ``clamp(round(x / scale) + zero, -128, 127)`` as int8, halves to even."""
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = np.round(x * np.float32(1.0 / scale)) + np.float32(zero)
        return np.asarray(np.nan_to_num(np.clip(rounded, -128, 127)).astype(np.int8))


def _centred(x: Array, zero: int) -> Array:
    """Return ``x - zero`` in float64, in which sums of products of 8-bit values are exact."""
    return np.asarray(x, np.float64) - zero


def _scaled(sums: Array, scale: float, scales: Array, axis: int = -1) -> Array:
    """Return exact sums times the input's scale and the weights' scale of each output along ``axis``."""
    factors = np.float32(scale) * np.asarray(scales, np.float32)[: sums.shape[axis]]
    return np.asarray(sums.astype(np.float32) * (factors if axis == -1 else factors[:, None, None]))


def _add_bias(x: Array, bias: Array | None, activation: str, axis: int = -1) -> Array:
    if bias is not None:
        wide = np.asarray(bias, np.float32)[: x.shape[axis]]
        x = x + (wide if axis == -1 else wide[:, None, None])
    return np.maximum(x, np.float32(0)) if activation == "relu" else x


@reference("aten._weight_int8pack_mm.default", "et_vk.linear_q8csw.default")
def weight_int8pack_mm(out: Out, x: Array, weight: Array, scales: Array) -> Array:
    """Take x [..., K] times weight int8 [N, K] with one scale a row."""
    return np.asarray((np.asarray(x, np.float32) @ weight.astype(np.float32).T) * np.asarray(scales, np.float32))


@reference("et_vk.linear_q8ta_q8csw.default")
def linear_q8ta_q8csw(
    out: Out, x: Array, scale: float, zero: int, weight: Array, sums: Array, scales: Array, bias: Array | None = None
) -> Array:
    """Take x [..., K] (int8, or float to be quantized first) times weight int8 [N, K], to float."""
    quantized = x if x.dtype == np.int8 else quantize(np.asarray(x, np.float32), scale, zero)
    return _add_bias(_scaled(_centred(quantized, zero) @ weight.T.astype(np.float64), scale, scales), bias, "none")


@reference("et_vk.q8ta_linear.default", "et_vk.q8ta_linear_gemv.default")
def q8ta_linear(
    out: Out,
    x: Array,
    scale: float,
    zero: int,
    weight: Array,
    sums: Array,
    scales: Array,
    out_scale: float,
    out_zero: int,
    bias: Array | None = None,
    activation: str = "none",
) -> Array:
    """Take x int8 [..., K] times weight int8 [N, K], quantized again."""
    wide = _scaled(_centred(x, zero) @ weight.T.astype(np.float64), scale, scales)
    return quantize(_add_bias(wide, bias, activation), out_scale, out_zero)


def _convolve(x: Array, weight: Array, stride: Pair, padding: Pair, dilation: Pair, groups: int) -> Array:
    """Convolve x [B, C, H, W] with ``weight`` [O, KH, KW, C / groups]."""
    batch, _, height, width = x.shape
    filters, kh, kw, depth = weight.shape
    rows = conv_size(height, kh, stride[0], padding[0], dilation[0])
    columns = conv_size(width, kw, stride[1], padding[1], dilation[1])
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    out = np.zeros((batch, filters, rows, columns))
    share = filters // groups
    for i in range(kh):
        for j in range(kw):
            top, left = i * dilation[0], j * dilation[1]
            part = padded[:, :, top : top + (rows - 1) * stride[0] + 1, left : left + (columns - 1) * stride[1] + 1]
            part = part[:, :, :: stride[0], :: stride[1]]
            for group in range(groups):
                inside, made = (slice(group * size, (group + 1) * size) for size in (depth, share))
                out[:, made] += np.einsum("bchw,oc->bohw", part[:, inside], weight[made, i, j])
    return out


@reference(
    "et_vk.q8ta_conv2d.default",
    "et_vk.q8ta_conv2d_pw.default",
    "et_vk.q8ta_conv2d_general.default",
    "et_vk.q8ta_conv2d_im2col.default",
    "et_vk.conv2d_q8ta_q8csw_q8to.default",
)
def q8ta_conv2d(
    out: Out,
    x: Array,
    scale: float,
    zero: int,
    weight: Array,
    sums: Array,
    scales: Array,
    out_scale: float,
    out_zero: int,
    bias: Array | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str = "none",
) -> Array:
    """Convolve x int8 [B, C, H, W] with weight int8 [O, KH * KW * C/groups or more]."""
    depth = x.shape[1] // groups
    filters = weight[:, : kernel[0] * kernel[1] * depth].astype(np.float64).reshape(-1, *kernel, depth)
    sums = _convolve(_centred(x, zero), filters, stride, padding, dilation, groups)
    return quantize(_add_bias(_scaled(sums, scale, scales, 1), bias, activation, 1), out_scale, out_zero)


@reference("et_vk.q8ta_conv2d_dw.default", "et_vk.conv2d_q8ta_q8csw_q8to_dw.default")
def q8ta_conv2d_dw(
    out: Out,
    x: Array,
    scale: float,
    zero: int,
    weight: Array,
    sums: Array,
    scales: Array,
    out_scale: float,
    out_zero: int,
    bias: Array | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str = "none",
) -> Array:
    """Depthwise: weight int8 [KH, KW, C]."""
    filters = np.moveaxis(weight, -1, 0)[..., None].astype(np.float64)
    sums = _convolve(_centred(x, zero), filters, stride, padding, dilation, groups)
    return quantize(_add_bias(_scaled(sums, scale, scales, 1), bias, activation, 1), out_scale, out_zero)


@reference("et_vk.q8ta_conv2d_transposed.default")
def q8ta_conv2d_transposed(
    out: Out,
    x: Array,
    scale: float,
    zero: int,
    weight: Array,
    sums: Array,
    scales: Array,
    out_scale: float,
    out_zero: int,
    bias: Array | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    output_padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str = "none",
) -> Array:
    """Transposed: weight int8 [O, KH * KW * C/groups or more], one scale a filter."""
    depth = x.shape[1] // groups
    filters = weight[:, : kernel[0] * kernel[1] * depth].astype(np.float64).reshape(-1, *kernel, depth)
    wide = _centred(x, zero)
    size = [transposed_size(wide.shape[2 + d], kernel[d], stride[d], padding[d], output_padding[d], 1) for d in (0, 1)]
    span = [(wide.shape[2 + d] - 1) * stride[d] + 1 for d in (0, 1)]
    full = np.zeros((x.shape[0], filters.shape[0], size[0] + 2 * padding[0], size[1] + 2 * padding[1]))
    share = filters.shape[0] // groups
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            place = full[:, :, i : i + span[0] : stride[0], j : j + span[1] : stride[1]]
            for group in range(groups):
                inside, made = (slice(group * n, (group + 1) * n) for n in (depth, share))
                place[:, made] += np.einsum("bchw,oc->bohw", wide[:, inside], filters[made, i, j])
    cut = full[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]
    return quantize(_add_bias(_scaled(cut, scale, scales, 1), bias, activation, 1), out_scale, out_zero)


@reference("et_vk.q8ta_add.default")
def q8ta_add(
    out: Out,
    a: Array,
    b: Array,
    a_scale: float,
    a_zero: int,
    b_scale: float,
    b_zero: int,
    out_scale: float,
    out_zero: int,
    alpha: float = 1.0,
) -> Array:
    """``a + alpha * b`` on int8 values."""
    wide = dequantize(a, a_scale, a_zero) + np.float32(alpha) * dequantize(b, b_scale, b_zero)
    return quantize(wide, out_scale, out_zero)


@reference("et_vk.q8ta_relu.default")
def q8ta_relu(out: Out, x: Array, scale: float, zero: int, out_scale: float, out_zero: int) -> Array:
    """``max(x, 0)`` on int8 values."""
    return quantize(np.maximum(dequantize(x, scale, zero), np.float32(0)), out_scale, out_zero)


@reference("et_vk.q8ta_pixel_shuffle.default")
def q8ta_pixel_shuffle(
    out: Out, x: Array, scale: float, zero: int, inverse_scale: float, out_zero: int, factor: int
) -> Array:
    """Pixel shuffle of int8 [..., C r^2, H, W], quantized again; the output's scale is given inverted."""
    *lead, channels, height, width = x.shape
    blocks = x.reshape(-1, channels // factor**2, factor, factor, height, width).transpose(0, 1, 4, 2, 5, 3)
    moved = blocks.reshape(*lead, channels // factor**2, height * factor, width * factor)
    return quantize(dequantize(moved, scale, zero), 1.0 / inverse_scale, out_zero)
