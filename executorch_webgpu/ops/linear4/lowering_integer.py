"""Lowering of linear layers with 4-bit weights and activations quantized to int8 a row."""

from __future__ import annotations

import math

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.linear4.lowering import linear
from executorch_webgpu.ops.registry import lowering

FEW_ROWS = 4


@lowering("et_vk.linear_dq8ca_q4gsw.default")
def linear_dq8ca_q4gsw(
    ctx: Lowering,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    weight: Tensor,
    sums: Tensor,
    scales: Tensor,
    group: int,
    bias: Tensor | None = None,
) -> None:
    """Quantize x by one scale and zero point a row, then multiply in integers."""
    columns, outputs = x.shape[-1], weight.shape[0]
    rows = math.prod(x.shape[:-1])
    out_numel = rows * outputs
    given = {"S": x_scale.dtype.name, "Z": x_zero.dtype.name}
    whole = columns % 8 == 0 and 2 * weight.shape[1] == columns and group % 8 == 0
    if out_numel and not (whole and (x.dtype.itemsize == 4 or outputs % 4 == 0)):
        rounded = ctx.scratch(x.shape, x.dtype.name)
        ctx.dispatch(
            "linear4/fake_quantize.wgsl",
            grid=threads_1d(math.ceil(x.numel / 4)),
            bindings={"x": x, "scales": x_scale, "zeros": x_zero, "out": rounded},
            params={"count": x.numel, "columns": columns},
            defines={"X": x.dtype.name, **given},
        )
        linear(ctx, rounded, weight, scales, group, bias)
        return
    out = ctx.out((*x.shape[:-1], outputs))
    if out_numel == 0:
        return
    words = columns // 8
    packed = ctx.scratch((rows, 2 * words), "uint32")
    ctx.dispatch(
        "linear4/quantize_rows.wgsl",
        grid=threads_1d(rows * words),
        bindings={"x": x, "scales": x_scale, "zeros": x_zero, "packed": packed},
        params={"words": rows * words, "columns": columns},
        defines={"X": x.dtype.name, **given},
    )
    bindings = {
        "packed": packed,
        "x_scales": x_scale,
        "x_zeros": x_zero,
        "weight": weight,
        "sums": sums,
        "scales": scales,
        "out": out,
    }
    if bias is not None:
        bindings["bias"] = bias
    few = rows <= FEW_ROWS
    lanes, rows_each = (16, 1) if few else (1, 4)
    ctx.dispatch(
        "linear4/integer.wgsl",
        grid=(math.ceil(outputs / (4 * 64 // lanes)), math.ceil(rows / rows_each), 1),
        bindings=bindings,
        params={
            "rows": rows,
            "outputs": outputs,
            "words": words,
            "group_words": group // 8,
            "scale_stride": scales.shape[-1],
            "sum_stride": sums.shape[-1],
        },
        defines={
            "XS": x_scale.dtype.name,
            "Z": x_zero.dtype.name,
            "S": scales.dtype.name,
            "OUT": out.dtype.name,
            "BIAS": "" if bias is None else bias.dtype.name,
            "WIDE": "1" if outputs % 4 == 0 else "",
            "LANES": str(lanes),
            "ROWS": str(rows_each),
        },
    )
