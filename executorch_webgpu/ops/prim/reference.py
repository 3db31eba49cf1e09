"""The meaning of operators on the numbers of an execution plan, and of the few that serve control flow."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.ops.promotion import Array
from executorch_webgpu.ops.registry import Out, reference

_NUMBERS: dict[str, Callable[..., Any]] = {
    "add.Scalar": operator.add,
    "sub.Scalar": operator.sub,
    "mul.Scalar": operator.mul,
    "floordiv.Scalar": operator.floordiv,
    "floordiv.int": operator.floordiv,
    "truediv.Scalar": operator.truediv,
    "mod.Scalar": operator.mod,
    "mod.int": operator.mod,
    "neg.Scalar": operator.neg,
    "ceil.Scalar": math.ceil,
    "round.Scalar": round,
    "trunc.Scalar": math.trunc,
    "eq.Scalar": operator.eq,
    "gt.Scalar": operator.gt,
    "ge.Scalar": operator.ge,
    "lt.Scalar": operator.lt,
    "le.Scalar": operator.le,
    "sym_float.Scalar": float,
    "sym_int.Scalar": int,
    "sym_not.Scalar": operator.not_,
    "sym_ite.Scalar": lambda condition, then, otherwise: then if condition else otherwise,
    "sym_max.Scalar": max,
    "sym_min.Scalar": min,
}


def _register(name: str, function: Callable[..., Any]) -> None:
    @reference(f"executorch_prim::{name}")
    def number(out: Out, *values: float) -> Any:
        return function(*values)


for _name, _function in _NUMBERS.items():
    _register(_name, _function)


@reference("aten.sym_size.int", "aten::sym_size.int")
def sym_size(out: Out, x: Array, dim: int) -> int:
    """The size of ``dim``."""
    return int(x.shape[dim])


@reference("aten.sym_numel.default", "aten::sym_numel")
def sym_numel(out: Out, x: Array) -> int:
    """The number of elements."""
    return int(x.size)


@reference("aten._local_scalar_dense.default", "aten::_local_scalar_dense")
def local_scalar(out: Out, x: Array) -> Any:
    """The only element as a number.

    Raises:
        InvalidArgument: There are several elements, or none.
    """
    if x.size != 1:
        raise InvalidArgument(f"a tensor of {x.size} elements is not a number")
    return x.reshape(()).item()


@reference("executorch_prim::et_copy_index.tensor")
def copy_index(out: Out, target: Array, source: Array, index: int) -> Array:
    """Return the first ``index`` rows of ``target`` and ``source`` as the next: what a map has gathered so far."""
    if index == 0:
        return np.array(source[None])
    return np.concatenate([target[:index], source[None]])


@reference("executorch_prim::et_view.default")
def view(out: Out, x: Array, size: Sequence[int]) -> Array:
    """The elements of ``x`` in order under another shape."""
    return x.reshape(size)
