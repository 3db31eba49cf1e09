"""Exports tiny language models in every calling convention, with the greedy tokens that eager PyTorch draws.

Needs torch and executorch; the tests that read the results need neither. Writes ``tests/fixtures/llm/<name>.pte`` and
``tests/fixtures/llm/golden.json``. Run ``python tests/export/llm_fixtures.py [NAME...]``.

All models share their weights (random, so the text is nonsense) and differ in how they are called:

static          forward(tokens [1, 1], input_pos [1]), caches in the delegate, last logits
dynamic         forward(tokens [1, 1..15], input_pos [1]), the same; a prompt of more than 15 tokens needs several calls
every_row       as dynamic, logits of all positions [1, S, V]
number          forward(tokens [1, 1..15], input_pos []), a 0-d position; no metadata but the vocabulary's size
vector          forward(tokens [1, 1..15], cache_position [1..15])
two_methods     prefill(tokens [1, 1..15], input_pos [1]) and decode(tokens [1, 1], input_pos [1]), each with caches of
                its own inside its delegate
shared_cache    prefill(tokens [1, 8], positions [8]) and decode(tokens [1, 1], positions [1]) with one cache between
                them in the plan's memory; nothing is delegated
no_cache        forward(tokens [1, 1..32]) -> logits of all positions
no_cache_fixed  forward(tokens [1, 16]) -> logits of all positions
"""

from __future__ import annotations

import functools
import json
import logging
import sys
from pathlib import Path
from typing import Any

import executorch.backends.vulkan.patterns  # noqa: F401
import numpy as np
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.patterns.pattern_registry import fusable_patterns
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.extension.llm.custom_ops import custom_ops  # noqa: F401 - registers llama::custom_sdpa
from torch import nn
from torch.export import Dim

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "llm"
VOCABULARY, WIDTH, HEADS, KV_HEADS, LAYERS, CONTEXT, BOUND = 320, 16, 2, 1, 2, 48, 15
HEAD = WIDTH // HEADS
BOS, EOS = 1, 2
# Chosen for clear leads of each greedy token over the next; the second one is longer than a call's bound.
PROMPTS = [
    [BOS, 91, 9, 85],
    [
        BOS,
        178,
        125,
        220,
        124,
        231,
        273,
        217,
        77,
        119,
        232,
        139,
        42,
        168,
        253,
        117,
        226,
        262,
        265,
        182,
        211,
        122,
        100,
        217,
    ],
    [18],
]
STEPS = 16

torch.set_num_threads(1)
logging.disable(logging.INFO)
for _entry in fusable_patterns.values():
    # The exporter traces its pattern graphs again for every program: 7 seconds each time.
    if _entry.get_graphs_fn is not None:
        _entry.get_graphs_fn = functools.cache(_entry.get_graphs_fn)


