"""Lowerings of rotary position embeddings."""

from __future__ import annotations

import math

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.symbols import IntLike


def _rotate(
    ctx: Lowering, form: str, q: Tensor, k: Tensor, cosine: Tensor, sine: Tensor, start: IntLike, table_heads: int
) -> None:
    """Record both rotations in one dispatch; q is [B, S, H, D], k [B, S, KV, D]."""
    outs = ctx.out(q.shape, 0), ctx.out(k.shape, 1)
    quads = sum(math.ceil(out.numel / 4) for out in outs)
    if quads == 0:
        return
    ctx.dispatch(
        "rotary/rotary.wgsl",
        grid=threads_1d(quads),
        bindings={
            "query": q,
            "keys": k,
            "cosine": cosine,
            "sine": sine,
            "query_out": outs[0],
            "keys_out": outs[1],
        },
        params={
            "query_count": q.numel,
            "keys_count": k.numel,
            "query_heads": max(q.shape[-2], 1),
            "key_heads": max(k.shape[-2], 1),
            "dim": q.shape[-1],
            "columns": cosine.shape[-1],
            "rows": q.shape[1],
            "start": start,
            "table_heads": table_heads,
        },
        defines={"FORM": form, "X": q.dtype.name, "TABLE": cosine.dtype.name},
    )


@lowering("et_vk.apply_rotary_emb.default")
def apply_rotary_emb(ctx: Lowering, q: Tensor, k: Tensor, cosine: Tensor, sine: Tensor) -> None:
    """Turn pairs by tables [S, D/2] or [S, H, D/2]."""
    rows, heads, columns = q.shape[1], q.shape[-2], q.shape[-1] // 2
    if cosine.shape not in ((rows, columns), (rows, heads, columns)):
        raise InvalidProgram(f"a rotary table of {cosine.shape} does not fit queries of {q.shape}")
    _rotate(ctx, "pairs", q, k, cosine, sine, 0, heads if cosine.rank == 3 else 0)


@lowering("et_vk.apply_rotary_emb_hf.default")
def apply_rotary_emb_hf(ctx: Lowering, q: Tensor, k: Tensor, cosine: Tensor, sine: Tensor, start: IntLike = 0) -> None:
    """Turn halves by rows ``start .. start + S`` of tables [positions, R]."""
    ctx.guard(start, 0, cosine.shape[0] - q.shape[1], "the position in the rotary table")
    _rotate(ctx, "halves", q, k, cosine, sine, start, 0)


@lowering("et_vk.apply_rotary_emb_interleaved.default")
def apply_rotary_emb_interleaved(ctx: Lowering, x: Tensor, table: Tensor) -> None:
    """Turn pairs of x [B, N, C] by a table of N * C elements."""
    out = ctx.out(x.shape)
    period = x.shape[-2] * x.shape[-1]
    if table.numel != period:
        raise InvalidProgram(f"a rotary table of {table.shape} does not fit {x.shape}")
    if out.numel == 0:
        return
    ctx.dispatch(
        "rotary/interleaved.wgsl",
        grid=threads_1d(math.ceil(out.numel / 4)),
        bindings={"x": x, "angles": table, "out": out},
        params={"count": out.numel, "period": period},
        defines={"X": x.dtype.name, "TABLE": table.dtype.name},
    )
