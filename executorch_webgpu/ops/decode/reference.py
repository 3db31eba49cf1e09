"""The meaning of the fused operators: their members, one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.attention.reference import sdpa_with_kv_cache
from executorch_webgpu.ops.linear4.reference import linear_q4gsw
from executorch_webgpu.ops.registry import Out, reference
from executorch_webgpu.ops.rms_norm.reference import rms_norm
from executorch_webgpu.ops.rotary.reference import apply_rotary_emb

Array = np.ndarray[Any, np.dtype[Any]]


def _normed(out: Any, x: Array, gamma: Array | list[Array], eps: float | list[float]) -> Array:
    """Return ``rms_norm(x)``, or x itself where gamma is an empty list."""
    return x if isinstance(gamma, list) or isinstance(eps, list) else rms_norm(out, x, gamma, eps)


@reference("fused.norm_linears_q4", outputs=-1)
def norm_linears(
    out: tuple[Out, ...], x: Array, gamma: Array, eps: float, weights: list[Array], scales: list[Array], group: int
) -> list[Array]:
    """Products of ``rms_norm(x)`` with each 4-bit weight."""
    y = _normed(out, x, gamma, eps)
    return [linear_q4gsw(o, y, w, s, group) for o, w, s in zip(out, weights, scales, strict=True)]


@reference("fused.select_norm_linear_q4")
def select_norm_linear(
    out: Out,
    x: Array,
    dim: int,
    index: int,
    gamma: Array,
    eps: float,
    weights: list[Array],
    scales: list[Array],
    group: int,
) -> Array:
    """The product of ``rms_norm(select(x, dim, index))`` with a 4-bit weight."""
    return norm_linears((out,), x.take(index, dim), gamma, eps, weights, scales, group)[0]


@reference("fused.gate_up_q4")
def gate_up(
    out: Out,
    x: Array,
    gamma: Array | list[Array],
    eps: float | list[float],
    weights: list[Array],
    scales: list[Array],
    group: int,
) -> Array:
    """``silu(gate(x)) * up(x)``, x normalised first if ``gamma`` is given."""
    y = _normed(out, x, gamma, eps)
    gate, up = (linear_q4gsw(out, y, w, s, group) for w, s in zip(weights, scales, strict=True))
    with np.errstate(over="ignore"):
        return np.asarray(gate / (1 + np.exp(-gate)) * up)


@reference("fused.linear_add_q4")
def linear_add(out: Out, x: Array, residual: Array, weight: Array, scales: Array, group: int) -> Array:
    """``residual + linear(x)``."""
    return np.asarray(residual + linear_q4gsw(out, x, weight, scales, group))


@reference("fused.rope_sdpa", writes=(6, 7))
def rope_sdpa(
    out: Out,
    q: Array,
    k: Array,
    cosine: Array,
    sine: Array,
    row: list[int],
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
    """Rotary embedding of q and k by the tables' rows from ``row`` on, then ``sdpa_with_kv_cache``."""
    first = row[0] if row else 0
    cosine, sine = (table[first : first + q.shape[1]] for table in (cosine, sine))
    q, k = apply_rotary_emb((out, out), q, k, cosine, sine)
    return sdpa_with_kv_cache(out, q, k, v, k_cache, v_cache, start, sequence, mask, dropout, causal, scale)
