"""Lowering of root-mean-square normalization."""

from __future__ import annotations

import math

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.workgroups import lanes_for, subgroup_define


@lowering("et_vk.rms_norm.default")
def rms_norm(ctx: Lowering, x: Tensor, weight: Tensor, eps: float = 1e-6) -> None:
    """Record ``x / sqrt(mean(x^2) + eps) * weight`` over the last dim."""
    out = ctx.out(x.shape)
    width = x.shape[-1]
    if out.numel == 0:
        return
    bindings = {"x": x, "weight": weight, "out": out}
    defines = {"X": x.dtype.name, "W": weight.dtype.name}
    wide = width % 4 == 0
    if not wide and x.dtype.itemsize < 4:
        ctx.dispatch(
            "rms_norm/rms_norm_quads.wgsl",
            grid=threads_1d(math.ceil(out.numel / 4)),
            bindings=bindings,
            params={"count": out.numel, "width": width, "eps": float(eps)},
            defines=defines,
        )
        return
    rows = out.numel // width
    lanes = lanes_for(math.ceil(width / 4), ctx.facts)
    ctx.dispatch(
        "rms_norm/rms_norm.wgsl",
        grid=threads_1d(rows, 1),
        bindings=bindings,
        params={"rows": rows, "width": width, "eps": float(eps)},
        defines={**defines, "LANES": str(lanes), "WIDE": "1" if wide else "", **subgroup_define(ctx.facts)},
    )
