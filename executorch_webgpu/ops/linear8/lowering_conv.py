"""Lowerings of 8-bit convolutions."""

from __future__ import annotations

import math

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.linear8.shapes import Pair, conv_size, transposed_size
from executorch_webgpu.ops.registry import lowering


def _convolution(
    ctx: Lowering,
    x: Tensor,
    scale: float,
    zero: int,
    weight: Tensor,
    scales: Tensor,
    out_scale: float,
    out_zero: int,
    bias: Tensor | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str,
    output_padding: Pair | None = None,
) -> None:
    """Record a convolution, transposed where ``output_padding`` is given; depthwise weights are [KH, KW, C]."""
    batches, channels, height, width = x.shape
    by_channel = weight.rank == 3
    filters = weight.shape[-1] if by_channel else weight.shape[0]
    if channels % groups or filters % groups or (by_channel and groups != filters):
        raise InvalidProgram(f"{channels} channels and {filters} filters do not fall into {groups} groups")
    size = (height, width)
    if output_padding is None:
        rows, columns = (conv_size(size[d], kernel[d], stride[d], padding[d], dilation[d]) for d in (0, 1))
    else:
        rows, columns = (
            transposed_size(size[d], kernel[d], stride[d], padding[d], output_padding[d], dilation[d]) for d in (0, 1)
        )
    out = ctx.out((batches, filters, rows, columns))
    if out.numel == 0:
        return
    bindings = {"x": x, "weight": weight, "scales": scales, "out": out}
    if bias is not None:
        bindings["bias"] = bias
    ctx.dispatch(
        "linear8/conv.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings=bindings,
        params={
            "count": out.numel,
            "channels": channels,
            "height": height,
            "width": width,
            "filters": filters,
            "out_height": rows,
            "out_width": columns,
            "depth": channels // groups,
            "share": filters // groups,
            "weight_stride": 0 if by_channel else weight.shape[1],
            "kernel": tuple(kernel),
            "stride": tuple(stride),
            "padding": tuple(padding),
            "dilation": tuple(dilation),
            "x_zero": int(zero),
            "x_scale": float(scale),
            "out_inverse": 1.0 / float(out_scale),
            "out_zero": float(out_zero),
        },
        defines={
            "S": scales.dtype.name,
            "OUT": out.dtype.name,
            "BIAS": "" if bias is None else bias.dtype.name,
            "RELU": "1" if activation == "relu" else "",
            "LAYOUT": "channels" if by_channel else "rows",
            "TRANSPOSED": "" if output_padding is None else "1",
        },
    )


@lowering(
    "et_vk.q8ta_conv2d.default",
    "et_vk.q8ta_conv2d_pw.default",
    "et_vk.q8ta_conv2d_dw.default",
    "et_vk.q8ta_conv2d_general.default",
    "et_vk.q8ta_conv2d_im2col.default",
    "et_vk.conv2d_q8ta_q8csw_q8to.default",
    "et_vk.conv2d_q8ta_q8csw_q8to_dw.default",
    dtypes=("int8",),
)
def q8ta_conv2d(
    ctx: Lowering,
    x: Tensor,
    scale: float,
    zero: int,
    weight: Tensor,
    sums: Tensor,
    scales: Tensor,
    out_scale: float,
    out_zero: int,
    bias: Tensor | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str = "none",
) -> None:
    """Convolve int8 x [B, C, H, W] to int8; the sums are not needed, padding is left out."""
    _convolution(
        ctx,
        x,
        scale,
        zero,
        weight,
        scales,
        out_scale,
        out_zero,
        bias,
        kernel,
        stride,
        padding,
        dilation,
        groups,
        activation,
    )


@lowering("et_vk.q8ta_conv2d_transposed.default", dtypes=("int8",))
def q8ta_conv2d_transposed(
    ctx: Lowering,
    x: Tensor,
    scale: float,
    zero: int,
    weight: Tensor,
    sums: Tensor,
    scales: Tensor,
    out_scale: float,
    out_zero: int,
    bias: Tensor | None,
    kernel: Pair,
    stride: Pair,
    padding: Pair,
    output_padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str = "none",
) -> None:
    """Convolve transposed."""
    _convolution(
        ctx,
        x,
        scale,
        zero,
        weight,
        scales,
        out_scale,
        out_zero,
        bias,
        kernel,
        stride,
        padding,
        dilation,
        groups,
        activation,
        output_padding,
    )
