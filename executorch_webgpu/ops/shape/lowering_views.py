"""Lowerings that only rename: other dims for the same elements in the same order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.broadcasting import wrap_dim
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import Shape, renaming
from executorch_webgpu.ops.symbols import IntLike


@renaming("aten.view_copy.default")
def view(ctx: Lowering, x: Tensor, sizes: Sequence[IntLike]) -> Shape:
    """The elements of ``x`` in the dims ``sizes``, of which one may be -1."""
    shape = [ctx.pin(size) for size in sizes]
    if -1 in shape:
        known = math.prod(size for size in shape if size != -1)
        if known == 0 or x.numel % known:
            raise InvalidProgram(f"{x.numel} elements do not fill the shape {shape}")
        shape[shape.index(-1)] = x.numel // known
    if math.prod(shape) != x.numel:
        raise InvalidProgram(f"{x.numel} elements do not fill the shape {shape}")
    return tuple(shape)


@renaming("aten.unsqueeze_copy.default")
def unsqueeze(ctx: Lowering, x: Tensor, dim: int) -> Shape:
    """``x`` with a dim of size 1 before ``dim``."""
    at = wrap_dim(dim, x.rank + 1)
    return (*x.shape[:at], 1, *x.shape[at:])


@renaming("aten.squeeze_copy.dims")
def squeeze(ctx: Lowering, x: Tensor, dims: Sequence[int]) -> Shape:
    """``x`` without those of ``dims`` that have size 1."""
    gone = {wrap_dim(dim, x.rank) for dim in dims}
    return tuple(size for axis, size in enumerate(x.shape) if axis not in gone or size != 1)
