"""Lowerings of batch, layer and group norm."""

from __future__ import annotations

import math
from collections.abc import Sequence

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.normalization.rows import fits_one_workgroup
from executorch_webgpu.ops.reduction.lowering import Kernel, reduce, workgroups
from executorch_webgpu.ops.registry import Shape, lowering
from executorch_webgpu.ops.symbols import IntLike
from executorch_webgpu.ops.workgroups import lanes_for


def _affine(weight: Tensor | None, bias: Tensor | None) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the bindings and defines of the optional scale and shift."""
    bindings = {name: tensor for name, tensor in (("weight", weight), ("bias", bias)) if tensor is not None}
    defines = {"WEIGHT": weight.dtype.name if weight else "", "BIAS": bias.dtype.name if bias else ""}
    return bindings, defines


def _apply(
    ctx: Lowering,
    x: Tensor,
    out: Tensor,
    mean: Tensor,
    deviation: Tensor,
    stat: tuple[int, int],
    channel: tuple[int, int],
    affine: tuple[Tensor | None, Tensor | None],
    eps: float | None,
) -> None:
    """Record normalize.wgsl; ``stat`` and ``channel`` are (size, count); ``eps`` means that deviation is a variance."""
    bindings, defines = _affine(*affine)
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "normalization/normalize.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out, "mean": mean, "deviation": deviation, **bindings},
        params={
            "count": out.numel,
            "quads": quads,
            "stat_size": stat[0],
            "stat_count": stat[1],
            "channel_size": channel[0],
            "channel_count": channel[1],
            "eps": float(eps or 0.0),
        },
        defines={
            "X": x.dtype.name,
            "MEAN": mean.dtype.name,
            "DEVIATION": deviation.dtype.name,
            "VARIANCE": "" if eps is None else "1",
            **defines,
        },
    )


def _statistic(ctx: Lowering, index: int, shape: Shape, rows: int) -> tuple[Tensor, Tensor | None]:
    """Return where to write a statistic in float32 and the output that must be cast from it, if any."""
    if index >= len(ctx.outs) or 0 in ctx.outs[index].shape:
        if index < len(ctx.outs):
            ctx.out(ctx.outs[index].shape, index)
        return ctx.scratch((rows,)), None
    out = ctx.out(shape, index)
    if out.dtype.name == "float32":
        return out, None
    return ctx.scratch((rows,)), out


def _normalize_rows(
    ctx: Lowering,
    x: Tensor,
    n: int,
    stat_shape: Shape,
    channel: tuple[int, int],
    affine: tuple[Tensor | None, Tensor | None],
    eps: float,
) -> None:
    """Record the norm of each contiguous row of ``n`` elements, with mean and 1 / deviation as further outputs."""
    out = ctx.out(x.shape)
    rows = math.prod(stat_shape)
    (mean, mean_out), (rstd, rstd_out) = (_statistic(ctx, index, stat_shape, rows) for index in (1, 2))
    if out.numel == 0:
        return
    if fits_one_workgroup(rows, n, out):
        bindings, defines = _affine(*affine)
        ctx.dispatch(
            "normalization/row_norm.wgsl",
            grid=workgroups(rows),
            bindings={"x": x, "out": out, "mean": mean, "rstd": rstd, **bindings},
            params={
                "rows": rows,
                "n": n,
                "channel_size": channel[0],
                "channel_count": channel[1],
                "eps": float(eps),
            },
            defines={"X": x.dtype.name, "LANES": str(lanes_for(n, ctx.facts)), **defines},
        )
    else:
        lines = Tensor((rows, n), x.dtype, x.storage, x.constant)
        reduce(ctx, lines, mean, frozenset({1}), Kernel("sum", "mean", n))
        reduce(ctx, lines, rstd, frozenset({1}), Kernel("sqdiff", "rstd", n, eps, mean))
        _apply(ctx, x, out, mean, rstd, (n, rows), channel, affine, None)
    for statistic, target in ((mean, mean_out), (rstd, rstd_out)):
        if target is not None:
            quads = -(-rows // 4)
            ctx.dispatch(
                "elementwise/cast.wgsl",
                grid=threads_1d(quads),
                bindings={"x": statistic, "out": target},
                params={"quads": quads},
                defines={"X": "float32", "OUT": target.dtype.name, "FROM": "f32", "TO": "f32"},
            )


@lowering("aten.native_layer_norm.default")
def layer_norm(
    ctx: Lowering,
    x: Tensor,
    normalized_shape: Sequence[IntLike],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> None:
    """Normalise over the last dims; outputs are the result, the means and 1 / sqrt(variance + eps)."""
    count = len(normalized_shape)
    kept, n = x.shape[: x.rank - count], math.prod(x.shape[x.rank - count :])
    _normalize_rows(ctx, x, n, kept + (1,) * count, (1, n), (weight, bias), eps)


@lowering("aten.native_group_norm.default")
def group_norm(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch: IntLike,
    channels: IntLike,
    positions: IntLike,
    groups: int,
    eps: float = 1e-5,
) -> None:
    """Normalise each group of channels of each sample; outputs as of layer norm, of shape [batch, groups]."""
    # Sizes are taken from the tensor: those in the arguments are what they were at export.
    area = math.prod(x.shape[2:])
    n = x.shape[1] // groups * area
    _normalize_rows(ctx, x, n, (x.shape[0], groups), (area, x.shape[1]), (weight, bias), eps)


@lowering("aten._native_batch_norm_legit_no_training.default")
def batch_norm(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> None:
    """Normalise each channel (dim 1) with given statistics; the further outputs are empty."""
    out = ctx.out(x.shape)
    for index in range(1, len(ctx.outs)):
        ctx.out((0,), index)
    if out.numel:
        channel = (math.prod(x.shape[2:]), x.shape[1])
        _apply(ctx, x, out, mean, variance, channel, channel, (weight, bias), eps)
