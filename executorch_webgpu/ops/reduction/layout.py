"""Which elements a reduction joins: the dims kept and the dims reduced, neighbours of one kind merged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from executorch_webgpu.ops.broadcasting import contiguous_strides, wrap_dim
from executorch_webgpu.ops.registry import Shape


@dataclass(frozen=True)
class Axes:
    """Dims and their strides in elements, outermost first."""

    dims: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of elements that the dims span."""
        return math.prod(self.dims)


def reduced_dims(dims: int | Sequence[int] | None, rank: int) -> frozenset[int]:
    """Return the dims that an argument names, counted from 0: all where it is empty or absent."""
    if dims is None or (not isinstance(dims, int) and not dims):
        return frozenset(range(rank))
    listed = [dims] if isinstance(dims, int) else dims
    return frozenset(wrap_dim(dim, rank) for dim in listed) & frozenset(range(rank))


def reduced_shape(shape: Shape, dims: frozenset[int], keepdim: bool) -> Shape:
    """Return the shape of the result."""
    if keepdim:
        return tuple(1 if axis in dims else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in dims)


def split_axes(shape: Shape, dims: frozenset[int]) -> tuple[Axes, Axes]:
    """Return the kept and the reduced axes of a contiguous tensor."""
    strides = contiguous_strides(shape)
    found: dict[bool, tuple[list[int], list[int]]] = {False: ([], []), True: ([], [])}
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        if size == 1:
            continue
        sizes, steps = found[axis in dims]
        if steps and steps[-1] == stride * size:
            sizes[-1] *= size
            steps[-1] = stride
        else:
            sizes.append(size)
            steps.append(stride)
    kept, reduced = (Axes(tuple(found[key][0]), tuple(found[key][1])) for key in (False, True))
    return kept, reduced
