"""Golden cases of attention, KV caches, rotary embeddings and RMS norm."""

from __future__ import annotations

import math

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401
import torch
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401
from framework import Case, Dim, values, write_family
from torch import nn

et_vk, llama = torch.ops.et_vk, torch.ops.llama
S = Dim("s", min=2, max=11)
SDPA, CACHED, UPDATE = "et_vk.sdpa.default", "sdpa_with_kv_cache.default", "update_cache.default"
ROPE, ROPE_HF = "et_vk.apply_rotary_emb.default", "et_vk.apply_rotary_emb_hf.default"


class Cached(nn.Module):
    """Attention with a KV cache of its own; the position comes as a tensor."""

    def __init__(self, context: int, heads: int, head_dim: int) -> None:
        super().__init__()
        shape = (1, context, heads, head_dim)
        self.register_buffer("k_cache", torch.zeros(shape), persistent=False)
        self.register_buffer("v_cache", torch.zeros(shape), persistent=False)

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        start = position[0].item()
        torch._check_is_size(start)
        torch._check(start <= self.k_cache.shape[1] - 1)
        llama.update_cache(k, self.k_cache, start)
        llama.update_cache(v, self.v_cache, start)
        return llama.custom_sdpa(q, self.k_cache, self.v_cache, start, None, 0, True)


def step(rows: int, start: int, heads: int, key_heads: int, dim: int) -> tuple[torch.Tensor, ...]:
    """One call of a Cached module."""
    seed = start + 1
    return (
        values(1, rows, heads, dim, seed=seed),
        values(1, rows, key_heads, dim, seed=seed + 100),
        values(1, rows, key_heads, dim, seed=seed + 200),
        torch.tensor([start]),
    )


