"""Lowerings of elementwise operators on int8 values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from executorch_webgpu.ops.broadcasting import align_right, broadcast_shape, broadcast_strides
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import ParamValue, Tensor, threads_1d
from executorch_webgpu.ops.registry import Shape, lowering


def _record(
    ctx: Lowering,
    operation: str,
    shape: Shape,
    tensors: Mapping[str, Tensor],
    params: Mapping[str, ParamValue],
    inverse: float,
    zero: int,
) -> None:
    out = ctx.out(shape)
    if out.numel == 0:
        return
    ctx.dispatch(
        "linear8/elementwise.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings={**tensors, "out": out},
        params={"count": out.numel, "out_inverse": inverse, "out_zero": float(zero), **params},
        defines={"OP": operation},
    )


@lowering("et_vk.q8ta_add.default", dtypes=("int8",))
def q8ta_add(
    ctx: Lowering,
    a: Tensor,
    b: Tensor,
    a_scale: float,
    a_zero: int,
    b_scale: float,
    b_zero: int,
    out_scale: float,
    out_zero: int,
    alpha: float = 1.0,
) -> None:
    """``a + alpha * b``."""
    shape = broadcast_shape(a.shape, b.shape)
    params: dict[str, ParamValue] = {
        "x_scale": float(a_scale),
        "x_zero": float(a_zero),
        "y_scale": float(b_scale),
        "y_zero": float(b_zero),
        "alpha": float(alpha),
        "rank": len(shape),
        "out_dims": align_right(shape, 1),
        "x_strides": broadcast_strides(a.shape, shape),
        "y_strides": broadcast_strides(b.shape, shape),
    }
    _record(ctx, "add", shape, {"x": a, "y": b}, params, 1.0 / float(out_scale), out_zero)


@lowering("et_vk.q8ta_relu.default", dtypes=("int8",))
def q8ta_relu(ctx: Lowering, x: Tensor, scale: float, zero: int, out_scale: float, out_zero: int) -> None:
    """``max(x, 0)``."""
    params: dict[str, ParamValue] = {"x_scale": float(scale), "x_zero": float(zero)}
    _record(ctx, "relu", x.shape, {"x": x}, params, 1.0 / float(out_scale), out_zero)


@lowering("et_vk.q8ta_pixel_shuffle.default", dtypes=("int8",))
def q8ta_pixel_shuffle(
    ctx: Lowering, x: Tensor, scale: float, zero: int, inverse_scale: float, out_zero: int, factor: int
) -> None:
    """Pixel shuffle of [..., C r^2, H, W]; the output's scale is given inverted."""
    *lead, channels, height, width = x.shape
    shape = (*lead, channels // factor**2, height * factor, width * factor)
    params: dict[str, ParamValue] = {
        "x_scale": float(scale),
        "x_zero": float(zero),
        "factor": factor,
        "height": height,
        "width": width,
    }
    _record(ctx, "shuffle", shape, {"x": x}, params, float(inverse_scale), out_zero)
