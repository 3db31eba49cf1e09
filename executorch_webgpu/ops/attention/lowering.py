"""Lowerings of attention, with and without a KV cache."""

from __future__ import annotations

import math
from dataclasses import dataclass

from executorch_webgpu.errors import InvalidProgram, NotSupported
from executorch_webgpu.ops.attention.kernels import Attention, choose, split_keys, split_rows, tiled_columns
from executorch_webgpu.ops.broadcasting import contiguous_strides
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import Shape, lowering
from executorch_webgpu.ops.symbols import IntLike, ceil_div

Strides = tuple[int, int, int, int]


@dataclass(frozen=True)
class Keys:
    """What is attended to: ``length`` rows of k and v (``most`` at any time), strides of [batch, row, head]."""

    k: Tensor
    v: Tensor
    heads: int
    strides: Strides
    length: IntLike
    most: int


@dataclass(frozen=True)
class Queries:
    """The query and the output; strides of [batch, row, head]."""

    q: Tensor
    out: Tensor
    batches: int
    rows: int
    heads: int
    dim: int
    strides: Strides


def mask_strides(mask: Tensor, target: Shape) -> Strides:
    """Return strides that read ``mask`` as [batch, head, row, key] expanded to ``target``."""
    shape = (*([1] * (4 - mask.rank)), *mask.shape)
    if mask.rank > 4 or any(size not in (1, want) for size, want in zip(shape[:3], target[:3], strict=True)):
        raise InvalidProgram(f"an attention mask of {mask.shape} does not fit {target}")
    strides = contiguous_strides(shape)
    a, b, c, d = (0 if size == 1 else stride for size, stride in zip(shape, strides, strict=True))
    return a, b, c, d


