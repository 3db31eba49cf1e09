"""Lowering of the choice between two tensors."""

from __future__ import annotations

from executorch_webgpu.ops.broadcasting import broadcast_shape
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.elementwise.indexing import operand_params
from executorch_webgpu.ops.registry import ALL, lowering


@lowering("aten.where.self", dtypes=ALL)
def where(ctx: Lowering, condition: Tensor, x: Tensor, y: Tensor) -> None:
    """Choose x where ``condition`` holds, else y; all broadcast together."""
    out = ctx.out(broadcast_shape(condition.shape, x.shape, y.shape))
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    operands = {"c": condition, "x": x, "y": y}
    ctx.dispatch(
        "elementwise/where.wgsl",
        grid=threads_1d(quads),
        bindings={**operands, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            **operand_params(out.shape, {name: tensor.shape for name, tensor in operands.items()}),
        },
        defines={
            "C": condition.dtype.name,
            "X": x.dtype.name,
            "Y": y.dtype.name,
            "OUT": out.dtype.name,
        },
    )
