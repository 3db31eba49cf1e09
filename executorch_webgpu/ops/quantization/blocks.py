"""Blocks of elements that share one scale: how they tile a tensor and what shape their parameters have."""

from __future__ import annotations

from collections.abc import Sequence

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.registry import Shape


def per_channel(shape: Shape, axis: int) -> Shape:
    """Return the block of per-channel quantization along ``axis``."""
    axis %= len(shape)
    return tuple(1 if dim == axis else size for dim, size in enumerate(shape))


def per_token(shape: Shape) -> Shape:
    """Return the block of one scale for each run along the last dim."""
    return (*([1] * (len(shape) - 1)), shape[-1])


def block_counts(shape: Shape, block: Sequence[int]) -> Shape:
    """Return the number of blocks in each dim; -1 in ``block`` stands for the whole dim.

    Raises:
        InvalidProgram: The blocks do not tile the tensor.
    """
    sizes = whole(shape, block)
    if any(part and size % part for size, part in zip(shape, sizes, strict=True)):
        raise InvalidProgram(f"blocks of {tuple(block)} do not tile a tensor of {shape}")
    return tuple(size // part if part else 0 for size, part in zip(shape, sizes, strict=True))


def whole(shape: Shape, block: Sequence[int]) -> Shape:
    """Return ``block`` with sizes for all dims: the exported bound is cut to the size of this call."""
    if len(block) != len(shape):
        raise InvalidProgram(f"blocks of {tuple(block)} do not fit a tensor of {shape}")
    return tuple(size if part == -1 or part > size else part for size, part in zip(shape, block, strict=True))


def reduced_shape(shape: Shape, block: Sequence[int], keepdim: bool) -> Shape:
    """Return the shape of a block's parameters as torchao chooses it: dims of one block longer than 1 vanish."""
    counts = block_counts(shape, block)
    if keepdim:
        return counts
    sizes = whole(shape, block)
    return tuple(
        count for count, part, size in zip(counts, sizes, shape, strict=True) if not (part == size and part != 1)
    )
