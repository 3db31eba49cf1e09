"""Writes a GGUF file of a Llama with random Q4_0 weights: the shape counts, not what it says."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

F32, Q4_0 = 0, 2  # ggml types
U32, FLOAT32, STRING = 4, 6, 8  # GGUF value types
ALIGNMENT = 32


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama; the defaults are Llama 3.2 1B."""

    dim: int = 2048
    ffn: int = 8192
    layers: int = 16
    heads: int = 32
    kv_heads: int = 8
    vocabulary: int = 128256
    context: int = 4096


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def _pair(key: str, value: Any) -> bytes:
    match value:
        case str():
            return _text(key) + struct.pack("<I", STRING) + _text(value)
        case float():
            return _text(key) + struct.pack("<If", FLOAT32, value)
        case _:
            return _text(key) + struct.pack("<II", U32, value)


def _blocks(random: np.random.Generator, rows: int, columns: int) -> bytes:
    """Return rows of Q4_0: 32 nibbles and a half as scale, so that outputs have about unit deviation."""
    blocks = random.integers(0, 256, (rows * columns // 32, 18), dtype=np.uint8)
    blocks[:, :2] = np.frombuffer(np.float16(1 / (4.6 * columns**0.5)).tobytes(), np.uint8)
    return blocks.tobytes()


def write_llama(path: Path, shape: Shape, seed: int = 0) -> None:
    """Write the file: tied embeddings, no vocabulary, all matrices Q4_0."""
    random = np.random.default_rng(seed)
    head = shape.dim // shape.heads
    pairs = {
        "general.architecture": "llama",
        "general.file_type": 2,
        "llama.context_length": shape.context,
        "llama.embedding_length": shape.dim,
        "llama.block_count": shape.layers,
        "llama.feed_forward_length": shape.ffn,
        "llama.attention.head_count": shape.heads,
        "llama.attention.head_count_kv": shape.kv_heads,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": head,
        "llama.rope.freq_base": 500000.0,
        "llama.vocab_size": shape.vocabulary,
        "tokenizer.ggml.model": "no_vocab",
    }
    tensors = [("token_embd.weight", shape.vocabulary, shape.dim), ("output_norm.weight", 0, shape.dim)]
    for layer in range(shape.layers):
        kv = head * shape.kv_heads
        tensors += [
            (f"blk.{layer}.{name}.weight", rows, columns)
            for name, rows, columns in (
                ("attn_norm", 0, shape.dim), ("attn_q", shape.dim, shape.dim), ("attn_k", kv, shape.dim),
                ("attn_v", kv, shape.dim), ("attn_output", shape.dim, shape.dim), ("ffn_norm", 0, shape.dim),
                ("ffn_gate", shape.ffn, shape.dim), ("ffn_up", shape.ffn, shape.dim),
                ("ffn_down", shape.dim, shape.ffn),
            )
        ]  # fmt: skip
    infos, offset = b"", 0
    for name, rows, columns in tensors:
        dims = (columns, rows) if rows else (columns,)
        infos += _text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
        infos += struct.pack("<IQ", Q4_0 if rows else F32, offset)
        size = rows * columns // 32 * 18 if rows else 4 * columns
        offset += -(-size // ALIGNMENT) * ALIGNMENT
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    start += b"".join(_pair(key, value) for key, value in pairs.items()) + infos
    with path.open("wb") as file:
        file.write(start.ljust(-(-len(start) // ALIGNMENT) * ALIGNMENT, b"\0"))
        for _, rows, columns in tensors:
            data = _blocks(random, rows, columns) if rows else np.ones(columns, np.float32).tobytes()
            file.write(data.ljust(-(-len(data) // ALIGNMENT) * ALIGNMENT, b"\0"))