class Update(nn.Module):
    """update_cache alone; the cache is read at once."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 17, 3, 4), persistent=False)
        self.start = start

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        llama.update_cache(value, self.cache, self.start)
        return self.cache * 2.0


def rope_hf(q, k, cos, sin, position):
    """Rotate halves from a position that comes as a tensor."""
    start = position[0].item()
    torch._check_is_size(start)
    torch._check(start <= 20)
    return et_vk.apply_rotary_emb_hf(q, k, cos, sin, start)


def rotated(rows: int, start: int) -> tuple[torch.Tensor, ...]:
    """One call of rope_hf: of ten channels six are rotated."""
    tables = values(31, 6), values(31, 6, seed=1)
    return values(1, rows, 3, 10), values(1, rows, 2, 10), *tables, torch.tensor([start])


def hidden(rows: torch.Tensor, last: int) -> torch.Tensor:
    """A mask of -inf that hides some keys, and every key of row ``last``."""
    rows = torch.where(rows > 0.5, -math.inf, rows)
    rows[..., last, :] = -math.inf
    return rows


QKV = tuple(values(2, 3, 7, 20, seed=i) for i in range(3))
CASES = [
    Case("sdpa", lambda q, k, v: et_vk.sdpa(q, k, v, None, None), QKV, operators=(SDPA,)),
    Case(
        "sdpa_mask_scale",
        lambda q, k, v, mask: et_vk.sdpa(q, k, v, mask, 0.3),
        (values(1, 3, 5, 12), values(1, 3, 13, 12), values(1, 3, 13, 12, seed=1), hidden(values(1, 1, 5, 13), 2)),
        operators=(SDPA,),
    ),
    Case(
        "sdpa_mask_per_head",
        lambda q, k, v, mask: et_vk.sdpa(q, k, v, mask, None),
        (values(1, 2, 41, 28), values(1, 2, 37, 28), values(1, 2, 37, 28, seed=1), values(1, 2, 41, 37)),
        operators=(SDPA,),
    ),
    Case("sdpa_odd_dim", lambda q, k, v: et_vk.sdpa(q, k, v, None, None), (values(1, 2, 5, 7),) * 3, operators=(SDPA,)),
    Case(
        "sdpa_one_row",
        lambda q, k, v: et_vk.sdpa(q, k, v, None, None),
        (values(1, 2, 1, 64), values(1, 2, 37, 64), values(1, 2, 37, 64, seed=1)),
        operators=(SDPA,),
    ),
    Case("sdpa_half", lambda q, k, v: et_vk.sdpa(q, k, v, None, None), QKV, operators=(SDPA,), force_fp16=True),
    Case(
        "sdpa_dynamic",
        lambda q, k, v: et_vk.sdpa(q, k, v, None, None),
        tuple(values(1, 2, 11, 8, seed=i) for i in range(3)),
        operators=(SDPA,),
        dynamic_shapes=({2: S}, {2: S}, {2: S}),
        extra_inputs=[tuple(values(1, 2, n, 8, seed=i) for i in range(3)) for n in (5, 2)],
    ),
    Case(
        "cached_decode",
        Cached(37, 2, 16),
        step(1, 0, 4, 2, 16),
        operators=(CACHED,),
        extra_inputs=[step(1, n, 4, 2, 16) for n in range(1, 4)],
        stateful=True,
    ),
    Case(
        "cached_prompt",
        Cached(29, 1, 8),
        step(11, 0, 3, 1, 8),
        operators=(CACHED,),
        dynamic_shapes=({1: S}, {1: S}, {1: S}, None),
        extra_inputs=[step(n, at, 3, 1, 8) for n, at in ((2, 11), (5, 13), (11, 18))],
        stateful=True,
    ),
    Case(
        "cached_wide",
        Cached(83, 2, 128),
        step(2, 70, 6, 2, 128),
        operators=(CACHED,),
        extra_inputs=[step(2, 81, 6, 2, 128)],
        stateful=True,
    ),
    Case(
        "update_cache",
        Update(3),
        (values(1, 11, 3, 4),),
        operators=(UPDATE,),
        dynamic_shapes=({1: S},),
        extra_inputs=[(values(1, n, 3, 4, seed=n),) for n in (5, 2)],
        stateful=True,
    ),
    Case(
        "rope",
        et_vk.apply_rotary_emb,
        (values(1, 11, 3, 10), values(1, 11, 1, 10, seed=1), values(11, 5), values(11, 5, seed=1)),
        operators=(ROPE,),
        dynamic_shapes=({1: S}, {1: S}, {0: S}, {0: S}),
        extra_inputs=[(values(1, 3, 3, 10), values(1, 3, 1, 10, seed=1), values(3, 5), values(3, 5, seed=1))],
    ),
    Case(
        "rope_half",
        et_vk.apply_rotary_emb,
        (values(1, 3, 3, 10), values(1, 3, 1, 10, seed=1), values(3, 5), values(3, 5, seed=1)),
        operators=(ROPE,),
        force_fp16=True,
    ),
    Case(
        "rope_hf",
        rope_hf,
        rotated(11, 0),
        operators=(ROPE_HF,),
        dynamic_shapes=({1: S}, {1: S}, None, None, None),
        extra_inputs=[rotated(n, at) for n, at in ((3, 5), (2, 20))],
    ),
    Case(
        "rope_interleaved",
        et_vk.apply_rotary_emb_interleaved,
        (values(3, 11, 14), values(1, 11, 7, 2)),
        operators=("et_vk.apply_rotary_emb_interleaved.default",),
        dynamic_shapes=({1: S}, {1: S}),
        extra_inputs=[(values(3, n, 14), values(1, n, 7, 2)) for n in (5, 2)],
    ),
    Case(
        "rms_norm",
        lambda x, y, z, w: (et_vk.rms_norm(x, w, 1e-5), et_vk.rms_norm(y, w, 1e-6), et_vk.rms_norm(z, w, 0.5)),
        (values(3, 37), values(2, 3, 1, 37), values(37) * 1e3, values(37, seed=1)),
        operators=("et_vk.rms_norm.default",),
    ),
    Case(
        "rms_norm_dynamic",
        lambda x, w: et_vk.rms_norm(x, w, 1e-5),
        (values(1, 11, 44), values(44, seed=1)),
        operators=("et_vk.rms_norm.default",),
        dynamic_shapes=({1: S}, None),
        extra_inputs=[(values(1, n, 44), values(44, seed=1)) for n in (3, 2)],
    ),
    Case(
        "rms_norm_half",
        lambda x, y, w, u: (et_vk.rms_norm(x, w, 1e-5), et_vk.rms_norm(y, u, 1e-5)),
        (values(3, 7), values(3, 8), values(7, seed=1), values(8, seed=1)),
        operators=("et_vk.rms_norm.default",),
        force_fp16=True,
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
