"""A decoder block with 4-bit weights as the exporter writes it, with random weights."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.format.vulkan_graph import SymInt, VulkanGraph
from tests.graph.builder import GraphBuilder


def decoder_block(
    *,
    dim: int,
    heads: int,
    kv_heads: int,
    ffn: int,
    context: int,
    group: int = 32,
    vocabulary: int = 0,
    rows_too: bool = False,
    seed: int = 0,
) -> VulkanGraph:
    """Return ``forward(x [1, S, dim], input_pos [1])`` of one block; with ``vocabulary`` also the output layer.

    ``rows_too`` adds twice the rows of the cosine table as an output.
    """
    random = np.random.default_rng(seed)
    g = GraphBuilder()
    bound = context - 1
    size = dim // heads
    x = g.input((1, bound, dim))
    position = g.input((1,), "int32")

    def weight(rows: int, columns: int) -> tuple[int, int]:
        packed = random.integers(0, 256, (rows, columns // 2), dtype=np.uint8)
        scales = (random.uniform(0.5, 1.5, (columns // group, rows)) / (4 * columns**0.5)).astype(np.float32)
        return g.constant(packed), g.constant(scales)

    def linear(value: int, rows: int, columns: int) -> int:
        w, s = weight(rows, columns)
        return g.call("et_vk.linear_q4gsw.default", (value,), (w,), (s,), group, None, out=(1, bound, rows))

    def norm(value: int) -> int:
        gamma = g.constant(random.uniform(0.9, 1.1, dim).astype(np.float32))
        return g.call("et_vk.rms_norm.default", (value,), (gamma,), 1e-5, out=(1, bound, dim))

    length = g.call("sym_size.int", (x,), 1, out=SymInt(0))
    start = g.call("et_vk.select_as_symint.default", (position,), 0, 0, out=SymInt(0))
    end = g.call("add", (start,), (length,), out=SymInt(0))
    angles = np.outer(np.arange(context), 10000.0 ** (-np.arange(0, size, 2) / size)).astype(np.float32)
    tables = [
        g.call("aten.slice_copy.Tensor", (g.constant(t),), 0, (start,), (end,), 1, out=(bound, size // 2))
        for t in (np.cos(angles), np.sin(angles))
    ]
    y = norm(x)

    def split(value: int, count: int) -> int:
        return g.call("aten.view_copy.default", (value,), [1, -1, count, size], out=(1, bound, count, size))

    q = split(linear(y, dim, dim), heads)
    k = split(linear(y, kv_heads * size, dim), kv_heads)
    v = split(linear(y, kv_heads * size, dim), kv_heads)
    q, k = g.call(
        "et_vk.apply_rotary_emb.default",
        (q,),
        (k,),
        (tables[0],),
        (tables[1],),
        out=[(1, bound, heads, size), (1, bound, kv_heads, size)],
    )
    caches = [g.constant(np.zeros((1, context, kv_heads, size), np.float32)) for _ in range(2)]
    attended = g.call(
        "sdpa_with_kv_cache.default",
        (q,),
        (k,),
        (v,),
        (caches[0],),
        (caches[1],),
        (start,),
        1,
        None,
        0,
        True,
        None,
        out=(1, bound, heads, size),
    )
    attended = g.call("aten.view_copy.default", (attended,), [1, -1, dim], out=(1, bound, dim))
    x = g.call("aten.add.Tensor", (x,), (linear(attended, dim, dim),), 1, out=(1, bound, dim))
    y = norm(x)
    gate, up = linear(y, ffn, dim), linear(y, ffn, dim)
    sigmoid = g.call("aten.sigmoid.default", (gate,), out=(1, bound, ffn))
    silu = g.call("aten.mul.Tensor", (gate,), (sigmoid,), out=(1, bound, ffn))
    hidden = g.call("aten.mul.Tensor", (silu,), (up,), out=(1, bound, ffn))
    x = g.call("aten.add.Tensor", (x,), (linear(hidden, dim, ffn),), 1, out=(1, bound, dim))
    if vocabulary:
        last = g.call("aten.select_copy.int", (x,), 1, -1, out=(1, dim))
        gamma = g.constant(random.uniform(0.9, 1.1, dim).astype(np.float32))
        y = g.call("et_vk.rms_norm.default", (last,), (gamma,), 1e-5, out=(1, dim))
        w, s = weight(vocabulary, dim)
        x = g.call("et_vk.linear_q4gsw.default", (y,), (w,), (s,), group, None, out=(1, vocabulary))
    if rows_too:
        two = g.constant(np.full((1,), 2, np.float32))
        return g.build(x, g.call("aten.mul.Tensor", (tables[0],), (two,), out=(bound, size // 2)))
    return g.build(x)