def attend(
    ctx: Lowering,
    queries: Queries,
    keys: Keys,
    mask: Tensor | None,
    scale: float | None,
    start: IntLike | None,
) -> None:
    """Record attention; causal from position ``start``, or over all keys where ``start`` is None."""
    if queries.out.numel == 0:
        return
    if keys.most == 0:
        raise NotSupported("attention over no keys")
    if queries.heads % keys.heads:
        raise InvalidProgram(f"{queries.heads} query heads cannot share {keys.heads} key heads")
    if mask is not None and isinstance(keys.length, int) and mask.shape[-1] != 1 and mask.shape[-1] < keys.length:
        raise InvalidProgram(f"an attention mask of {mask.shape} is short of {keys.length} keys")
    shape = Attention(queries.rows, queries.heads, queries.heads // keys.heads, queries.dim)
    kernel = choose(shape, ctx.facts)
    keys_each = split_keys(shape.dim)
    splits = ceil_div(keys.length, keys_each)
    most_splits = math.ceil(keys.most / keys_each)
    target = (queries.batches, queries.heads, queries.rows, keys.most)
    params = {
        "count": queries.out.numel,
        "rows": shape.rows,
        "heads": shape.heads,
        "share": shape.share,
        "dim": shape.dim,
        "length": keys.length,
        "start": 0 if start is None else start,
        "splits": splits,
        "most_splits": most_splits,
        "scale": float(shape.dim**-0.5 if scale is None else scale),
        "q_strides": queries.strides,
        "k_strides": keys.strides,
        "mask_strides": (0, 0, 0, 0) if mask is None else mask_strides(mask, target),
    }
    defines = {
        "Q": queries.q.dtype.name,
        "KV": keys.k.dtype.name,
        "MASK": "" if mask is None else mask.dtype.name,
        "CAUSAL": "" if start is None else "1",
        "DIM": str(shape.dim),
    }
    bindings = {"query": queries.q, "keys": keys.k, "values": keys.v}
    if mask is not None:
        bindings["mask"] = mask
    if kernel == "split":
        key_heads = queries.batches * keys.heads
        all_rows = shape.rows * shape.share
        partial = ctx.scratch((key_heads * all_rows * most_splits, shape.dim))
        stats = ctx.scratch((key_heads * all_rows * most_splits, 2))
        rows_each = split_rows(shape)
        ctx.dispatch(
            "attention/split.wgsl",
            grid=(splits, key_heads, math.ceil(all_rows / rows_each)),
            bindings={**bindings, "partial": partial, "stats": stats},
            params=params,
            defines={**defines, "KEYS": str(keys_each), "ROWS": str(rows_each)},
        )
        ctx.dispatch(
            "attention/combine.wgsl",
            grid=(all_rows, key_heads, 1),
            bindings={"partial": partial, "stats": stats, "out": queries.out},
            params=params,
            defines={**defines, "MASK": "", "CAUSAL": ""},
        )
    elif kernel == "tiled":
        ctx.dispatch(
            "attention/tiled.wgsl",
            grid=(math.ceil(shape.rows / 64), shape.heads, queries.batches),
            bindings={**bindings, "out": queries.out},
            params=params,
            defines={**defines, "COLUMNS": str(tiled_columns(shape.dim))},
        )
    else:
        ctx.dispatch(
            "attention/plain.wgsl",
            grid=threads_1d(math.ceil(queries.out.numel / 4)),
            bindings={**bindings, "out": queries.out},
            params=params,
            defines={**defines, "ROWS_FIRST": "1" if queries.strides[1] > queries.strides[2] else ""},
        )


def write_rows(ctx: Lowering, pairs: list[tuple[Tensor, Tensor]], start: IntLike) -> None:
    """Record the copy of each value [B, S, KV, D] into rows ``start ..`` of its cache [B, context, KV, D]."""
    value, cache = pairs[0]
    for each, into in pairs:
        if each.shape[0] != into.shape[0] or each.shape[2:] != into.shape[2:] or each.dtype != into.dtype:
            raise InvalidProgram(f"{each.dtype} {each.shape} does not fit into a cache of {into.dtype} {into.shape}")
    ctx.guard(start, 0, cache.shape[1] - value.shape[1], "the position in the KV cache")
    if value.numel == 0:
        return
    row, rows = math.prod(value.shape[2:]), value.shape[1]
    per_word = 4 // value.dtype.itemsize
    halves = row % per_word != 0
    if halves and (per_word != 2 or cache.shape[0] != 1):
        raise NotSupported(f"a KV cache of {cache.dtype} with rows of {row} elements")
    words = rows * row // per_word + 1 if halves else rows * row // per_word
    bindings = {"value": value, "cache": cache}
    if len(pairs) == 2:
        bindings.update({"value_2": pairs[1][0], "cache_2": pairs[1][1]})
    ctx.dispatch(
        "attention/update_cache.wgsl",
        grid=threads_1d(words * value.shape[0]),
        bindings=bindings,
        params={
            "words": words,
            "batches": value.shape[0],
            "start": start,
            "row": row if halves else row // per_word,
            "rows": rows,
            "context": cache.shape[1],
        },
        defines={"PAIR": "1" if len(pairs) == 2 else "", "HALVES": "1" if halves else ""},
    )


def rows_first(q: Tensor, out: Tensor) -> Queries:
    """Return queries laid out as [batch, row, head, dim]."""
    batches, rows, heads, dim = q.shape
    return Queries(q, out, batches, rows, heads, dim, (rows * heads * dim, heads * dim, dim, 0))


def cache_keys(k: Tensor, v: Tensor, length: IntLike) -> Keys:
    """Return ``length`` rows of caches laid out as [batch, context, head, dim]."""
    _, context, heads, dim = k.shape
    return Keys(k, v, heads, (context * heads * dim, heads * dim, dim, 0), length, context)


@lowering("sdpa_with_kv_cache.default")
def sdpa_with_kv_cache(
    ctx: Lowering,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    start: IntLike,
    sequence: int = 1,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    causal: bool = True,
    scale: float | None = None,
) -> None:
    """Write k and v into the caches at ``start``, then attend over rows ``0 .. start + S``."""
    out = ctx.out(q.shape)
    write_rows(ctx, [(k, k_cache), (v, v_cache)], start)
    keys = cache_keys(k_cache, v_cache, start + k.shape[1])
    attend(ctx, rows_first(q, out), keys, mask, scale, start if causal else None)


@lowering("update_cache.default")
def update_cache(ctx: Lowering, value: Tensor, cache: Tensor, start: IntLike) -> None:
    """Write ``value`` into ``cache`` at ``start``; the result is a placeholder that nothing reads."""
    ctx.out(ctx.outs[0].shape)
    write_rows(ctx, [(value, cache)], start)


@lowering("llama.custom_sdpa.default")
def custom_sdpa(
    ctx: Lowering,
    q: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    start: IntLike,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    causal: bool = True,
    scale: float | None = None,
) -> None:
    """Attend over the caches as they are: causal up to ``start + S``, else over all of them."""
    out = ctx.out(q.shape)
    ctx.guard(start, 0, k_cache.shape[1] - q.shape[1], "the position in the KV cache")
    length = start + q.shape[1] if causal else k_cache.shape[1]
    attend(ctx, rows_first(q, out), cache_keys(k_cache, v_cache, length), mask, scale, start if causal else None)


@lowering("et_vk.sdpa.default")
def sdpa(
    ctx: Lowering, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> None:
    """Attend with q [..., S, D], k and v [..., L, D]."""
    out = ctx.out(q.shape)
    rows, dim = q.shape[-2:]
    heads = q.shape[-3] if q.rank > 2 else 1
    key_heads = k.shape[-3] if k.rank > 2 else 1
    length = k.shape[-2]
    batches = math.prod(q.shape[:-3])
    if math.prod(k.shape[:-3]) != batches or v.shape != k.shape:
        raise InvalidProgram(f"queries of {q.shape}, keys of {k.shape} and values of {v.shape} do not go together")
    queries = Queries(q, out, batches, rows, heads, dim, (heads * rows * dim, dim, rows * dim, 0))
    keys = Keys(k, v, key_heads, (key_heads * length * dim, dim, length * dim, 0), length, length)
    attend(ctx, queries, keys, mask, scale, None)
