"""Lowerings of the operators that train on the device."""

from __future__ import annotations

import math

from executorch_webgpu.errors import NotSupported
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.workgroups import lanes_for, subgroup_define


@lowering("et_vk.fused_ce.default")
def fused_ce(ctx: Lowering, logits: Tensor, labels: Tensor, valid: float) -> None:
    """Cross entropy of logits [M, V] and labels [M] over ``valid`` rows, and its gradient."""
    loss, gradient = ctx.out((), 0), ctx.out(logits.shape, 1)
    rows, classes = logits.shape
    if rows == 0:
        raise NotSupported("a cross entropy of no rows")
    losses, stats = ctx.scratch((rows,)), ctx.scratch((rows, 2))
    lanes = lanes_for(classes, ctx.facts)
    shared = {"rows": rows, "classes": classes, "valid": float(valid)}
    defines = {"X": logits.dtype.name, "L": labels.dtype.name}
    bindings = {"logits": logits, "labels": labels, "losses": losses, "stats": stats}
    ctx.dispatch(
        "training/cross_entropy.wgsl",
        grid=threads_1d(rows, 1),
        bindings=bindings,
        params=shared,
        defines={**defines, "LANES": str(lanes), **subgroup_define(ctx.facts)},
    )
    ctx.dispatch(
        "training/cross_entropy_gradient.wgsl",
        grid=threads_1d(math.ceil(logits.numel / 4)),
        bindings={**bindings, "loss": loss, "gradient": gradient},
        params={"count": logits.numel, **shared},
        defines=defines,
    )


@lowering("et_vk.adamw_step.default")
def adamw_step(
    ctx: Lowering,
    param: Tensor,
    m: Tensor,
    v: Tensor,
    grad: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    correction1: float,
    correction2: float,
) -> None:
    """One AdamW step in place, and into the outputs where they are storages of their own."""
    state = (param, m, v)
    outs = [ctx.out(tensor.shape, index) for index, tensor in enumerate(state)]
    if param.numel == 0:
        return
    bindings = {"param": param, "m": m, "v": v, "grad": grad}
    same = all(out.storage == tensor.storage for out, tensor in zip(outs, state, strict=True))
    if not same:
        bindings |= {"param_out": outs[0], "m_out": outs[1], "v_out": outs[2]}
    quads = math.ceil(param.numel / 4)
    ctx.dispatch(
        "training/adamw.wgsl",
        grid=threads_1d(quads),
        bindings=bindings,
        params={
            "quads": quads,
            "lr": float(lr),
            "beta1": float(beta1),
            "beta2": float(beta2),
            "rest1": 1.0 - float(beta1),
            "rest2": 1.0 - float(beta2),
            "eps": float(eps),
            "keep": 1.0 - float(lr) * float(decay),
            "correction1": float(correction1),
            "correction2": float(correction2),
        },
        defines={"X": param.dtype.name, "COPIES": "" if same else "1"},
    )


@lowering("et_vk.linear_dW.default")
def linear_dw(ctx: Lowering, gradient: Tensor, x: Tensor) -> None:
    """``gradient^T x`` over all leading dims."""
    outputs, columns = gradient.shape[-1], x.shape[-1]
    out = ctx.out((outputs, columns))
    if out.numel == 0:
        return
    wide = columns % 4 == 0
    plain = not wide and x.dtype.itemsize < 4
    ctx.dispatch(
        "training/weight_gradient_plain.wgsl" if plain else "training/weight_gradient.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)) if plain else (math.ceil(columns / 32), math.ceil(outputs / 32), 1),
        bindings={"gradient": gradient, "x": x, "out": out},
        params={"rows": gradient.numel // outputs, "outputs": outputs, "columns": columns},
        defines={"X": x.dtype.name, "WIDE": "1" if wide else ""},
    )


@lowering("et_vk.linear_q4gsw_backward.default")
def linear_q4gsw_backward(ctx: Lowering, gradient: Tensor, weight: Tensor, scales: Tensor, group: int) -> None:
    """``gradient`` [..., N] times the dequantized weight [N, K]."""
    columns = min(ctx.outs[0].shape[-1], 2 * weight.shape[1])
    out = ctx.out((*gradient.shape[:-1], columns))
    if out.numel == 0:
        return
    ctx.dispatch(
        "training/input_gradient.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings={"gradient": gradient, "weight": weight, "scales": scales, "out": out},
        params={
            "count": out.numel,
            "outputs": gradient.shape[-1],
            "columns": columns,
            "row_bytes": weight.shape[1],
            "group": group,
            "scale_stride": scales.shape[-1],
        },
        defines={"X": gradient.dtype.name, "S": scales.dtype.name},
    )


@lowering("et_vk.q4gsw_requant.default")
def q4gsw_requant(ctx: Lowering, latent: Tensor, scales: Tensor, group: int) -> None:
    """Pack latent [N, K] by scales [K/group, N] as uint8 [N, ceil(K/2)]."""
    rows, columns = latent.shape
    out = ctx.out((rows, math.ceil(columns / 2)))
    if out.numel == 0:
        return
    ctx.dispatch(
        "training/requantize.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings={"latent": latent, "scales": scales, "out": out},
        params={
            "count": out.numel,
            "columns": columns,
            "row_bytes": out.shape[1],
            "group": group,
            "scale_stride": scales.shape[-1],
        },
        defines={"X": latent.dtype.name, "S": scales.dtype.name},
    )
