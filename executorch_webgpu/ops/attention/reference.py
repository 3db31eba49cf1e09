"""The meaning of attention: softmax(q k^T scale + mask) v, with and without a cache."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


def attend(q: Array, k: Array, v: Array, scale: float | None, mask: Array | None) -> Array:
    """Return attention for ``q`` [..., S, D], ``k`` and ``v`` [..., L, D]; ``mask`` broadcasts to [..., S, L]."""
    q, k, v = (np.asarray(x, np.float32) for x in (q, k, v))
    factor = np.float32(q.shape[-1] ** -0.5 if scale is None else scale)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        scores = (q @ np.swapaxes(k, -1, -2)) * factor
        if mask is not None:
            scores = scores + np.asarray(mask, np.float32)
        scores -= scores.max(-1, keepdims=True, initial=-np.inf)
        weights = np.exp(scores)
        weights /= weights.sum(-1, keepdims=True)
        return np.asarray(weights @ v)


def cached(q: Array, k_cache: Array, v_cache: Array, start: int, causal: bool, scale: float | None, mask: Any) -> Array:
    """Return attention of ``q`` [B, S, H, D] at position ``start`` over caches [B, context, KV, D].

    Causal attention sees the rows up to each query's own position, other attention the whole cache. Query head h reads
    cache head h // (H / KV).
    """
    rows, heads = q.shape[1], q.shape[2]
    length = start + rows if causal else k_cache.shape[1]
    kept: Array | None = None
    if causal:
        future = np.arange(length)[None, :] > (start + np.arange(rows))[:, None]
        kept = np.where(future, np.float32(-np.inf), np.float32(0))
    if mask is not None:
        given = np.asarray(mask, np.float32)[..., :rows, :length]
        kept = given if kept is None else given + kept
    out = np.empty(q.shape, np.float32)
    share = heads // k_cache.shape[2]
    for head in range(heads):
        k, v = (cache[:, :length, head // share] for cache in (k_cache, v_cache))
        out[:, :, head] = attend(q[:, :, head], k, v, scale, kept)
    return out


def write_rows(cache: Array, value: Array, start: int) -> None:
    """Write ``value`` [B, S, KV, D] into rows ``start ..`` of ``cache`` [B, context, KV, D] in place."""
    cache[:, start : start + value.shape[1]] = value


@reference("sdpa_with_kv_cache.default", writes=(3, 4))
def sdpa_with_kv_cache(
    out: Out,
    q: Array,
    k: Array,
    v: Array,
    k_cache: Array,
    v_cache: Array,
    start: int,
    sequence: int = 1,
    mask: Array | None = None,
    dropout: float = 0.0,
    causal: bool = True,
    scale: float | None = None,
) -> Array:
    """Write k and v into the caches at ``start``, then attend over rows ``0 .. start + S``."""
    write_rows(k_cache, k, start)
    write_rows(v_cache, v, start)
    return cached(q, k_cache[:, : start + q.shape[1]], v_cache[:, : start + q.shape[1]], start, causal, scale, mask)


@reference("update_cache.default", writes=(1,))
def update_cache(out: Out, value: Array, cache: Array, start: int) -> Array:
    """Write ``value`` [B, S, KV, D] into ``cache`` in place; the result is a placeholder."""
    write_rows(cache, value, start)
    return np.zeros(out.shape, out.dtype)


@reference("llama.custom_sdpa.default")
def custom_sdpa(
    out: Out,
    q: Array,
    k_cache: Array,
    v_cache: Array,
    start: int,
    mask: Array | None = None,
    dropout: float = 0.0,
    causal: bool = True,
    scale: float | None = None,
) -> Array:
    """Attend over the caches as they are."""
    return cached(q, k_cache, v_cache, start, causal, scale, mask)


@reference("et_vk.sdpa.default")
def sdpa(out: Out, q: Array, k: Array, v: Array, mask: Array | None = None, scale: float | None = None) -> Array:
    """Attend with ``q`` [..., S, D], ``k`` and ``v`` [..., L, D], no cache and no causal mask of its own."""
    return attend(q, k, v, scale, mask)
