"""Lowerings of linear layers with 4-bit weights and float activations."""

from __future__ import annotations

import math

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.decode.lowering import matvec, suits_digits
from executorch_webgpu.ops.dispatch import MAX_GRID, Tensor, threads_1d
from executorch_webgpu.ops.linear4.kernels import Product, choose, matmul_splits, matvec_lanes, matvec_rows
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.workgroups import subgroup_define


def linear(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor,
    scales: Tensor,
    group: int,
    bias: Tensor | None,
    high_first: bool = False,
) -> None:
    """Record ``x @ dequantize(weight)^T + bias``.

    ``x`` is [..., K], ``weight`` uint8 [N, K/2], ``scales`` [groups, N or more] with one scale for ``group`` columns.
    """
    columns, outputs = x.shape[-1], weight.shape[0]
    out = ctx.out((*x.shape[:-1], outputs))
    if out.numel == 0:
        return
    if bias is None and not high_first and suits_digits(x, weight, scales, group, ctx.facts):
        matvec(ctx, x, [weight], [scales], group, [out])
        return
    rows = out.numel // outputs
    product = Product(rows, outputs, columns, 2 * weight.shape[1], group, x.dtype.itemsize == 4)
    bindings = {"x": x, "weight": weight, "scales": scales, "out": out}
    defines = {
        "X": x.dtype.name,
        "S": scales.dtype.name,
        "BIAS": "",
        "HIGH_FIRST": "1" if high_first else "",
        "WIDE": "1" if outputs % 4 == 0 else "",
    }
    if bias is not None:
        bindings["bias"] = bias
        defines["BIAS"] = bias.dtype.name
    stride = scales.shape[-1]
    kernel = choose(product, ctx.facts)
    if kernel == "matvec":
        per_group = matvec_rows(product)
        tiles = math.ceil(outputs / per_group)
        folds = math.ceil(tiles / MAX_GRID)
        ctx.dispatch(
            "linear4/matvec.wgsl",
            grid=(math.ceil(tiles / folds), folds, rows),
            bindings=bindings,
            params={
                "outputs": outputs,
                "chunks": columns // 32,
                "chunks_per_group": group // 32,
                "scale_stride": stride,
            },
            defines={
                **defines,
                "ROWS": str(per_group),
                "LANES": str(matvec_lanes(product, ctx.facts)),
                "WIDE_SCALES": "1" if stride % 4 == 0 else "",
                **subgroup_define(ctx.facts),
            },
        )
    elif kernel == "block":
        ctx.dispatch(
            "linear4/block.wgsl",
            grid=(math.ceil(outputs / 64), math.ceil(rows / 8), 1),
            bindings=bindings,
            params={
                "rows": rows,
                "outputs": outputs,
                "columns": columns,
                "group": group,
                "scale_stride": stride,
            },
            defines=defines,
        )
    elif kernel == "plain":
        ctx.dispatch(
            "linear4/plain.wgsl",
            grid=threads_1d(math.ceil(out.numel / 4)),
            bindings=bindings,
            params={
                "count": out.numel,
                "outputs": outputs,
                "columns": columns,
                "row_bytes": weight.shape[1],
                "group": group,
                "scale_stride": stride,
            },
            defines=defines,
        )
    else:
        size = 8 if kernel == "tile8" else 4
        splits, span = matmul_splits(product, size, ctx.facts)
        grid = math.ceil(outputs / (16 * size)), math.ceil(rows / (16 * size)), splits
        params = {
            "rows": rows,
            "outputs": outputs,
            "columns": columns,
            "group": group,
            "scale_stride": stride,
            "span": span,
        }
        defines |= {"SIZE": str(size), "SPLIT": "1" if splits > 1 else ""}
        if splits == 1:
            ctx.dispatch("linear4/matmul.wgsl", grid=grid, bindings=bindings, params=params, defines=defines)
            return
        partial = ctx.scratch((splits, rows, outputs))
        ctx.dispatch(
            "linear4/matmul.wgsl",
            grid=grid,
            bindings={"x": x, "weight": weight, "scales": scales, "out": partial},
            params=params,
            defines={**defines, "BIAS": ""},
        )
        ctx.dispatch(
            "linear4/matmul_sum.wgsl",
            grid=threads_1d(out.numel // 4),
            bindings={"partial": partial, "out": out} | ({"bias": bias} if bias is not None else {}),
            params={"quads": out.numel // 4, "row_quads": outputs // 4, "splits": splits},
            defines={"X": x.dtype.name, "BIAS": defines["BIAS"]},
        )


@lowering("et_vk.linear_q4gsw.default", "et_vk.q4gsw_linear.default")
def linear_q4gsw(
    ctx: Lowering, x: Tensor, weight: Tensor, scales: Tensor, group: int, bias: Tensor | None = None
) -> None:
    """Low nibble first, scales [K/group, N]."""
    linear(ctx, x, weight, scales, group, bias)


@lowering("et_vk.linear_qcs4w.default")
def linear_qcs4w(ctx: Lowering, x: Tensor, weight: Tensor, scales: Tensor) -> None:
    """High nibble first, one scale a row."""
    linear(ctx, x, weight, scales, x.shape[-1], None, high_first=True)
