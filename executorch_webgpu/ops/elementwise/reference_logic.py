"""The meaning of comparisons, logic and operations on bits, with broadcasting and type promotion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from executorch_webgpu.ops.promotion import Array, Value, cast, promoted, quiet
from executorch_webgpu.ops.registry import Out, reference

_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_BITWISE: dict[str, Callable[..., Any]] = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
_LOGICAL: dict[str, Callable[..., Any]] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def _register_promoting(name: str, function: Callable[..., Any]) -> None:
    @reference(f"aten.{name}.Tensor", f"aten.{name}.Scalar", f"aten::{name}.Tensor_out", f"aten::{name}.Scalar_out")
    @quiet
    def binary(out: Out, x: Array, y: Value) -> Array:
        return np.asarray(function(*promoted(x, y)))


def _register_logical(name: str, function: Callable[..., Any]) -> None:
    @reference(f"aten.{name}.default", f"aten::{name}.out")
    def logical(out: Out, x: Array, y: Array) -> Array:
        return np.asarray(function(x, y))


for _name, _function in {**_COMPARISONS, **_BITWISE}.items():
    _register_promoting(_name, _function)
for _name, _function in _LOGICAL.items():
    _register_logical(_name, _function)


@reference(
    "aten.bitwise_left_shift.Tensor",
    "aten.bitwise_left_shift.Tensor_Scalar",
    "aten::bitwise_left_shift.Tensor_out",
    "aten::bitwise_left_shift.Tensor_Scalar_out",
)
@quiet
def left_shift(out: Out, x: Array, y: Value) -> Array:
    """``x << y``; 0 where ``y`` is negative or not below the width."""
    a, b = promoted(x, y)
    outside = (b < 0) | (b >= 8 * a.dtype.itemsize)
    return np.where(outside, cast(0, a.dtype), np.left_shift(a, np.where(outside, cast(0, a.dtype), b)))


@reference(
    "aten.bitwise_right_shift.Tensor",
    "aten.bitwise_right_shift.Tensor_Scalar",
    "aten::bitwise_right_shift.Tensor_out",
    "aten::bitwise_right_shift.Tensor_Scalar_out",
)
@quiet
def right_shift(out: Out, x: Array, y: Value) -> Array:
    """``x >> y`` with the sign kept; all sign where ``y`` is negative or not below the width."""
    a, b = promoted(x, y)
    signed = a.dtype.kind == "i"
    last = 8 * a.dtype.itemsize - 1
    outside = (b < 0) | (b > last)
    shifted = np.right_shift(a, np.where(outside, cast(last, a.dtype), b))
    return shifted if signed else np.where(outside, cast(0, a.dtype), shifted)
