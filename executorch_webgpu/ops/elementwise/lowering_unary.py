"""Lowerings of unary operators."""

from __future__ import annotations

import math

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import ALL, FLOATS, NUMBERS, lowering

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


def unary(ctx: Lowering, operation: str, x: Tensor, alpha: float = 0.0, beta: float = 0.0) -> None:
    """Record ``out = operation(x)``, in float32 where either side floats, else in int32."""
    out = ctx.out(x.shape)
    if out.numel == 0:
        return
    floating = "f" in (x.dtype.kind, out.dtype.kind)
    value = "f32" if floating else "i32"
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "elementwise/unary.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out},
        params={
            "quads": quads,
            "alpha": float(alpha) if floating else to_int32(alpha),
            "beta": float(beta) if floating else to_int32(beta),
        },
        defines={
            "OP": operation,
            "VALUE": value,
            "RESULT": "i32" if operation == "logical_not" else value,
            "X": x.dtype.name,
            "OUT": out.dtype.name,
        },
    )


def to_int32(value: float) -> int:
    """Return a whole number, saturated to int32."""
    return int(min(max(value, INT32_MIN), INT32_MAX))


def _plain(name: str, operation: str, dtypes: tuple[str, ...] = FLOATS) -> None:
    @lowering(name, dtypes=dtypes)
    def lower(ctx: Lowering, x: Tensor) -> None:
        unary(ctx, operation, x)


for _operation in ("exp", "log", "log10", "log1p", "sqrt", "rsqrt", "round", "sin", "cos", "tan", "tanh", "sigmoid"):
    _plain(f"aten.{_operation}.default", _operation)
for _operation in ("hardswish", "hardsigmoid"):
    _plain(f"aten.{_operation}.default", _operation)
for _operation in ("abs", "neg", "relu"):
    _plain(f"aten.{_operation}.default", _operation, NUMBERS)
_plain("aten.logical_not.default", "logical_not", ALL)
_plain("aten.bitwise_not.default", "bitwise_not", ("int32", "int64", "uint8", "int8", "bool"))


@lowering("aten.gelu.default")
def gelu(ctx: Lowering, x: Tensor, approximate: str = "none") -> None:
    """``x * Phi(x)``, exact or by tanh."""
    unary(ctx, "gelu_tanh" if approximate == "tanh" else "gelu", x)


@lowering("aten.clamp.default", dtypes=NUMBERS)
def clamp(ctx: Lowering, x: Tensor, low: float | None = None, high: float | None = None) -> None:
    """``min(max(x, low), high)``; a bound may be missing."""
    unary(ctx, "clamp", x, -math.inf if low is None else low, math.inf if high is None else high)


@lowering("aten.hardtanh.default")
def hardtanh(ctx: Lowering, x: Tensor, low: float = -1.0, high: float = 1.0) -> None:
    """Clamp to ``[low, high]``."""
    unary(ctx, "clamp", x, low, high)


@lowering("aten.relu6.default")
def relu6(ctx: Lowering, x: Tensor) -> None:
    """Clamp to [0, 6]."""
    unary(ctx, "clamp", x, 0.0, 6.0)


@lowering("aten.hardshrink.default")
def hardshrink(ctx: Lowering, x: Tensor, threshold: float = 0.5) -> None:
    """0 where ``|x| <= threshold``, else x."""
    unary(ctx, "hardshrink", x, threshold)


@lowering("aten.leaky_relu.default")
def leaky_relu(ctx: Lowering, x: Tensor, slope: float = 0.01) -> None:
    """The input where positive, else ``slope * x``."""
    unary(ctx, "leaky_relu", x, slope)
