"""The meaning of sorting and of the largest k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from executorch_webgpu.ops.promotion import Array
from executorch_webgpu.ops.registry import Out, reference


def _order(x: Array, dim: int, descending: bool) -> Array:
    """Return the stable order along ``dim``; NaN counts as the largest."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    turned = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return np.asarray(x.shape[dim] - 1 - np.flip(turned, dim))


@reference("aten.sort.default", "aten::sort.values", outputs=2)
def sort(outs: Sequence[Out], x: Array, dim: int = -1, descending: bool = False) -> tuple[Array, Array]:
    """The elements in order along ``dim``, equal ones as they were, and where they were."""
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    order = _order(x, dim, descending)
    return np.take_along_axis(x, order, dim), order.astype(np.int64)


@reference("aten.sort.stable", "aten::sort.values_stable", outputs=2)
def sort_stable(
    outs: Sequence[Out], x: Array, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Array, Array]:
    """The same, with the promise that equal elements stay as they were."""
    return sort(outs, x, dim, descending)


@reference("aten.topk.default", "aten::topk.values", outputs=2)
def topk(
    outs: Sequence[Out], x: Array, k: int, dim: int = -1, largest: bool = True, in_order: bool = True
) -> tuple[Array, Array]:
    """The ``k`` largest (or smallest) along ``dim`` in order, and where they were; NaN counts as the largest."""
    values, indices = sort(outs, x, dim, largest)
    if x.ndim == 0:
        return values, indices
    chosen = np.arange(k)
    return np.take(values, chosen, dim), np.take(indices, chosen, dim)
