"""Lowerings of binary operators with broadcasting: arithmetic, comparisons, logic."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.errors import NotSupported
from executorch_webgpu.ops.broadcasting import broadcast_shape
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.elementwise.indexing import operand_params
from executorch_webgpu.ops.elementwise.lowering_unary import INT32_MAX, INT32_MIN, to_int32, unary
from executorch_webgpu.ops.registry import ALL, NUMBERS, lowering
from executorch_webgpu.ops.symbols import Sym

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
ANSWERS_BOOL = frozenset((*COMPARISONS, "logical_and", "logical_or"))


def binary(ctx: Lowering, operation: str, x: Tensor, y: Tensor | float | Sym, alpha: float = 1) -> None:
    """Record ``out = operation(x, y)`` (``alpha`` scales y in add and sub).

    Computed in float32 where a side floats, else in int32; true division always in float32.
    """
    other = y if isinstance(y, Tensor) else None
    scalar = 0 if isinstance(y, Tensor) else ctx.pin(y) if isinstance(y, Sym) else y
    out = ctx.out(broadcast_shape(x.shape, other.shape) if other else x.shape)
    if out.numel == 0:
        return
    kinds = {x.dtype.kind, other.dtype.kind if other else "i"}
    floating = "f" in kinds or (operation not in ANSWERS_BOOL and out.dtype.kind == "f")
    # A scalar that int32 cannot hold is compared in float32, as a fraction is.
    floating = floating or not float(scalar).is_integer() or not INT32_MIN <= scalar <= INT32_MAX
    value = "f32" if floating else "i32"
    quads = -(-out.numel // 4)
    operands = {"x": x.shape, "y": other.shape} if other else {"x": x.shape}
    ctx.dispatch(
        "elementwise/binary.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "y": other, "out": out} if other else {"x": x, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            "alpha": float(alpha) if floating else to_int32(alpha),
            "scalar": float(scalar) if floating else to_int32(scalar),
            **operand_params(out.shape, operands),
        },
        defines={
            "OP": operation,
            "VALUE": value,
            "RESULT": "i32" if operation in ANSWERS_BOOL else value,
            "X": x.dtype.name,
            "Y": other.dtype.name if other else "scalar",
            "OUT": out.dtype.name,
        },
    )


@lowering("aten.add.Tensor", dtypes=ALL)
def add(ctx: Lowering, x: Tensor, y: Tensor | float | Sym, alpha: float = 1) -> None:
    """``x + alpha * y``."""
    binary(ctx, "add", x, y, alpha)


@lowering("aten.sub.Tensor", dtypes=NUMBERS)
def sub(ctx: Lowering, x: Tensor, y: Tensor | float | Sym, alpha: float = 1) -> None:
    """``x - alpha * y``."""
    binary(ctx, "sub", x, y, alpha)


@lowering("aten.div.Tensor_mode", dtypes=NUMBERS)
def div_mode(ctx: Lowering, x: Tensor, y: Tensor, rounding_mode: str | None = None) -> None:
    """``x / y``, truncated, floored or neither."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise NotSupported(f"aten.div.Tensor_mode: rounding_mode is {rounding_mode!r}, not trunc, floor or absent")
    binary(ctx, f"div_{rounding_mode}" if rounding_mode else "div", x, y)


def _tensors(name: str, operation: str, dtypes: tuple[str, ...]) -> None:
    @lowering(name, dtypes=dtypes)
    def lower(ctx: Lowering, x: Tensor, y: Tensor | float | Sym) -> None:
        binary(ctx, operation, x, y)


_tensors("aten.mul.Tensor", "mul", ALL)
_tensors("aten.div.Tensor", "div", NUMBERS)
_tensors("aten.pow.Tensor_Tensor", "pow", NUMBERS)
_tensors("aten.floor_divide.default", "div_floor", NUMBERS)
_tensors("aten.minimum.default", "minimum", ALL)
_tensors("aten.maximum.default", "maximum", ALL)
for _operation in ("bitwise_and", "bitwise_or"):
    _tensors(f"aten.{_operation}.Tensor", _operation, ("int32", "int64", "uint8", "int8", "bool"))
for _operation in ("logical_and", "logical_or"):
    _tensors(f"aten.{_operation}.default", _operation, ALL)


@lowering("aten.pow.Tensor_Scalar", dtypes=NUMBERS)
def pow_scalar(ctx: Lowering, x: Tensor, exponent: float | Sym) -> None:
    """``x ** exponent``; as in PyTorch a half is a square root, which differs for minus infinity and minus zero."""
    if x.dtype.kind == "f" and exponent in (0.5, -0.5):
        unary(ctx, "sqrt" if exponent == 0.5 else "rsqrt", x)
    else:
        binary(ctx, "pow", x, exponent)


def _comparison(operation: str) -> None:
    _tensors(f"aten.{operation}.Tensor", operation, ALL)

    @lowering(f"aten.{operation}.Scalar", dtypes=ALL)
    def lower(ctx: Lowering, x: Tensor, y: float | Sym) -> None:
        if x.dtype.name == "float16" and not isinstance(y, Sym):
            # PyTorch brings the number to the tensor's dtype before it compares.
            with np.errstate(over="ignore"):
                y = float(np.float16(y))
        binary(ctx, operation, x, y)


for _operation in COMPARISONS:
    _comparison(_operation)