class Attention(nn.Module):
    """Grouped-query attention in three ways: no cache, a cache of the custom operators, a cache of plain operators."""

    def __init__(self, cache: str) -> None:
        super().__init__()
        self.wq = nn.Linear(WIDTH, WIDTH, bias=False)
        self.wk = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.wv = nn.Linear(WIDTH, KV_HEADS * HEAD, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)
        self.cache = cache
        if cache != "none":
            self.register_buffer("k_cache", torch.zeros(1, CONTEXT, KV_HEADS, HEAD))
            self.register_buffer("v_cache", torch.zeros(1, CONTEXT, KV_HEADS, HEAD))

    def forward(self, x: torch.Tensor, start: Any, positions: torch.Tensor) -> torch.Tensor:
        length = x.shape[1]
        q = self.wq(x).view(1, length, HEADS, HEAD)
        k = self.wk(x).view(1, length, KV_HEADS, HEAD)
        v = self.wv(x).view(1, length, KV_HEADS, HEAD)
        if self.cache == "custom":
            torch.ops.llama.update_cache(k, self.k_cache, start)
            torch.ops.llama.update_cache(v, self.v_cache, start)
            y = torch.ops.llama.custom_sdpa(q, self.k_cache, self.v_cache, start, None, 0, True)
            return self.wo(y.view(1, length, WIDTH))
        if self.cache == "plain":
            self.k_cache[:, positions] = k
            self.v_cache[:, positions] = v
            k, v = self.k_cache, self.v_cache
            mask = torch.arange(CONTEXT)[None, :] <= positions[:, None]
        else:
            mask = torch.ones(length, length, dtype=torch.bool).tril()
        k = k.repeat_interleave(HEADS // KV_HEADS, 2).transpose(1, 2)
        v = v.repeat_interleave(HEADS // KV_HEADS, 2).transpose(1, 2)
        scores = q.transpose(1, 2) @ k.transpose(2, 3) * HEAD**-0.5
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.wo((weights @ v).transpose(1, 2).reshape(1, length, WIDTH))


class Norm(nn.Module):
    """RMS norm, written so that the exporter recognises it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight


class Model(nn.Module):
    """A decoder with a tied output layer; the causal mask is all that tells positions apart."""

    def __init__(self, cache: str, every_row: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.attention = nn.ModuleList(Attention(cache) for _ in range(LAYERS))
        self.norms = nn.ModuleList(Norm() for _ in range(2 * LAYERS + 1))
        self.up = nn.ModuleList(nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(LAYERS))
        self.down = nn.ModuleList(nn.Linear(2 * WIDTH, WIDTH, bias=False) for _ in range(LAYERS))
        self.every_row = every_row

    def run(self, tokens: torch.Tensor, start: Any, positions: Any) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in range(LAYERS):
            x = x + self.attention[layer](self.norms[2 * layer](x), start, positions)
            x = x + self.down[layer](torch.nn.functional.silu(self.up[layer](self.norms[2 * layer + 1](x))))
        x = self.norms[-1](x if self.every_row else x[:, -1])
        return torch.nn.functional.linear(x, self.embedding.weight)


class ByStart(Model):
    """Called with the position of the first token, in a tensor of rank 0 or 1, or with each token's position."""

    def forward(self, tokens: torch.Tensor, input_pos: torch.Tensor) -> torch.Tensor:
        start = (input_pos if input_pos.dim() == 0 else input_pos[0]).item()
        torch._check_is_size(start)
        torch._check(start < CONTEXT)
        return self.run(tokens, start, None)


class ByPositions(Model):
    """Called with each token's position; plain operators."""

    def forward(self, tokens: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return self.run(tokens, None, positions)


class Whole(Model):
    """Called with the whole text."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.run(tokens, None, None)


def make(kind: type[Model], cache: str, every_row: bool = False) -> Model:
    """Return a model with the shared weights."""
    model = kind(cache, every_row)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = 0.5 if parameter.shape[0] == VOCABULARY else parameter.shape[-1] ** -0.5
            noise = torch.randn(parameter.shape, generator=generator) * scale
            parameter.copy_(1 + 0.1 * noise if parameter.dim() == 1 else noise)
    return model.eval().requires_grad_(False)


def lower(methods: dict[str, Any], constants: dict[str, Any], delegate: bool = True, shared: bool = False) -> bytes:
    """Return the program with these exported methods."""
    manager = to_edge_transform_and_lower(
        methods,
        partitioner={name: [VulkanPartitioner()] for name in methods} if delegate else None,
        constant_methods=constants,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    planning = MemoryPlanningPass(share_mutable_buffers=shared)
    return manager.to_executorch(ExecutorchBackendConfig(memory_planning_pass=planning)).buffer


def export(model: Model, *inputs: torch.Tensor, dynamic: Any = None) -> Any:
    """Export one method."""
    return torch.export.export(model, inputs, dynamic_shapes=dynamic, strict=False)


def ids(count: int) -> torch.Tensor:
    return torch.arange(3, 3 + count)[None]


METADATA = {
    "get_bos_id": BOS,
    "get_eos_ids": [EOS, 0],
    "get_vocab_size": VOCABULARY,
    "get_max_seq_len": CONTEXT,
    "get_max_context_len": CONTEXT,
    "use_kv_cache": True,
    "use_sdpa_with_kv_cache": True,
    "enable_dynamic_shape": True,
}
LENGTH = Dim("length", min=1, max=BOUND)
ONE = torch.tensor([3])


def static() -> bytes:
    metadata = {**METADATA, "enable_dynamic_shape": False}
    return lower({"forward": export(make(ByStart, "custom"), ids(1), ONE)}, metadata)


def dynamic() -> bytes:
    program = export(make(ByStart, "custom"), ids(7), ONE, dynamic=({1: LENGTH}, None))
    return lower({"forward": program}, METADATA)


def every_row() -> bytes:
    program = export(make(ByStart, "custom", every_row=True), ids(7), ONE, dynamic=({1: LENGTH}, None))
    return lower({"forward": program}, METADATA)


def number() -> bytes:
    program = export(make(ByStart, "custom"), ids(7), torch.tensor(3), dynamic=({1: LENGTH}, None))
    return lower({"forward": program}, {"get_vocab_size": VOCABULARY})


def vector() -> bytes:
    program = export(make(ByStart, "custom"), ids(7), torch.arange(3, 10), dynamic=({1: LENGTH}, {0: LENGTH}))
    return lower({"forward": program}, METADATA)


def two_methods() -> bytes:
    model = make(ByStart, "custom")
    prefill = export(model, ids(7), ONE, dynamic=({1: LENGTH}, None))
    return lower({"prefill": prefill, "decode": export(model, ids(1), ONE)}, METADATA)


def shared_cache() -> bytes:
    model = make(ByPositions, "plain", every_row=True)
    methods = {"prefill": export(model, ids(8), torch.arange(3, 11)), "decode": export(model, ids(1), ONE)}
    return lower(methods, {**METADATA, "use_sdpa_with_kv_cache": False}, delegate=False, shared=True)


def no_cache() -> bytes:
    program = export(make(Whole, "none", every_row=True), ids(7), dynamic=({1: Dim("length", min=1, max=32)},))
    return lower({"forward": program}, {**METADATA, "use_kv_cache": False, "use_sdpa_with_kv_cache": False})


def no_cache_fixed() -> bytes:
    metadata = {"get_vocab_size": VOCABULARY, "use_kv_cache": False}
    return lower({"forward": export(make(Whole, "none", every_row=True), ids(16))}, metadata)


CASES = [static, dynamic, every_row, number, vector, two_methods, shared_cache, no_cache, no_cache_fixed]


def golden() -> list[dict[str, Any]]:
    """Return for each prompt the greedy tokens, the smallest lead of a token over the next, and the last logits."""
    model = make(Whole, "none", every_row=True)
    told = []
    for prompt in PROMPTS:
        text, margins, logits = list(prompt), [], None
        for _ in range(STEPS):
            with torch.no_grad():
                logits = model(torch.tensor([text]))[0, -1]
            best = logits.topk(2).values
            margins.append(float(best[0] - best[1]))
            text.append(int(logits.argmax()))
        assert min(margins) > 0.02, margins
        assert logits is not None
        told.append(
            {
                "prompt": prompt,
                "greedy": text[len(prompt) :],
                "smallest_lead": min(margins),
                "last_logits": [float(value) for value in np.float32(logits.numpy())],
            }
        )
    return told


def main() -> None:
    """Write what is asked for, or everything."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue  # with another name, "golden" for one, the programs stay as they are
        data = case()
        (FOLDER / f"{case.__name__}.pte").write_bytes(data)
        print(f"{case.__name__}.pte: {len(data)} bytes", flush=True)
    (FOLDER / "golden.json").write_text(json.dumps({"eos": EOS, "texts": golden()}) + "\n")


if __name__ == "__main__":
    main()
