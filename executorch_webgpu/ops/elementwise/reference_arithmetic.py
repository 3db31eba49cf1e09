"""The meaning of arithmetic on two values, with broadcasting and type promotion."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.ops.promotion import Array, Value, cast, promoted, quiet
from executorch_webgpu.ops.registry import Out, reference


@reference("aten.add.Tensor", "aten.add.Scalar", "aten::add.out", "aten::add.Scalar_out")
@quiet
def add(out: Out, x: Array, y: Value, alpha: float = 1) -> Array:
    """``x + alpha * y``."""
    a, b = promoted(x, y, like=out.dtype, rounded=False)
    return np.asarray(a + b if alpha == 1 else a + b * cast(alpha, b.dtype))


@reference("aten.sub.Tensor", "aten.sub.Scalar", "aten::sub.out", "aten::sub.Scalar_out")
@quiet
def sub(out: Out, x: Array, y: Value, alpha: float = 1) -> Array:
    """``x - alpha * y``."""
    a, b = promoted(x, y, like=out.dtype, rounded=False)
    return np.asarray(a - b if alpha == 1 else a - b * cast(alpha, b.dtype))


@reference("aten.rsub.Scalar", "aten::rsub.Scalar_out")
@quiet
def rsub(out: Out, x: Array, y: Value, alpha: float = 1) -> Array:
    """``y - alpha * x``."""
    a, b = promoted(x, y, like=out.dtype, rounded=False)
    return np.asarray(b - a if alpha == 1 else b - a * cast(alpha, a.dtype))


@reference("aten.mul.Tensor", "aten.mul.Scalar", "aten::mul.out", "aten::mul.Scalar_out")
@quiet
def mul(out: Out, x: Array, y: Value) -> Array:
    """``x * y``."""
    a, b = promoted(x, y, like=out.dtype, rounded=False)
    return np.asarray(a * b)


@reference(
    "aten.div.Tensor",
    "aten.div.Scalar",
    "aten.div.Tensor_mode",
    "aten.div.Scalar_mode",
    "aten::div.out",
    "aten::div.Scalar_out",
    "aten::div.out_mode",
    "aten::div.Scalar_mode_out",
)
@quiet
def div(out: Out, x: Array, y: Value, rounding_mode: str | None = None) -> Array:
    """``x / y``: true division in floating point, or rounded down (``floor``) or toward zero (``trunc``)."""
    if rounding_mode is None:
        a, b = promoted(x, y, floating=True, rounded=False)
        return np.asarray(a / b)
    a, b = promoted(x, y, rounded=False)
    if a.dtype.kind in "biu":
        _refuse_zero(b)
    if rounding_mode == "floor":
        return np.asarray(np.floor_divide(a, b))
    if a.dtype.kind == "f":
        return np.asarray(np.trunc(a / b))
    return np.asarray((a - np.fmod(a, b)) // b)


@reference("aten.floor_divide.default", "aten::floor_divide.out")
def floor_divide(out: Out, x: Array, y: Value) -> Array:
    """``x / y`` rounded down."""
    return div(out, x, y, "floor")


@reference("aten.remainder.Tensor", "aten.remainder.Scalar", "aten::remainder.Tensor_out", "aten::remainder.Scalar_out")
@quiet
def remainder(out: Out, x: Array, y: Value) -> Array:
    """The remainder of division rounded down: it has the sign of ``y``."""
    a, b = promoted(x, y)
    if a.dtype.kind in "biu":
        _refuse_zero(b)
    return np.asarray(np.remainder(a, b))


@reference("aten.fmod.Tensor", "aten.fmod.Scalar", "aten::fmod.Tensor_out", "aten::fmod.Scalar_out")
@quiet
def fmod(out: Out, x: Array, y: Value) -> Array:
    """The remainder of division rounded toward zero: it has the sign of ``x``."""
    a, b = promoted(x, y)
    if a.dtype.kind in "biu":
        _refuse_zero(b)
    return np.asarray(np.fmod(a, b))


def _refuse_zero(divisor: Array) -> None:
    if not divisor.all():
        raise InvalidArgument("integer division by zero")


@reference(
    "aten.pow.Tensor_Tensor",
    "aten.pow.Tensor_Scalar",
    "aten.pow.Scalar",
    "aten::pow.Tensor_Tensor_out",
    "aten::pow.Tensor_Scalar_out",
    "aten::pow.Scalar_out",
)
@quiet
def power(out: Out, x: Value, y: Value) -> Array:
    """``x`` to the power ``y``; integers wrap, and their negative powers are rounded toward zero."""
    a, b = promoted(x, y, like=out.dtype)
    if a.dtype.kind not in "iu":
        # PyTorch takes these two numbers as sqrt and rsqrt, which tell -0 and -inf apart from 0 and inf.
        if isinstance(y, float) and abs(y) == 0.5:
            root = np.sqrt(a)
            return np.asarray(root if y > 0 else 1 / root)
        return np.asarray(np.power(a, b))
    positive = np.power(a, np.maximum(b, 0))
    odd = np.where(b % 2 == 0, 1, -1)
    negative = np.where(a == 1, 1, np.where(a == -1, odd, 0))
    return np.where(b < 0, negative, positive).astype(a.dtype)


@reference("aten.atan2.default", "aten::atan2.out")
@quiet
def atan2(out: Out, y: Array, x: Array) -> Array:
    """The angle of the point ``(x, y)`` in radians."""
    a, b = promoted(y, x, floating=True)
    return np.asarray(np.arctan2(a, b))


@reference("aten.maximum.default", "aten::maximum.out")
@quiet
def maximum(out: Out, x: Array, y: Array) -> Array:
    """The larger; NaN where either is NaN."""
    return np.asarray(np.maximum(*promoted(x, y)))


@reference("aten.minimum.default", "aten::minimum.out")
@quiet
def minimum(out: Out, x: Array, y: Array) -> Array:
    """The smaller; NaN where either is NaN."""
    return np.asarray(np.minimum(*promoted(x, y)))
