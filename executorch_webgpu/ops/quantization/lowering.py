"""Lowerings of quantize and dequantize."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from executorch_webgpu.ops.broadcasting import align_right, contiguous_strides
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import ParamValue, Tensor, threads_1d
from executorch_webgpu.ops.quantization.blocks import block_counts, per_channel, per_token, whole
from executorch_webgpu.ops.registry import FLOATS, INTS, Shape, lowering


def block_params(shape: Shape, block: Sequence[int]) -> dict[str, ParamValue]:
    """Return what blocks.wgsl needs to find the parameters of an element's block."""
    return {
        "rank": len(shape),
        "dims": align_right(shape, 1),
        "block": align_right(whole(shape, block), 1),
        "strides": align_right(contiguous_strides(block_counts(shape, block)), 0),
    }


def _record(
    ctx: Lowering,
    shader: str,
    x: Tensor,
    scales: Tensor | float,
    zeros: Tensor | float | None,
    block: Sequence[int] | None,
    params: Mapping[str, ParamValue],
    inside: bool = False,
) -> None:
    """Record quantize or dequantize with numbers, tensors of one element (``block`` is None) or one a block."""
    out = ctx.out(x.shape)
    if out.numel == 0:
        return
    bindings = {"x": x, "out": out}
    defines = {"X": x.dtype.name, "OUT": out.dtype.name, "FROM": "params", "ZEROS": "", "INSIDE": "1" if inside else ""}
    values: dict[str, ParamValue] = {"count": out.numel, **params}
    if isinstance(scales, Tensor):
        bindings["scales"] = scales
        defines |= {"S": scales.dtype.name, "FROM": "tensor" if block is None else "blocks"}
        if isinstance(zeros, Tensor) and zeros.numel:
            bindings["zeros"] = zeros
            defines["ZEROS"] = zeros.dtype.name
        if block is not None:
            values |= block_params(x.shape, block)
    ctx.dispatch(
        f"quantization/{shader}.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings=bindings,
        params=values,
        defines=defines,
    )


def _limits(low: float, high: float) -> dict[str, ParamValue]:
    return {"low": float(low), "high": float(high)}


@lowering("quantized_decomposed.quantize_per_tensor.default")
def quantize_per_tensor(
    ctx: Lowering, x: Tensor, scale: float, zero: int, low: int, high: int, dtype: Any = None
) -> None:
    """One scale and zero point for all, as numbers."""
    params = {"inverse": 1.0 / float(scale), "zero": float(zero), **_limits(low, high)}
    _record(ctx, "quantize", x, scale, zero, None, params)


@lowering("quantized_decomposed.quantize_per_tensor.tensor")
def quantize_per_tensor_tensor(
    ctx: Lowering, x: Tensor, scale: Tensor, zero: Tensor, low: int, high: int, dtype: Any = None
) -> None:
    """One scale and zero point for all, as tensors."""
    _record(ctx, "quantize", x, scale, zero, None, _limits(low, high))


@lowering("quantized_decomposed.quantize_per_channel.default")
def quantize_per_channel(
    ctx: Lowering, x: Tensor, scales: Tensor, zeros: Tensor, axis: int, low: int, high: int, dtype: Any = None
) -> None:
    """One scale and zero point for each index along ``axis``."""
    _record(ctx, "quantize", x, scales, zeros, per_channel(x.shape, axis), _limits(low, high))


@lowering("quantized_decomposed.quantize_per_token.default")
def quantize_per_token(
    ctx: Lowering, x: Tensor, scales: Tensor, zeros: Tensor, low: int, high: int, dtype: Any = None
) -> None:
    """One scale and zero point for each run along the last dim; the zero point is added before rounding."""
    _record(ctx, "quantize", x, scales, zeros, per_token(x.shape), _limits(low, high), inside=True)


@lowering("torchao.quantize_affine.default")
def quantize_affine(
    ctx: Lowering,
    x: Tensor,
    block: Sequence[int],
    scales: Tensor,
    zeros: Tensor | None,
    dtype: Any = None,
    low: int | None = None,
    high: int | None = None,
) -> None:
    """One scale and zero point for each block."""
    info = np.iinfo(ctx.outs[0].dtype)
    limits = _limits(info.min if low is None else low, info.max if high is None else high)
    _record(ctx, "quantize", x, scales, zeros, block, limits)


@lowering("quantized_decomposed.dequantize_per_tensor.default", dtypes=INTS)
def dequantize_per_tensor(
    ctx: Lowering,
    x: Tensor,
    scale: float,
    zero: int,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> None:
    """One scale and zero point for all, as numbers."""
    _record(ctx, "dequantize", x, scale, zero, None, {"scale": float(scale), "zero": float(zero)})


@lowering("quantized_decomposed.dequantize_per_tensor.tensor", dtypes=INTS)
def dequantize_per_tensor_tensor(
    ctx: Lowering,
    x: Tensor,
    scale: Tensor,
    zero: Tensor,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> None:
    """One scale and zero point for all, as tensors."""
    _record(ctx, "dequantize", x, scale, zero, None, {})


@lowering("quantized_decomposed.dequantize_per_channel.default", dtypes=INTS)
def dequantize_per_channel(
    ctx: Lowering,
    x: Tensor,
    scales: Tensor,
    zeros: Tensor | None,
    axis: int,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> None:
    """One scale and zero point for each index along ``axis``."""
    _record(ctx, "dequantize", x, scales, zeros, per_channel(x.shape, axis), {})


@lowering("quantized_decomposed.dequantize_per_token.default", dtypes=INTS)
def dequantize_per_token(
    ctx: Lowering,
    x: Tensor,
    scales: Tensor,
    zeros: Tensor,
    low: int = 0,
    high: int = 0,
    dtype: Any = None,
    out_dtype: Any = None,
) -> None:
    """One scale and zero point for each run along the last dim."""
    _record(ctx, "dequantize", x, scales, zeros, per_token(x.shape), {})


@lowering("torchao.dequantize_affine.default", dtypes=(*INTS, *FLOATS))
def dequantize_affine(
    ctx: Lowering,
    x: Tensor,
    block: Sequence[int],
    scales: Tensor,
    zeros: Tensor | None,
    dtype: Any = None,
    low: int | None = None,
    high: int | None = None,
    out_dtype: Any = None,
) -> None:
    """One scale and zero point for each block."""
    _record(ctx, "dequantize", x, scales, zeros, block, {})
