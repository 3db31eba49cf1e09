"""Lowering of the joining of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.broadcasting import wrap_dim
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import ALL, lowering
from executorch_webgpu.ops.shape.strided import same_dtype

PER_DISPATCH = 6  # with the output 7 storage buffers, of 8 that every device has


@lowering("aten.cat.default", dtypes=ALL)
def cat(ctx: Lowering, tensors: Sequence[Tensor], dim: int = 0) -> None:
    """The tensors one after the other along ``dim``; a 1-d tensor without elements counts as nothing."""
    parts = [tensor for tensor in tensors if tensor.shape != (0,)]
    if not parts:
        ctx.out((0,))
        return
    shape = list(parts[0].shape)
    at = wrap_dim(dim, len(shape))
    for part in parts:
        if (*part.shape[:at], *part.shape[at + 1 :]) != (*shape[:at], *shape[at + 1 :]):
            raise InvalidProgram(f"{list(part.shape)} and {shape} cannot be joined along dim {at}")
    shape[at] = sum(part.shape[at] for part in parts)
    out = ctx.out(shape)
    if out.numel == 0:
        return
    inner = math.prod(shape[at + 1 :])
    starts = list(accumulate((part.shape[at] * inner for part in parts), initial=0))
    quads = -(-out.numel // 4)
    for first in range(0, len(parts), PER_DISPATCH):
        group = parts[first : first + PER_DISPATCH]
        edges = starts[first : first + len(group) + 1]
        for part in group:
            same_dtype(part, out)
        ctx.dispatch(
            "shape/cat.wgsl",
            grid=threads_1d(quads),
            bindings={"out": out, **{f"x{k}": part for k, part in enumerate(group)}},
            params={
                "quads": quads,
                "count": out.numel,
                "row": starts[-1],
                "starts": (*edges, *[0] * (8 - len(edges))),
            },
            defines={
                "BYTES": str(out.dtype.itemsize),
                "COUNT": str(len(group)),
                "ALIGNED": "1" if all(edge % 4 == 0 for edge in (*edges, starts[-1])) else "",
                **{f"X{k}": "1" for k in range(1, len(group))},
            },
        )
