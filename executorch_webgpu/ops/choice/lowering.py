"""Lowerings of token choices: logits to a token id that is the next step's input."""

from __future__ import annotations

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import lowering

SLICE = 2048  # logits of a workgroup


@lowering("choice.greedy")
def greedy(ctx: Lowering, logits: Tensor, token: Tensor, result: Tensor) -> None:
    """Choose the largest of the last row of ``logits`` [..., V], the lowest id of equals.

    ``token`` int32 gets the id; ``result`` [4] words get id, log-probability bits, a NaN flag and 0.
    """
    count = logits.shape[-1]
    slices = -(-count // SLICE)
    partial = ctx.scratch((slices * 4,))
    ctx.dispatch(
        "choice/greedy_slices.wgsl",
        grid=(slices, 1, 1),
        bindings={"logits": logits, "partial": partial},
        params={"first": logits.numel - count, "count": count, "slice": SLICE},
        defines={"T": logits.dtype.name},
    )
    ctx.dispatch(
        "choice/greedy_result.wgsl",
        grid=(1, 1, 1),
        bindings={"partial": partial, "token": token, "result": result},
        params={"slices": slices},
    )
