"""Crossing the border of a delegate: host arrays to the graph's dtypes and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument

Array = np.ndarray[Any, np.dtype[Any]]


def to_graph(array: Array, dtype: np.dtype[Any], what: str) -> Array:
    """Return a contiguous array of the graph's dtype.

    Raises:
        InvalidArgument: An int does not fit the graph's int32.
    """
    if array.dtype == dtype:
        checked = array if dtype.itemsize < 8 or array.size == 0 else _in_range(array, np.dtype(np.int32), what)
        return np.asarray(checked, order="C")
    if dtype.kind in "iu" and array.dtype.kind in "iu":
        _in_range(array, dtype, what)
    with np.errstate(over="ignore"):
        return np.asarray(array.astype(dtype), order="C")


def _in_range(array: Array, dtype: np.dtype[Any], what: str) -> Array:
    limits = np.iinfo(dtype)
    if array.dtype.kind in "iu" and array.size and (array.min() < limits.min or array.max() > limits.max):
        raise InvalidArgument(
            f"{what} has values from {array.min()} to {array.max()}; the delegate computes in {dtype} "
            f"({limits.min} to {limits.max})"
        )
    return array
