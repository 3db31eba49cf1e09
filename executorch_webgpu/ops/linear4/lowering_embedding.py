"""Lowerings of embeddings with 4-bit tables."""

from __future__ import annotations

import math
from typing import Any

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import lowering


def _embedding(
    ctx: Lowering,
    weight: Tensor,
    scales: Tensor,
    zeros: Tensor | None,
    group: int,
    indices: Tensor,
    high_first: bool,
) -> None:
    """Record rows ``indices`` of weight uint8 [V, D/2]; scales and zeros are [V, groups], or one for all."""
    dim = ctx.outs[0].shape[-1]
    out = ctx.out((*indices.shape, dim))
    if out.numel == 0:
        return
    groups = scales.shape[1] if scales.rank > 1 else scales.numel // weight.shape[0]
    bindings = {"weight": weight, "scales": scales, "indices": indices, "out": out}
    if zeros is not None:
        bindings["zeros"] = zeros
    ctx.dispatch(
        "linear4/embedding.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings=bindings,
        params={
            "count": out.numel,
            "dim": dim,
            "row_bytes": weight.shape[1],
            "table_rows": weight.shape[0],
            "group": group,
            "groups": groups,
        },
        defines={
            "S": scales.dtype.name,
            "I": indices.dtype.name,
            "OUT": out.dtype.name,
            "ZEROS": "" if zeros is None else zeros.dtype.name,
            "HIGH_FIRST": "1" if high_first else "",
            "WIDE": "1" if dim % 4 == 0 and group % 4 == 0 else "",
        },
    )


@lowering("et_vk.embedding_q4gsw.default", dtypes=("uint8",))
def embedding_q4gsw(
    ctx: Lowering, weight: Tensor, scales: Tensor, group: int, indices: Tensor, low_first: bool = False
) -> None:
    """One scale for ``group`` columns of a row, or one for the whole table."""
    _embedding(ctx, weight, scales, None, group if scales.rank > 1 else 2 * weight.shape[1], indices, not low_first)


@lowering("quantized_decomposed.embedding_4bit.dtype", dtypes=("uint8",))
def embedding_4bit(
    ctx: Lowering,
    weight: Tensor,
    scales: Tensor,
    zeros: Tensor | None,
    low: int,
    high: int,
    indices: Tensor,
    dtype: Any = None,
) -> None:
    """Values as (value - zero) * scale, high nibble first."""
    groups = scales.shape[1] if scales.rank > 1 else 1
    _embedding(ctx, weight, scales, zeros, 2 * weight.shape[1] // groups, indices, high_first=True)
