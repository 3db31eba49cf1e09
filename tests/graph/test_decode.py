"""The fused one-token kernels against the numpy references, position by position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.graph.delegate import GpuDelegate
from executorch_webgpu.graph.fusion import fuse
from executorch_webgpu.graph.interpreter import CpuDelegate
from executorch_webgpu.graph.nodes import build_nodes
from executorch_webgpu.ops.decode import lowering as decode
from executorch_webgpu.ops.decode import lowering_attention as attention
from executorch_webgpu.ops.decode.lowering import MatvecShape
from executorch_webgpu.ops.decode.lowering_attention import AttentionShape
from executorch_webgpu.ops.dispatch import DeviceFacts
from tests.graph.builder import GraphBuilder
from tests.graph.decoder import decoder_block

SHAPES = {
    "grouped": {"dim": 128, "heads": 4, "kv_heads": 2, "ffn": 352, "context": 150},
    "three heads a group": {"dim": 192, "heads": 3, "kv_heads": 1, "ffn": 256, "context": 131, "group": 64},
    "three small heads a group": {"dim": 96, "heads": 3, "kv_heads": 1, "ffn": 128, "context": 131},
    "vocabulary": {"dim": 64, "heads": 2, "kv_heads": 2, "ffn": 96, "context": 70, "vocabulary": 203},
}


ATTENTION = {
    "plain": AttentionShape(0, 0, 64, 32, 8, plain=True),
    "whole, then split": AttentionShape(32, 64, 64, 16, 3),
    "whole, then split head by head": AttentionShape(64, 61, 32, 64, 1),
    "whole": AttentionShape(128, 1024, 64, 64, 1),
    "split": AttentionShape(0, 0, 128, 64, 3),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_all_joints_fuse(shape):
    graph = decoder_block(**shape)
    nodes = fuse(graph, build_nodes(graph, "graph"), DeviceFacts())
    names = [node.name for node in nodes]
    wanted = ["fused.norm_linears_q4", "fused.rope_sdpa", "fused.linear_add_q4", "fused.gate_up_q4"]
    for name in wanted:
        assert name in names
    assert "et_vk.linear_q4gsw.default" not in names
    assert names.count("fused.norm_linears_q4") == 1
    assert names.count("fused.select_norm_linear_q4") == ("vocabulary" in shape)
    assert [node.name for node in nodes if node.deferred] == ["aten.slice_copy.Tensor"] * 2


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("cut", ATTENTION.values(), ids=ATTENTION.keys())
def test_one_token_at_a_time(monkeypatch, shape, cut):
    device = select_device("gpu")
    if not cut.plain and (device.subgroup_size or 0) < shape["dim"] // shape["heads"] // 4:
        pytest.skip("a subgroup does not hold a head")
    monkeypatch.setattr(
        attention, "attention_shape", lambda quads, group, facts: replace(cut, together=min(cut.together, group))
    )
    graph = decoder_block(**shape)
    gpu, cpu = GpuDelegate(graph, device), CpuDelegate(graph)
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


@pytest.mark.parametrize("length", [2, 5])
def test_several_tokens_make_what_was_put_off(length):
    graph = decoder_block(**SHAPES["vocabulary"])
    gpu, cpu = GpuDelegate(graph, select_device("gpu")), CpuDelegate(graph)
    random = np.random.default_rng(2)
    for position in (0, length, 61):
        x = random.standard_normal((1, length, 64)).astype(np.float32)
        inputs = [x, np.array([position], np.int32)]
        np.testing.assert_allclose(gpu.execute(inputs)[0], cpu.execute(inputs)[0], rtol=2e-4, atol=2e-4)
    gpu.close()


def test_tables_in_use_elsewhere_are_made():
    graph = decoder_block(**SHAPES["vocabulary"], rows_too=True)
    gpu, cpu = GpuDelegate(graph, select_device("gpu")), CpuDelegate(graph)
    for position in (0, 3, 60):
        inputs = [np.ones((1, 1, 64), np.float32), np.array([position], np.int32)]
        for found, wanted in zip(gpu.execute(inputs), cpu.execute(inputs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)
    gpu.close()


CUTS = [(lanes, teams, rows) for lanes, teams in ((8, 4), (32, 4), (64, 2), (128, 1), (32, 1)) for rows in (4, 8)]


@pytest.mark.parametrize("digits", [False, True], ids=["floats", "digits"])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_every_cut_of_the_product(monkeypatch, cut, digits):
    device = select_device("gpu")
    subgroup = device.subgroup_size
    if digits and (subgroup is None or cut[0] % subgroup):
        pytest.skip("the integer kernel needs whole subgroups")

    def shape(columns, outputs, swiglu, facts):
        return MatvecShape(digits, *cut[:2], 8 if swiglu else cut[2])

    monkeypatch.setattr(decode, "matvec_shape", shape)
    graph = decoder_block(**{**SHAPES["vocabulary"], "ffn": 352})
    gpu, cpu = GpuDelegate(graph, device), CpuDelegate(graph)
    for position in range(3):
        x = np.random.default_rng(position).standard_normal((1, 1, 64)).astype(np.float32)
        inputs = [x, np.array([position], np.int32)]
        np.testing.assert_allclose(gpu.execute(inputs)[0], cpu.execute(inputs)[0], rtol=2e-4, atol=2e-4)
    gpu.close()


def digits_product(x, columns=96, group=32):
    """Return one product of x with random 4-bit weights by the integer kernel, and by float64."""
    device = select_device("gpu")
    random = np.random.default_rng(7)
    nibbles = random.integers(0, 16, (13, columns))
    packed = (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).astype(np.uint8)
    scales = random.uniform(0.01, 0.02, (columns // group, 13)).astype(np.float32)
    g = GraphBuilder()
    inputs = (g.input((1, columns)),), (g.constant(packed),), (g.constant(scales),)
    graph = g.build(g.call("et_vk.linear_q4gsw.default", *inputs, group, None, out=(1, 13)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decode, "matvec_shape", lambda *_: MatvecShape(True, 32, 4, 4))
        gpu = GpuDelegate(graph, device)
        found = gpu.execute([x.reshape(1, columns)])[0][0]
        gpu.close()
    weights = (nibbles - 8.0) * np.repeat(scales.T.astype(np.float64), group, axis=1)
    return found, weights @ x.astype(np.float64)


def test_the_integer_kernel_is_as_exact_as_floats():
    random = np.random.default_rng(3)
    for scale in (1e-30, 1e-3, 1.0, 1e30):
        x = (random.standard_normal(96) * scale).astype(np.float32)
        found, wanted = digits_product(x)
        assert np.abs(found - wanted).max() < 1e-6 * np.abs(wanted).max()


def test_chunks_have_units_of_their_own():
    x = np.concatenate([np.full(32, 1e20), np.zeros(32), np.full(32, 1e-3)]).astype(np.float32)
    found, wanted = digits_product(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    x[:32] = 0
    found, wanted = digits_product(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_none(bad):
    x = np.ones(96, np.float32)
    x[40] = bad
    assert not np.isfinite(digits_product(x)[0]).any()


def test_the_choice_follows_shape_and_facts():
    plain, card = DeviceFacts(subgroup_size=32), DeviceFacts(subgroup_size=32, packed_dot=True)
    assert decode.matvec_shape(2048, 16384, True, plain) == MatvecShape(False, 32, 4, 8)
    assert decode.matvec_shape(2048, 2048, False, plain) == MatvecShape(False, 64, 2, 4)
    assert decode.matvec_shape(8192, 2048, False, plain) == MatvecShape(False, 128, 1, 4)
    assert decode.matvec_shape(576, 576, False, plain) == MatvecShape(False, 32, 1, 4)
    assert decode.matvec_shape(576, 576, False, card) == MatvecShape(True, 32, 4, 4)
    assert decode.matvec_shape(2048, 2048, False, card) == MatvecShape(True, 64, 2, 4)
    assert decode.matvec_shape(8192, 2048, False, card) == MatvecShape(True, 128, 2, 4)
    assert decode.matvec_shape(2048, 128256, False, card) == MatvecShape(True, 32, 4, 8)
    assert not decode.matvec_shape(2048, 2048, False, DeviceFacts(packed_dot=True)).digits
    software = DeviceFacts(subgroup_size=8, packed_dot=True, software=True)
    assert decode.matvec_shape(2048, 512, False, software) == MatvecShape(False, 8, 4, 8)


def test_attention_is_cut_by_head_and_facts():
    card = DeviceFacts(subgroup_size=32, max_invocations=1024)
    assert attention.attention_shape(16, 4, card) == AttentionShape(512, 256, 128, 32, 4)
    assert attention.attention_shape(16, 3, DeviceFacts(subgroup_size=32)).whole_threads == 256
    assert attention.attention_shape(16, 5, card).together == 1
    for facts in (DeviceFacts(), DeviceFacts(subgroup_size=8), replace(card, software=True, subgroup_size=4)):
        assert attention.attention_shape(16, 4, facts).plain
    assert attention.attention_shape(12, 4, card).plain
    for quads in (4, 8, 16, 32):
        for group in range(1, 9):
            for subgroup in (4, 8, 16, 32, 64):
                shape = attention.attention_shape(quads, group, replace(card, subgroup_size=subgroup))
                if not shape.plain:
                    rows, held = shape.split_threads // quads, shape.split_threads // subgroup
                    assert rows >= shape.together and group % shape.together == 0
                    assert shape.together * held * (quads * 16 + 8) <= DeviceFacts().max_workgroup_bytes
                    assert shape.whole_threads // subgroup * (quads * 16 + 8) <= DeviceFacts().max_workgroup_bytes
