"""The meaning of rotary position embeddings: pairs of channels turned by a position's angle."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


def turn_pairs(x: Array, cos: Array, sin: Array) -> Array:
    """Turn the pairs (2i, 2i + 1) of the last dim; ``cos`` and ``sin`` broadcast over ``x``'s pairs."""
    x, cos, sin = (np.asarray(a, np.float32) for a in (x, cos, sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.empty(x.shape, np.float32)
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out


def turn_halves(x: Array, cos: Array, sin: Array) -> Array:
    """Turn the pairs (i, i + R/2) of the first R channels; ``cos`` and ``sin`` are [S, R], ``x`` [B, S, H, D]."""
    x, cos, sin = (np.asarray(a, np.float32) for a in (x, cos, sin))
    rotary = cos.shape[-1]
    half = rotary // 2
    turned = np.concatenate([-x[..., half:rotary], x[..., :half]], -1)
    out = x.copy()
    out[..., :rotary] = x[..., :rotary] * cos[:, None] + turned * sin[:, None]
    return out


@reference("et_vk.apply_rotary_emb.default", outputs=2)
def apply_rotary_emb(out: tuple[Out, Out], q: Array, k: Array, cos: Array, sin: Array) -> tuple[Array, Array]:
    """Turn q [B, S, H, D] and k [B, S, KV, D] by tables [S, D/2] or [S, H, D/2]."""
    if cos.ndim == 2:
        cos, sin = cos[:, None], sin[:, None]
    return turn_pairs(q, cos, sin), turn_pairs(k, cos, sin)


@reference("et_vk.apply_rotary_emb_hf.default", outputs=2)
def apply_rotary_emb_hf(
    out: tuple[Out, Out], q: Array, k: Array, cos: Array, sin: Array, start: int = 0
) -> tuple[Array, Array]:
    """Turn halves of q [B, S, H, D] and k by rows ``start .. start + S`` of tables [positions, R]; R <= D."""
    rows = slice(start, start + q.shape[1])
    return turn_halves(q, cos[rows], sin[rows]), turn_halves(k, cos[rows], sin[rows])


@reference("et_vk.apply_rotary_emb_interleaved.default")
def apply_rotary_emb_interleaved(out: Out, x: Array, table: Array) -> Array:
    """Turn x [B, N, C] by a table of N * C elements that holds (cos, sin) pairs."""
    pairs = np.reshape(table, (x.shape[-2], x.shape[-1] // 2, 2))
    return turn_pairs(x, pairs[..., 0], pairs[..., 1])
