"""Compiling and executing a graph on the GPU: order, shapes, live ints, memory, state."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidArgument, InvalidState, OperatorMissing, OutOfResources
from executorch_webgpu.format.vulkan_graph import SymInt
from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.graph import delegate as delegate_module
from executorch_webgpu.graph.delegate import COMPILED_LIMIT, FIRST_PIECE, GpuDelegate, _piece_ends
from executorch_webgpu.graph.interpreter import CpuDelegate
from executorch_webgpu.graph.nodes import build_nodes
from executorch_webgpu.graph.storage import plan_storage
from executorch_webgpu.ops.dispatch import DeviceFacts
from tests.graph.builder import GraphBuilder
from tests.graph.decoder import decoder_block


@pytest.fixture
def device():
    return select_device("gpu")


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def chain(length, shape):
    """x -> x * 1.5 + x, again and again: each dispatch needs the one before it."""
    g = GraphBuilder()
    x = g.input(shape)
    factor = g.constant(np.array(1.5, np.float32))
    y = x
    for _ in range(length):
        y = g.call("aten.mul.Tensor", (y,), (factor,), out=shape)
        y = g.call("aten.add.Tensor", (y,), (x,), 1, out=shape)
    return g.build(y)


def test_each_dispatch_sees_the_writes_of_those_before(device):
    graph = chain(40, (257, 113))
    x = floats(257, 113)
    got = GpuDelegate(graph, device).execute([x])[0]
    np.testing.assert_allclose(got, CpuDelegate(graph).execute([x])[0], rtol=1e-5)


def test_memory_is_shared_by_lifetime_and_never_within_a_node():
    graph = chain(40, (64, 64))
    nodes = build_nodes(graph, "graph")
    plan = plan_storage(graph, nodes)
    apart = plan_storage(graph, nodes, share=False)
    assert sum(plan.nbytes) < sum(apart.nbytes) / 10
    for node in nodes:
        read = {plan.of(value) for value in node.args if value in plan.storage}
        assert not read & {plan.of(value) for value in node.outputs}


def test_shapes_in_turn(device):
    graph = chain(2, (64, 33))
    gpu, cpu = GpuDelegate(graph, device), CpuDelegate(graph)
    for rows in (64, 1, 17, 64, 3):
        x = floats(rows, 33, seed=rows)
        np.testing.assert_allclose(gpu.execute([x])[0], cpu.execute([x])[0], rtol=1e-5)


def sliced(bound=64):
    """x[pos : pos + S] for S of another input: a live start, a constant length."""
    g = GraphBuilder()
    x = g.input((bound, 5))
    like = g.input((bound,), "int32")
    position = g.input((1,), "int32")
    start = g.call("et_vk.select_as_symint.default", (position,), 0, 0, out=SymInt(0))
    length = g.call("sym_size.int", (like,), 0, out=SymInt(0))
    end = g.call("add", (start,), (length,), out=SymInt(0))
    y = g.call("aten.slice_copy.Tensor", (x,), 0, (start,), (end,), 1, out=(bound, 5))
    return g.build(y)


def test_a_live_position_compiles_once(device):
    gpu = GpuDelegate(sliced(), device)
    x = floats(64, 5)
    for start in (0, 3, 60, 7):
        got = gpu.execute([x, np.zeros(4, np.int32), np.array([start], np.int32)])[0]
        np.testing.assert_array_equal(got, x[start : start + 4])
    assert len(gpu._cache.executables) == 1


def test_a_live_position_is_guarded(device):
    gpu = GpuDelegate(sliced(), device)
    for start in (-1, 61, 2**31 - 1):
        with pytest.raises(InvalidArgument, match="must be from"):
            gpu.execute([floats(64, 5), np.zeros(4, np.int32), np.array([start], np.int32)])
    got = gpu.execute([floats(64, 5), np.zeros(4, np.int32), np.array([0], np.int32)])[0]
    np.testing.assert_array_equal(got, floats(64, 5)[:4])


def pinned(bound=2000):
    """x[:n] with n read from an input: the length itself depends on a live int."""
    g = GraphBuilder()
    x = g.input((bound,))
    count = g.input((1,), "int32")
    end = g.call("et_vk.select_as_symint.default", (count,), 0, 0, out=SymInt(0))
    y = g.call("aten.slice_copy.Tensor", (x,), 0, 0, (end,), 1, out=(bound,))
    return g.build(y)


def test_a_sweep_of_a_pinned_int_keeps_memory_flat(device):
    gpu = GpuDelegate(pinned(), device)
    x = floats(2000)
    sizes = []
    for count in range(1, 1001):
        got = gpu.execute([x, np.array([count], np.int32)])[0]
        assert got.shape == (count,)
        if count % 100 == 0:
            gc.collect()
            sizes.append(device.allocated)
    np.testing.assert_array_equal(got, x[:1000])
    assert len(gpu._cache.executables) <= COMPILED_LIMIT
    assert len(set(sizes[1:])) == 1, sizes


def test_many_lengths_keep_memory_flat(device):
    graph = decoder_block(dim=32, heads=2, kv_heads=1, ffn=32, context=502)
    gpu = GpuDelegate(graph, device)
    sizes = []
    for length in range(1, 501):
        # Compiled and bound, which is what takes memory; running all of them would only take time.
        state, environment, _ = gpu.stage([floats(1, length, 32), np.array([0], np.int32)])
        gpu.ready(state, environment)
        if length % 100 == 0:
            device.flush()
            gc.collect()
            sizes.append(device.allocated)
    assert len(gpu._cache.executables) <= COMPILED_LIMIT
    # Scratch memory may still double on the way to the longest text; parameters may not pile up.
    assert sizes[-1] - sizes[1] < 4 << 20, sizes
    gpu.close()


def test_prefill_and_single_tokens_agree(device):
    """The fused one-token path and the members run one by one keep one cache."""
    graph = decoder_block(dim=128, heads=4, kv_heads=2, ffn=160, context=64)
    gpu, cpu = GpuDelegate(graph, device), CpuDelegate(graph)
    position = 0
    for length in (7, 1, 1, 5, 1, 12, 1):
        inputs = [floats(1, length, 128, seed=position), np.array([position], np.int32)]
        np.testing.assert_allclose(gpu.execute(inputs)[0], cpu.execute(inputs)[0], rtol=2e-4, atol=2e-4)
        position += length


def test_reset_restores_the_caches(device):
    graph = decoder_block(dim=64, heads=2, kv_heads=1, ffn=96, context=40)
    gpu = GpuDelegate(graph, device)
    inputs = [floats(1, 9, 64), np.array([0], np.int32)]
    later = [floats(1, 1, 64, seed=1), np.array([20], np.int32)]
    first = gpu.execute(later)[0]
    gpu.execute(inputs)
    assert np.abs(gpu.execute(later)[0] - first).max() > 0
    gpu.reset()
    np.testing.assert_array_equal(gpu.execute(later)[0], first)


def computed(bound=16):
    """An int read from a tensor that the graph computes: x[: n + n]."""
    g = GraphBuilder()
    x = g.input((bound,))
    n = g.input((1,), "int32")
    double = g.call("aten.add.Tensor", (n,), (n,), 1, out=((1,), "int32"))
    end = g.call("et_vk.select_as_symint.default", (double,), 0, 0, out=SymInt(0))
    y = g.call("aten.slice_copy.Tensor", (x,), 0, 0, (end,), 1, out=(bound,))
    return g.build(y)


def test_a_computed_int_splits_the_list(device):
    gpu = GpuDelegate(computed(), device)
    assert not gpu.is_single_part
    x = floats(16)
    for n in (1, 5, 8, 5):
        np.testing.assert_array_equal(gpu.execute([x, np.array([n], np.int32)])[0], x[: 2 * n])


def test_all_that_is_missing_is_said_at_once(device):
    g = GraphBuilder()
    x = g.input((3,))
    y = g.call("aten.nonesuch.default", (x,), out=(3,))
    y = g.call("aten.other.default", (y,), out=(3,))
    with pytest.raises(OperatorMissing, match=r"nonesuch.*other"):
        GpuDelegate(g.build(y), device)


def test_a_constant_past_the_limit_is_named(device, monkeypatch):
    g = GraphBuilder()
    x = g.input((64,))
    y = g.call("aten.add.Tensor", (x,), (g.constant(floats(64)),), 1, out=(64,))
    monkeypatch.setitem(device.limits, "max-buffer-size", 128)
    with pytest.raises(OutOfResources, match=r"256 bytes"):
        GpuDelegate(g.build(y), device).execute([floats(64)])


def test_a_constant_past_the_binding_limit_is_named_before_the_first_call(device, monkeypatch):
    g = GraphBuilder()
    x = g.input((64,))
    y = g.call("aten.add.Tensor", (x,), (g.constant(floats(64)),), 1, out=(64,))
    monkeypatch.setitem(device.limits, "max-storage-buffer-binding-size", 128)
    with pytest.raises(OutOfResources, match=r"constant 0 \(float32 \[64\]\) has 256 bytes; .* 128 bytes a binding"):
        GpuDelegate(g.build(y), device)


def test_closed(device):
    before = device.allocated
    gpu = GpuDelegate(chain(3, (50, 50)), device)
    gpu.execute([floats(50, 50)])
    assert device.allocated > before
    gpu.close()
    gpu.close()
    assert device.allocated == before
    with pytest.raises(InvalidState):
        gpu.execute([floats(50, 50)])


def test_facts_come_from_limits(device):
    facts = delegate_module.device_facts(device)
    assert facts.max_invocations >= DeviceFacts().max_invocations
    assert facts.software == (device.info.kind == "software")


def test_pieces_cover_the_list():
    assert _piece_ends(0) == [0]
    assert _piece_ends(FIRST_PIECE) == [FIRST_PIECE]
    for count in range(1, 3000, 7):
        ends = _piece_ends(count)
        assert ends[-1] == count and ends == sorted(set(ends))
        assert ends[0] <= FIRST_PIECE
        assert all(after - before >= FIRST_PIECE for before, after in itertools.pairwise(ends[:-1]))
