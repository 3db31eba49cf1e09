"""The meaning of operators that take or put elements by index tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument, InvalidIndex
from executorch_webgpu.ops.promotion import Array, Value, cast, quiet, wide
from executorch_webgpu.ops.registry import Out, reference


def _whole(index: Array, size: int, wrap: bool = False) -> Array:
    """Return ``index`` as int64.

    Raises:
        InvalidIndex: It lies outside of ``[0, size)``; with ``wrap`` it may count from the end.
    """
    if index.size:
        low, high = int(index.min()), int(index.max())
        if high >= size or low < (-size if wrap else 0):
            raise InvalidIndex(f"index {high if high >= size else low} is out of range for size {size}")
    return index.astype(np.int64, copy=False)


def _fancy(x: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    """Return ``indices`` as numpy takes them: None is a whole dim, bytes are masks."""
    parts: list[Any] = []
    axis = 0
    for index in indices:
        if index is None:
            parts.append(slice(None))
            axis += 1
        elif index.dtype in (np.bool_, np.uint8):
            parts.append(index.astype(np.bool_))
            axis += index.ndim
        else:
            parts.append(_whole(index, x.shape[axis], wrap=True))
            axis += 1
    return tuple(parts)


@reference("aten.index.Tensor", "aten::index.Tensor_out")
def index_tensor(out: Out, x: Array, indices: Sequence[Array | None]) -> Array:
    """The elements at ``indices``, one tensor (broadcast together), mask or None for each dim."""
    return np.asarray(x[_fancy(x, indices)])


def _put(x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool) -> Array:
    where = _fancy(x, indices)
    if accumulate:
        np.add.at(x, where, cast(values, x.dtype))
    else:
        x[where] = cast(values, x.dtype)
    return x


@reference("aten.index_put.default", "aten::index_put.out")
@quiet
def index_put(out: Out, x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """``x`` with ``values`` written (added if ``accumulate``) at ``indices``."""
    return _put(x.copy(), indices, values, accumulate)


@reference("aten::index_put_", writes=(0,))
@quiet
def index_put_into(
    out: Out, x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False
) -> Array:
    """Write ``values`` into ``x`` at ``indices``."""
    return _put(x, indices, values, accumulate)


@reference("aten.index_select.default", "aten::index_select.out")
def index_select(out: Out, x: Array, dim: int, index: Array) -> Array:
    """The elements of ``dim`` that ``index`` lists."""
    if x.ndim == 0:
        _whole(index, 1)
        return x
    return np.take(x, _whole(index.reshape(-1), x.shape[dim]), axis=dim)


@reference("aten.embedding.default", "aten::embedding.out")
def embedding(
    out: Out,
    weight: Array,
    indices: Array,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """The rows of ``weight`` that ``indices`` name."""
    return np.asarray(weight[_whole(indices, weight.shape[0])])


def _positions(index: Array, dim: int, size: int) -> tuple[Array, ...]:
    """Return the full index of gather and scatter: ``index`` along ``dim``, its own position elsewhere."""
    grid: list[Array] = list(np.indices(index.shape, sparse=True))
    grid[dim] = _whole(index, size)
    return tuple(grid)


@reference("aten.gather.default", "aten::gather.out")
def gather(out: Out, x: Array, dim: int, index: Array, sparse_grad: bool = False) -> Array:
    """``result[i][j][k] = x[i][index[i][j][k]][k]`` (for ``dim`` 1), in the shape of ``index``."""
    source, where = np.atleast_1d(x), np.atleast_1d(index)
    if where.size == 0:
        return np.zeros(index.shape, x.dtype)
    return source[_positions(where, dim, source.shape[dim])].reshape(index.shape)


def _scattered(x: Array, dim: int, index: Array, source: Array, add: bool) -> Array:
    result = np.array(x)
    if index.size == 0:
        return result
    target, where = np.atleast_1d(result), np.atleast_1d(index)
    positions = _positions(where, dim, target.shape[dim])
    if source.ndim:
        source = source[tuple(slice(n) for n in where.shape)]
    if add:
        np.add.at(target, positions, cast(source, x.dtype))
    else:
        target[positions] = cast(source, x.dtype)
    return target.reshape(x.shape)


@reference("aten.scatter.src", "aten.scatter.value", "aten::scatter.src_out", "aten::scatter.value_out")
@quiet
def scatter(out: Out, x: Array, dim: int, index: Array, source: Value) -> Array:
    """``x`` with ``source`` written where ``index`` points along ``dim``."""
    return _scattered(x, dim, index, np.asarray(source), add=False)


@reference("aten.scatter_add.default", "aten::scatter_add.out")
@quiet
def scatter_add(out: Out, x: Array, dim: int, index: Array, source: Array) -> Array:
    """``x`` with ``source`` added where ``index`` points along ``dim``."""
    if x.dtype == np.float16:
        return _scattered(wide(x), dim, index, source, add=True)
    return _scattered(x, dim, index, source, add=True)


@reference("aten.masked_select.default", "aten::masked_select.out")
def masked_select(out: Out, x: Array, mask: Array) -> Array:
    """The elements of ``x`` where ``mask``, both broadcast, in order."""
    values, where = np.broadcast_arrays(x, mask)
    return np.asarray(values[where.astype(np.bool_)])


@reference("aten.masked_scatter.default", "aten::masked_scatter.out")
def masked_scatter(out: Out, x: Array, mask: Array, source: Array) -> Array:
    """``x`` with the elements of ``source``, in order, where ``mask``.

    Raises:
        InvalidArgument: ``source`` has too few elements.
    """
    values, where = (np.array(part) for part in np.broadcast_arrays(x, mask))
    count = int(np.count_nonzero(where))
    if source.size < count:
        raise InvalidArgument(f"{count} elements are to be replaced but the source has {source.size}")
    values[where.astype(np.bool_)] = cast(source.reshape(-1)[:count], x.dtype)
    return values


@reference("aten.nonzero.default", "aten::nonzero.out")
def nonzero(out: Out, x: Array) -> Array:
    """The positions of the elements that are not zero, one row each."""
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    return np.stack(np.nonzero(x), -1).astype(np.int64)
