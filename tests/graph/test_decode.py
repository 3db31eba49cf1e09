"""The fused one-token kernels against the numpy references, position by position."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.graph.delegate import GpuDelegate
from executorch_webgpu.graph.fusion import fuse
from executorch_webgpu.graph.interpreter import CpuDelegate
from executorch_webgpu.graph.nodes import build_nodes
from executorch_webgpu.ops.decode import lowering as decode
from executorch_webgpu.ops.dispatch import DeviceFacts
from tests.graph.decoder import decoder_block

SHAPES = {
    "grouped": {"dim": 128, "heads": 4, "kv_heads": 2, "ffn": 352, "context": 150},
    "three heads a group": {"dim": 192, "heads": 3, "kv_heads": 1, "ffn": 256, "context": 131, "group": 64},
    "vocabulary": {"dim": 64, "heads": 2, "kv_heads": 2, "ffn": 96, "context": 70, "vocabulary": 203},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_all_joints_fuse(shape):
    graph = decoder_block(**shape)
    names = [node.name for node in fuse(graph, build_nodes(graph, "graph"), DeviceFacts())]
    wanted = ["fused.norm_linears_q4", "fused.rope_sdpa", "fused.linear_add_q4", "fused.gate_up_q4"]
    for name in wanted:
        assert name in names
    assert "et_vk.linear_q4gsw.default" not in names
    assert names.count("fused.norm_linears_q4") == (2 if "vocabulary" in shape else 1)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_one_token_at_a_time(shape):
    graph = decoder_block(**shape)
    gpu, cpu = GpuDelegate(graph, select_device("gpu")), CpuDelegate(graph)
    random = np.random.default_rng(1)
    for position in range(shape["context"] - 1):
        x = random.standard_normal((1, 1, shape["dim"])).astype(np.float32)
        inputs = [x, np.array([position], np.int32)]
        wanted = cpu.execute(inputs)[0]
        if position < 6 or 60 < position < 68 or position > shape["context"] - 6:
            np.testing.assert_allclose(gpu.execute(inputs)[0], wanted, rtol=2e-4, atol=2e-4, err_msg=f"{position}")
        else:
            gpu.execute(inputs)
    gpu.close()


@pytest.mark.parametrize("rows", [4, 8])
@pytest.mark.parametrize("team", [(32, 4), (64, 2), (128, 1), (32, 1)])
def test_every_choice_of_the_product(monkeypatch, rows, team):
    monkeypatch.setattr(decode, "matvec_rows", lambda outputs, facts: rows)
    monkeypatch.setattr(decode, "matvec_shape", lambda columns, teams, facts: team)
    graph = decoder_block(**SHAPES["vocabulary"])
    gpu, cpu = GpuDelegate(graph, select_device("gpu")), CpuDelegate(graph)
    for position in range(3):
        x = np.random.default_rng(position).standard_normal((1, 1, 64)).astype(np.float32)
        inputs = [x, np.array([position], np.int32)]
        np.testing.assert_allclose(gpu.execute(inputs)[0], cpu.execute(inputs)[0], rtol=2e-4, atol=2e-4)
    gpu.close()


def test_the_choice_follows_shape_and_facts():
    card = DeviceFacts(subgroup_size=32)
    assert decode.matvec_shape(2048, 4096, card) == (32, 4)
    assert decode.matvec_shape(2048, 512, card) == (64, 2)
    assert decode.matvec_shape(8192, 512, card) == (128, 1)
    assert decode.matvec_shape(576, 144, card) == (32, 1)
    assert decode.matvec_rows(2048, card) < decode.matvec_rows(128256, card)
    assert decode.matvec_shape(2048, 512, DeviceFacts(subgroup_size=8, software=True)) == (8, 4)
