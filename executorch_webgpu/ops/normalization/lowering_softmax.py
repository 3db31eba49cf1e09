"""Lowerings of softmax and log_softmax over any dim."""

from __future__ import annotations

import math

from executorch_webgpu.ops.broadcasting import wrap_dim
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.normalization.rows import fits_one_workgroup
from executorch_webgpu.ops.reduction.lowering import Kernel, reduce, workgroups
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.workgroups import lanes_for


def softmax(ctx: Lowering, x: Tensor, dim: int, log: bool) -> None:
    """Record the softmax of ``x``, or its logarithm, over ``dim``; float16 is computed in float32."""
    out = ctx.out(x.shape)
    if out.numel == 0:
        return
    axis = wrap_dim(dim, x.rank)
    shape = x.shape or (1,)
    n, inner = shape[axis], math.prod(shape[axis + 1 :])
    defines = {"X": x.dtype.name, "OUT": out.dtype.name, "LOG": "1" if log else ""}
    rows = out.numel // n
    if inner == 1 and fits_one_workgroup(rows, n, out):
        lanes = lanes_for(n, ctx.facts)
        ctx.dispatch(
            "normalization/row_softmax.wgsl",
            grid=workgroups(rows),
            bindings={"x": x, "out": out},
            params={"rows": rows, "n": n},
            defines={**defines, "LANES": str(lanes)},
        )
        return
    top, total = ctx.scratch((rows,)), ctx.scratch((rows,))
    lines = Tensor((rows // inner, n, inner), x.dtype, x.storage, x.constant)
    reduce(ctx, lines, top, frozenset({1}), Kernel("amax"))
    reduce(ctx, lines, total, frozenset({1}), Kernel("sumexp", center=top))
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "normalization/softmax_apply.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out, "top": top, "total": total},
        params={"count": out.numel, "quads": quads, "n": n, "inner": inner},
        defines=defines,
    )


@lowering("aten._softmax.default")
def softmax_default(ctx: Lowering, x: Tensor, dim: int, half_to_float: bool = False) -> None:
    """``exp(x) / sum(exp(x))`` over ``dim``."""
    softmax(ctx, x, dim, log=False)


@lowering("aten._log_softmax.default")
def log_softmax_default(ctx: Lowering, x: Tensor, dim: int, half_to_float: bool = False) -> None:
    """``x - log(sum(exp(x)))`` over ``dim``."""
    softmax(ctx, x, dim, log=True)
