"""Lowerings of linear layers with 8-bit weights."""

from __future__ import annotations

import math

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import FLOATS, lowering

FEW_OUTPUTS = 16384  # below, invocations share the columns of an output


def _linear(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor,
    scales: Tensor,
    *,
    x_scale: float = 1.0,
    x_zero: int = 0,
    sums: Tensor | None = None,
    bias: Tensor | None = None,
    activation: str = "none",
    out_scale: float = 1.0,
    out_zero: int = 0,
) -> None:
    """Record ``x @ (weight * scales)^T + bias`` for x [..., K] float or int8 and weight int8 [N, K]."""
    outputs, columns = weight.shape[0], x.shape[-1]
    out = ctx.out((*x.shape[:-1], outputs))
    if out.numel == 0:
        return
    integer = x.dtype.name == "int8"
    bindings = {"x": x, "weight": weight, "scales": scales, "out": out}
    if integer and sums is not None:
        bindings["sums"] = sums
    if bias is not None:
        bindings["bias"] = bias
    lanes = 16 if out.numel < FEW_OUTPUTS and columns >= 64 else 1
    ctx.dispatch(
        "linear8/linear.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4), 64 // lanes),
        bindings=bindings,
        params={
            "count": out.numel,
            "outputs": outputs,
            "columns": columns,
            "x_zero": int(x_zero),
            "x_scale": float(x_scale),
            "out_inverse": 1.0 / float(out_scale),
            "out_zero": float(out_zero),
        },
        defines={
            "X": x.dtype.name,
            "S": scales.dtype.name,
            "OUT": out.dtype.name,
            "INTEGER": "1" if integer else "",
            "SUM": "i32" if integer else "f32",
            "BIAS": "" if bias is None else bias.dtype.name,
            "RELU": "1" if activation == "relu" else "",
            "REQUANTIZE": "1" if out.dtype.name == "int8" else "",
            "WORDS": "1" if columns % 4 == 0 else "",
            "LANES": str(lanes),
        },
    )


@lowering("aten._weight_int8pack_mm.default", "et_vk.linear_q8csw.default")
def weight_int8pack_mm(ctx: Lowering, x: Tensor, weight: Tensor, scales: Tensor) -> None:
    """Float x times int8 weights with a scale a row."""
    _linear(ctx, x, weight, scales)


@lowering("et_vk.linear_q8ta_q8csw.default", dtypes=("int8", *FLOATS))
def linear_q8ta_q8csw(
    ctx: Lowering,
    x: Tensor,
    scale: float,
    zero: int,
    weight: Tensor,
    sums: Tensor,
    scales: Tensor,
    bias: Tensor | None = None,
) -> None:
    """Take int8 x, or float x to be quantized first, to float."""
    if x.dtype.name != "int8":
        quantized = ctx.scratch(x.shape, "int8")
        ctx.dispatch(
            "quantization/quantize.wgsl",
            grid=threads_1d(math.ceil(x.numel / 4)),
            bindings={"x": x, "out": quantized},
            params={
                "count": x.numel,
                "inverse": 1.0 / float(scale),
                "zero": float(zero),
                "low": -128.0,
                "high": 127.0,
            },
            defines={"X": x.dtype.name, "OUT": "int8", "FROM": "params"},
        )
        x = quantized
    _linear(ctx, x, weight, scales, x_scale=scale, x_zero=zero, sums=sums, bias=bias)


@lowering("et_vk.q8ta_linear.default", "et_vk.q8ta_linear_gemv.default", dtypes=("int8",))
def q8ta_linear(
    ctx: Lowering,
    x: Tensor,
    scale: float,
    zero: int,
    weight: Tensor,
    sums: Tensor,
    scales: Tensor,
    out_scale: float,
    out_zero: int,
    bias: Tensor | None = None,
    activation: str = "none",
) -> None:
    """Take int8 x to int8."""
    _linear(
        ctx,
        x,
        weight,
        scales,
        x_scale=scale,
        x_zero=zero,
        sums=sums,
        bias=bias,
        activation=activation,
        out_scale=out_scale,
        out_zero=out_zero,
    )
