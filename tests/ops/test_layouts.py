"""Index plans of elementwise operators and reductions, checked against numpy for any shape."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from executorch_webgpu.ops.elementwise.indexing import operand_params
from executorch_webgpu.ops.reduction.layout import reduced_dims, reduced_shape, split_axes

SHAPES = st.lists(st.integers(1, 4), max_size=6).map(tuple)


@st.composite
def broadcasts(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A shape and two that broadcast to it."""
    out = draw(SHAPES)
    operands = []
    for _ in range(2):
        kept = [size if draw(st.booleans()) else 1 for size in out]
        operands.append(tuple(kept[draw(st.integers(0, len(kept))) :] if draw(st.booleans()) else kept))
    return np.broadcast_shapes(*operands, *([out] if draw(st.booleans()) else [])), *operands


def addresses(dims: tuple[int, ...], strides: tuple[int, ...], rank: int, count: int) -> np.ndarray:
    """What broadcast_index of common/broadcast.wgsl computes for 0 to count - 1."""
    rest, index = np.arange(count), np.zeros(count, np.int64)
    for k in range(rank):
        axis = 7 - k
        index += rest % dims[axis] * strides[axis]
        rest = rest // dims[axis]
    return index


@given(broadcasts())
def test_operands_are_read_where_numpy_reads_them(
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
) -> None:
    out, x, y = shapes
    count = int(np.prod(out, dtype=np.int64))
    params = operand_params(out, {"x": x, "y": y})
    for name, shape in (("x", x), ("y", y)):
        want = np.broadcast_to(np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape), out).ravel()
        match params[f"{name}_mode"]:
            case 0:
                got = np.arange(count)
            case 1:
                got = np.zeros(count, np.int64)
            case _:
                got = addresses(params["out_dims"], params[f"{name}_strides"], params["rank"], count)
        assert got.tolist() == want.tolist()
        if params["whole_quads"] and params[f"{name}_mode"] == 2:
            # A quad is read from its first address on with the innermost stride.
            step = params[f"{name}_strides"][7]
            assert (want.reshape(-1, 4) == want[::4, None] + step * np.arange(4)).all()


@given(SHAPES, st.data())
def test_reductions_read_each_element_once_in_order(shape: tuple[int, ...], data: st.DataObject) -> None:
    dims = frozenset(data.draw(st.sets(st.integers(0, max(len(shape) - 1, 0))))) & frozenset(range(len(shape)))
    kept, reduced = split_axes(shape, dims)
    elements = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
    order = [axis for axis in range(len(shape)) if axis not in dims] + sorted(dims)
    want = elements.transpose(order).reshape(kept.count, reduced.count)
    pad = lambda values, fill: (*[fill] * (8 - len(values)), *values)  # noqa: E731
    rows, columns = (
        addresses(pad(axes.dims, 1), pad(axes.strides, 0), len(axes.dims), axes.count) for axes in (kept, reduced)
    )
    assert (rows[:, None] + columns == want).all()
    assert reduced_shape(shape, dims, True) == elements.sum(tuple(dims), keepdims=True).shape
    assert reduced_shape(shape, dims, False) == elements.sum(tuple(dims)).shape


def test_dims_may_be_negative_one_number_or_absent() -> None:
    assert reduced_dims(-1, 3) == {2}
    assert reduced_dims([0, -1], 3) == {0, 2}
    assert reduced_dims(None, 3) == reduced_dims([], 3) == {0, 1, 2}
    assert reduced_dims(0, 0) == frozenset()
