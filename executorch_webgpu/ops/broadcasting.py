"""Shape arithmetic that many lowerings share: broadcasting, strides, dims."""

from __future__ import annotations

import math
from collections.abc import Sequence

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.registry import Shape

MAX_RANK = 8


def broadcast_shape(*shapes: Shape) -> Shape:
    """Return the common shape by numpy's and PyTorch's rule.

    Raises:
        InvalidProgram: The shapes do not broadcast.
    """
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1:
                if result[axis] not in (1, size):
                    raise InvalidProgram(f"shapes {', '.join(map(str, shapes))} do not broadcast together")
                result[axis] = size
    return tuple(result)


def contiguous_strides(shape: Sequence[int]) -> list[int]:
    """Return row-major strides in elements."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def align_right(values: Sequence[int], fill: int) -> tuple[int, ...]:
    """Return ``values`` right-aligned in rank 8, as the shaders take dims and strides."""
    if len(values) > MAX_RANK:
        raise InvalidProgram(f"a tensor has rank {len(values)}; at most {MAX_RANK} is supported")
    return (*([fill] * (MAX_RANK - len(values))), *values)


def broadcast_strides(shape: Shape, target: Shape) -> tuple[int, ...]:
    """Return the strides, aligned to rank 8, that read ``shape`` as if expanded to ``target``."""
    strides = contiguous_strides(shape)
    return align_right([0 if size == 1 else stride for size, stride in zip(shape, strides, strict=True)], 0)


def wrap_dim(dim: int, rank: int) -> int:
    """Return ``dim`` counted from 0, whichever end it was counted from; rank 0 counts as 1."""
    span = max(rank, 1)
    if not -span <= dim < span:
        raise InvalidProgram(f"dim {dim} is out of range for rank {rank}")
    return dim % span
