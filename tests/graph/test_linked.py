"""Linked steps: the device's token is the next step's input, several steps are in flight, and where that is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidState
from executorch_webgpu.format.vulkan_graph import SymInt, VulkanGraph
from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.graph.delegate import GpuDelegate
from executorch_webgpu.graph.linked import Choice, Draw, LinkedRun, can_link
from tests.graph.builder import GraphBuilder

VOCABULARY, WIDTH, CONTEXT = 90, 8, 40


def delegate_of(graph: VulkanGraph) -> GpuDelegate:
    device = select_device("gpu")
    assert device is not None
    return GpuDelegate(graph, device)


def table_graph(state: str = "") -> VulkanGraph:
    """Return ``forward(token [1, 1], position [1])`` -> logits: a row of a table, plus what a cache holds.

    ``state`` is empty, ``cache`` (rows written at the position) or ``running`` (a sum of all that was ever fed).
    """
    random = np.random.default_rng(0)
    g = GraphBuilder()
    token, position = g.input((1, 1), "int32"), g.input((1,), "int32")
    start = g.call("et_vk.select_as_symint.default", (position,), 0, 0, out=SymInt(0))
    table = g.constant(random.normal(size=(VOCABULARY, VOCABULARY)).astype(np.float32))
    logits = g.call("aten.embedding.default", (table,), (token,), -1, False, False, out=(1, 1, VOCABULARY))
    if state == "cache":
        vectors = g.constant(random.normal(size=(VOCABULARY, WIDTH)).astype(np.float32))
        x = g.call("aten.embedding.default", (vectors,), (token,), -1, False, False, out=(1, 1, WIDTH))
        x = g.call("aten.view_copy.default", (x,), [1, 1, 1, WIDTH], out=(1, 1, 1, WIDTH))
        caches = [g.constant(np.zeros((1, CONTEXT, 1, WIDTH), np.float32)) for _ in range(2)]
        seen = g.call(
            "sdpa_with_kv_cache.default", (x,), (x,), (x,), (caches[0],), (caches[1],), (start,), 1, None, 0, True,
            None, out=(1, 1, 1, WIDTH),
        )  # fmt: skip
        seen = g.call("aten.view_copy.default", (seen,), [1, 1, WIDTH], out=(1, 1, WIDTH))
        weight = g.constant(random.normal(size=(VOCABULARY, WIDTH)).astype(np.float32))
        seen = g.call("aten.linear.default", (seen,), (weight,), None, out=(1, 1, VOCABULARY))
        logits = g.call("aten.add.Tensor", (logits,), (seen,), 1, out=(1, 1, VOCABULARY))
    if state == "running":
        total = g.constant(np.zeros((1, 1, VOCABULARY), np.float32))
        # In place: the constant is input and output of one node.
        call = g.call("aten.add.Tensor", (total,), (logits,), 1, out=(1, 1, VOCABULARY))
        last = g.chain[-1]
        g.chain[-1] = dataclasses.replace(last, args=(*last.args[:-1], total))
        logits = g.call("aten.mul.Tensor", (total,), (logits,), out=(1, 1, VOCABULARY))
        assert call is not None
    return g.build(logits)


def one_by_one(graph: VulkanGraph, first: int, count: int) -> list[int]:
    """Return the greedy tokens with a wait after each step."""
    delegate = delegate_of(graph)
    tokens = [first]
    for position in range(count):
        inputs = [np.array([[tokens[-1]]], np.int32), np.array([position], np.int32)]
        tokens.append(int(np.argmax(np.asarray(delegate.execute(inputs)[0]))))
    delegate.close()
    return tokens[1:]


@pytest.mark.parametrize("state", ["", "cache"])
@pytest.mark.parametrize("depth", [1, 2, 3, 8])
def test_steps_in_flight_keep_their_order(state: str, depth: int) -> None:
    graph = table_graph(state)
    delegate = delegate_of(graph)
    assert can_link(delegate, 0, 1)
    linked = LinkedRun(delegate, 0, 1)
    linked.set_token(11)
    found: list[Choice] = []
    submitted = 0
    for taken in range(20):
        while submitted < min(20, taken + depth):
            linked.submit((1, 1), submitted, (1,))
            submitted += 1
        assert linked.in_flight == submitted - taken
        found.append(linked.take())
    delegate.close()
    assert [choice.token for choice in found] == one_by_one(graph, 11, 20)
    assert all(choice.valid and choice.logprob < 0 for choice in found)


def test_draws_depend_on_seed_and_place_alone() -> None:
    delegate = delegate_of(table_graph())
    linked = LinkedRun(delegate, 0, 1)

    def run(draw: Draw | None, start: int) -> list[int]:
        linked.choose_by(draw)
        tokens = []
        for position in range(start, start + 12):
            linked.set_token(11)
            linked.submit((1, 1), position, (1,))
            tokens.append(linked.take().token)
        return tokens

    draw = Draw(2.0, 0, 1.0, 0.0, 4)
    first = run(draw, 0)
    assert len(set(first)) > 4
    assert run(Draw(2.0, 0, 1.0, 0.0, 5), 0) != first
    assert run(draw, 3)[:9] == first[3:]
    assert len(set(run(None, 0))) == 1
    assert run(draw, 0) == first
    delegate.close()


def test_drain_drops_what_is_in_flight() -> None:
    graph = table_graph("cache")
    delegate = delegate_of(graph)
    linked = LinkedRun(delegate, 0, 1)
    linked.set_token(11)
    for position in range(5):
        linked.submit((1, 1), position, (1,))
    linked.drain()
    assert linked.in_flight == 0
    linked.set_token(11)
    linked.submit((1, 1), 0, (1,))
    assert linked.take().token == one_by_one(graph, 11, 1)[0]
    delegate.close()


def test_nan_is_told() -> None:
    g = GraphBuilder()
    token, _ = g.input((1, 1), "int32"), g.input((1,), "int32")
    table = g.constant(np.full((4, 9), np.nan, np.float32))
    delegate = delegate_of(
        g.build(g.call("aten.embedding.default", (table,), (token,), -1, False, False, out=(1, 1, 9)))
    )
    linked = LinkedRun(delegate, 0, 1)
    for draw in (None, Draw(1.0, 3, 0.9, 0.1, 0)):
        linked.choose_by(draw)
        linked.set_token(1)
        linked.submit((1, 1), 0, (1,))
        choice = linked.take()
        assert not choice.valid and choice.token < 9
    delegate.close()


def test_state_without_a_position_is_refused() -> None:
    delegate = delegate_of(table_graph("running"))
    assert not can_link(delegate, 0, 1)
    delegate.close()


def test_other_forms_are_refused() -> None:
    def linkable(token: int, position: int, *outputs: int) -> bool:
        delegate = delegate_of(g.build(*outputs))
        try:
            return can_link(delegate, token, position)
        finally:
            delegate.close()

    g = GraphBuilder()
    token, scale = g.input((1, 1), "int32"), g.input((1, 1, VOCABULARY))
    table = g.constant(np.ones((VOCABULARY, VOCABULARY), np.float32))
    logits = g.call("aten.embedding.default", (table,), (token,), -1, False, False, out=(1, 1, VOCABULARY))
    logits = g.call("aten.mul.Tensor", (logits,), (scale,), out=(1, 1, VOCABULARY))
    assert linkable(0, 1, logits)
    assert not linkable(1, 0, logits), "tokens are ints"
    assert not linkable(0, 1, logits, logits), "one output"
    assert not linkable(0, 1, token), "an input is no choice"


def test_a_token_that_the_host_must_read_is_refused() -> None:
    g = GraphBuilder()
    token, _ = g.input((1,), "int32"), g.input((1,), "int32")
    chosen = g.call("et_vk.select_as_symint.default", (token,), 0, 0, out=SymInt(0))
    table = g.constant(np.ones((VOCABULARY, VOCABULARY), np.float32))
    row = g.call("aten.select_copy.int", (table,), 0, (chosen,), out=(VOCABULARY,))
    delegate = delegate_of(g.build(row))
    assert not can_link(delegate, 0, 1)
    delegate.close()


def test_closing_with_steps_in_flight_ends_them() -> None:
    delegate = delegate_of(table_graph("cache"))
    linked = LinkedRun(delegate, 0, 1)
    linked.set_token(11)
    for position in range(6):
        linked.submit((1, 1), position, (1,))
    delegate.close()
    linked.drain()
    assert linked.in_flight == 0
    with pytest.raises(InvalidState, match="closed"):
        linked.submit((1, 1), 6, (1,))


def test_many_settings_in_flight() -> None:
    delegate = delegate_of(table_graph("cache"))
    linked = LinkedRun(delegate, 0, 1)
    linked.set_token(11)
    for position in range(12):
        linked.choose_by(Draw(1.0, 5, 0.9, 0.0, position))
        linked.submit((1, 1), position, (1,))
    assert all(linked.take().valid for _ in range(12))
    delegate.close()


def test_other_calls_between_steps() -> None:
    """Neither a step that is not submitted yet nor a call that holds the device may wait for the other."""
    delegate = delegate_of(table_graph("cache"))
    g = GraphBuilder()
    value = g.input((2, 3))
    for _ in range(100):
        value = g.call("aten.add.Tensor", (value,), (value,), 1, out=(2, 3))
        value = g.call("aten.mul.Tensor", (value,), (g.constant(np.full((1, 1), 0.5, np.float32)),), out=(2, 3))
    other = delegate_of(g.build(value))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    linked = LinkedRun(delegate, 0, 1)
    linked.set_token(11)
    tokens = []
    for position in range(20):
        linked.submit((1, 1), position, (1,))
        np.testing.assert_array_equal(np.asarray(other.execute([x])[0]), x)
        if position > 2:
            tokens.append(linked.take().token)
    linked.drain()
    assert tokens == one_by_one(table_graph("cache"), 11, 17)
    other.close()
    delegate.close()
