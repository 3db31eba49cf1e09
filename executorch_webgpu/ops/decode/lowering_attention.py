"""Attention of one token, with the rotary embedding before it and the update of the caches."""

from __future__ import annotations

from dataclasses import dataclass

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import DeviceFacts, Tensor
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.symbols import IntLike, ceil_div

BATCH = 4  # positions that an invocation has in flight
PLAIN_SPLIT = 32  # positions of a workgroup without subgroup operations
MOST_HEADS = 8  # query heads of a key-value head
WORKGROUP_BYTES = 12 << 10  # for sums; the rest of WebGPU's 16 KiB is left for statistics


@dataclass(frozen=True)
class AttentionShape:
    """How attention is cut. A short cache takes one launch, a workgroup for each head; a longer one is split."""

    whole_threads: int  # of a workgroup that attends to the whole cache; 0: never
    whole_context: int  # up to which that is done
    split_threads: int  # of a workgroup that attends to ``split`` positions
    split: int
    together: int  # query heads of such a workgroup
    plain: bool = False  # no subgroup operations


def attention_shape(quads: int, group: int, facts: DeviceFacts) -> AttentionShape:
    """Return the cut for heads of ``quads`` times four elements, ``group`` query heads to a key-value head."""
    subgroup = facts.subgroup_size or 0
    if not quads <= subgroup <= min(facts.max_invocations, 128) or quads & (quads - 1):
        return AttentionShape(0, 0, max(quads, 128 if group <= 4 else 64), PLAIN_SPLIT, group, plain=True)
    if facts.software:
        # Invocations run in turn, and there are few processors to split for.
        return AttentionShape(max(64, subgroup), 4096, max(64, subgroup), 256, 1)
    whole = subgroup
    while whole * 2 <= min(512, facts.max_invocations):
        whole *= 2
    together = next(count for count in (4, 3, 2, 1) if group % count == 0)
    threads = max(128, subgroup)
    while threads > subgroup and together * (threads // subgroup) * quads * 16 > WORKGROUP_BYTES:
        threads //= 2
    return AttentionShape(whole, whole // 2, threads, max(32, BATCH * threads // quads), together)


@lowering("fused.rope_sdpa")
def rope_sdpa(
    ctx: Lowering,
    q: Tensor,
    k: Tensor,
    cosine: Tensor,
    sine: Tensor,
    row: list[IntLike],
    v: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    start: IntLike,
    _sequence: int,
    mask: None = None,
    dropout: float = 0.0,
    causal: bool = True,
    scale: float | None = None,
) -> bool:
    """Rotary embedding, cache update and attention of one token; False for anything else.

    ``cosine`` and ``sine`` are the rows to use, or with ``row`` whole tables of which this is the first one used.
    """
    batch, sequence, heads, size = q.shape
    kv_heads = k.shape[2]
    quads, group = size // 4, heads // kv_heads
    suits = (
        sequence == 1
        and batch == 1
        and size % 4 == 0
        and quads >= 4
        and 64 % quads == 0
        and heads % kv_heads == 0
        and group <= MOST_HEADS
        and mask is None
        and causal
        and k_cache.dtype == q.dtype
    )
    if not suits:
        return False
    context = k_cache.shape[1]
    ctx.guard(start, 0, context - 1, "the position")
    for used in row:
        ctx.guard(used, 0, cosine.shape[0] - 1, "the row of the rotary tables")
    out = ctx.out(q.shape)
    shape = attention_shape(quads, group, ctx.facts)
    max_splits = -(-context // shape.split)
    params = {
        "start": start,
        "kv_heads": kv_heads,
        "max_splits": max_splits,
        "angles": row[0] * (size // 2) if row else 0,
        "scale": scale if scale is not None else size**-0.5,
    }
    bindings = {"q": q, "k": k, "v": v, "cosine": cosine, "sine": sine, "k_cache": k_cache, "v_cache": v_cache}
    defines = {"T": q.dtype.name, "HEADS": str(group), "QUADS": str(quads)}
    if not shape.plain:
        defines |= {"BATCH": str(BATCH), "SUBGROUP": str(ctx.facts.subgroup_size)}
    # The kernels that a position has no use for get an empty grid.
    is_long: IntLike = 1
    if shape.whole_threads:
        is_long = 0 if shape.whole_context >= context else -((shape.whole_context - 1 - start) // context)
        ctx.dispatch(
            "decode/attention.wgsl",
            grid=(heads * (1 - is_long), 1, 1),
            bindings={**bindings, "out": out},
            params=params,
            defines={**defines, "THREADS": str(shape.whole_threads), "TOGETHER": "1", "SPLIT": ""},
        )
    if is_long == 0:
        return True
    partial = ctx.scratch((heads * max_splits * (quads + 1) * 4,))
    splits = ceil_div(start + 1, shape.split)
    ctx.dispatch(
        "decode/attention_plain.wgsl" if shape.plain else "decode/attention.wgsl",
        grid=(heads // shape.together * is_long, splits, 1),
        bindings={**bindings, "partial": partial},
        params=params,
        defines={
            **defines,
            "THREADS": str(shape.split_threads),
            "SPLIT": str(shape.split),
            **({} if shape.plain else {"TOGETHER": str(shape.together)}),
        },
    )
    ctx.dispatch(
        "decode/attention_combine.wgsl",
        grid=(heads * is_long, 1, 1),
        bindings={"partial": partial, "out": out},
        params={"splits": splits, "max_splits": max_splits},
        defines={"T": q.dtype.name, "QUADS": str(quads), "SLICES": str(max(1, 256 // quads))},
    )
    return True
