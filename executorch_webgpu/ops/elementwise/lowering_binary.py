"""Lowerings of binary arithmetic with broadcasting."""

from __future__ import annotations

from executorch_webgpu.ops.broadcasting import align_right, broadcast_shape, broadcast_strides
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import NUMBERS, lowering


def binary(ctx: Lowering, operation: str, x: Tensor, y: Tensor, alpha: float = 1) -> None:
    """Record ``out = x OP alpha * y``, computed in float32 if either side floats, else in int32."""
    out = ctx.out(broadcast_shape(x.shape, y.shape))
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    floating = "f" in (x.dtype.kind, y.dtype.kind, out.dtype.kind)
    ctx.dispatch(
        "elementwise/binary.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "y": y, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            "rank": out.rank,
            "x_flat": int(x.shape == out.shape),
            "y_flat": int(y.shape == out.shape),
            "alpha": float(alpha),
            "alpha_int": int(alpha),
            "out_dims": align_right(out.shape, 1),
            "x_strides": broadcast_strides(x.shape, out.shape),
            "y_strides": broadcast_strides(y.shape, out.shape),
        },
        defines={
            "OP": operation,
            "VALUE": "f32" if floating else "i32",
            "X": x.dtype.name,
            "Y": y.dtype.name,
            "OUT": out.dtype.name,
        },
    )


@lowering("aten.add.Tensor", dtypes=NUMBERS)
def add(ctx: Lowering, x: Tensor, y: Tensor, alpha: float = 1) -> None:
    """``x + alpha * y``."""
    binary(ctx, "add", x, y, alpha)


@lowering("aten.sub.Tensor", dtypes=NUMBERS)
def sub(ctx: Lowering, x: Tensor, y: Tensor, alpha: float = 1) -> None:
    """``x - alpha * y``."""
    binary(ctx, "sub", x, y, alpha)


@lowering("aten.mul.Tensor", dtypes=NUMBERS)
def mul(ctx: Lowering, x: Tensor, y: Tensor) -> None:
    """``x * y``."""
    binary(ctx, "mul", x, y)
