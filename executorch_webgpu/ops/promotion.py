"""PyTorch's rules of type promotion, and the dtype in which the references compute.

Source of the rules: "Tensor Attributes" in PyTorch's documentation. A value's category (bool, integer, floating point,
complex) and its kind decide: tensors with dims count before 0-d tensors, and these before Python scalars. A lower kind
matters only where its category is higher.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Value = Array | np.generic | complex
Function = TypeVar("Function", bound=Callable[..., Any])

_BOOL, _INT, _FLOAT, _COMPLEX = range(4)
_CATEGORY = {"b": _BOOL, "i": _INT, "u": _INT, "f": _FLOAT, "c": _COMPLEX}
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)


def quiet(function: Function) -> Function:
    """Let ``function`` divide by zero, overflow and make NaN without warnings, as PyTorch does."""

    @functools.wraps(function)
    def silent(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return silent  # type: ignore[return-value]


def _scalar_type(value: complex) -> np.dtype[Any]:
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        return np.dtype(np.int64)
    return FLOAT32 if isinstance(value, float) else np.dtype(np.complex64)


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of two tensors of equal kind: an integer beside a float does not widen the float."""
    if a == b:
        return a
    first, second = _CATEGORY[a.kind], _CATEGORY[b.kind]
    if first != second and max(first, second) >= _FLOAT:
        high, low = (a, b) if first > second else (b, a)
        return np.promote_types(high, low) if _CATEGORY[low.kind] == _FLOAT else high
    return np.promote_types(a, b)


def result_type(*values: Value) -> np.dtype[Any]:
    """Return the dtype that PyTorch gives an operator on ``values``: arrays (0-d ones are 0-d tensors) and scalars."""
    kinds: list[np.dtype[Any] | None] = [None, None, None]
    for value in values:
        if isinstance(value, np.ndarray | np.generic):
            rank, dtype = (0 if value.ndim else 1), value.dtype
        else:
            rank, dtype = 2, _scalar_type(value)
        known = kinds[rank]
        kinds[rank] = dtype if known is None else promote(known, dtype)
    result: np.dtype[Any] | None = None
    for dtype_ in kinds:
        if result is None:
            result = dtype_
        elif dtype_ is not None and _CATEGORY[dtype_.kind] > _CATEGORY[result.kind]:
            keep_width = dtype_.kind == "c" and result.kind == "f"
            result = np.promote_types(result, np.complex64) if keep_width else dtype_
    if result is None:
        raise ValueError("no values to promote")
    return result


def compute_type(dtype: np.dtype[Any], floating: bool = False) -> np.dtype[Any]:
    """Return the dtype to compute ``dtype`` in: float32 for a half, and for integers where ``floating``."""
    if dtype == np.float16 or (floating and dtype.kind in "biu"):
        return FLOAT32
    return dtype


def cast(value: Value, dtype: np.dtype[Any]) -> Array:
    """Return ``value`` as an array of ``dtype``, converted as C does: integers wrap, floats may overflow."""
    if isinstance(value, int) and dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        wrapped = int(value) & ((1 << bits) - 1)
        if dtype.kind == "i" and wrapped >> (bits - 1):
            wrapped -= 1 << bits
        return np.asarray(wrapped, dtype)
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype, copy=False)


def promoted(
    *values: Value, floating: bool = False, like: np.dtype[Any] | None = None, rounded: bool = True
) -> list[Array]:
    """Return ``values`` as arrays of the dtype to compute in.

    ``floating`` asks for a floating point dtype. ``like`` is the dtype of the output: where it floats, so does the
    computation, because a file may hold a float scalar as an int. Unless ``rounded``, a number beside halves keeps its
    digits: PyTorch's sum, difference, product and quotient take it in float32. Integers are computed in int64 where a
    number would not fit their dtype.
    """
    common = result_type(*values)
    dtype = compute_type(common, floating or (like is not None and like.kind == "f"))
    if dtype.kind in "iu" and not all(_fits(value, dtype) for value in values):
        dtype = np.dtype(np.int64)
    if rounded and common == np.float16:
        return [cast(cast(value, common), dtype) for value in values]
    return [cast(value, dtype) for value in values]


def _fits(value: Value, dtype: np.dtype[Any]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return True
    limits = np.iinfo(dtype)
    return bool(limits.min <= value <= limits.max)


def wide(x: Array) -> Array:
    """Return ``x`` in the floating point dtype to compute in."""
    return x.astype(compute_type(x.dtype, floating=True), copy=False)
