"""A delegate on the CPU: casts at its border, ints, state, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.errors import (
    DelegateInvalidCompatibility,
    InvalidArgument,
    InvalidState,
    OperatorMissing,
)
from executorch_webgpu.format.vulkan_graph import SymInt
from executorch_webgpu.graph.interpreter import CpuDelegate
from executorch_webgpu.graph.scalars import with_ints
from tests.graph.builder import GraphBuilder


def test_int64_is_narrowed_and_checked():
    b = GraphBuilder()
    x = b.input((3,), "int32")
    y = b.call("aten.add.Tensor", (x,), (x,), 1, out=((3,), "int32"))
    delegate = CpuDelegate(b.build(y))
    result = delegate.execute([np.array([1, -2, 3])])[0]
    assert result.dtype == np.int32
    assert result.tolist() == [2, -4, 6]
    with pytest.raises(InvalidArgument, match=r"input 0 .*2147483648.*int32"):
        delegate.execute([np.array([2**31, 0, 0])])


def test_halves_stay_halves_between_nodes():
    b = GraphBuilder()
    x = b.input((1,), "float16")
    big = b.call("aten.add.Tensor", (x,), (x,), 1, out=((1,), "float16"))
    y = b.call("aten.sub.Tensor", (big,), (x,), 1, out=((1,), "float16"))
    result = CpuDelegate(b.build(y)).execute([np.array([60000], np.float32)])[0]
    # 120000 is infinite as a half: had the sum stayed a float, the result would be 60000.
    assert result.dtype == np.float16
    assert np.isinf(result[0])


def test_ints_of_the_graph():
    b = GraphBuilder()
    x = b.input((4, 2), "int32")
    size = b.call("sym_size.int", (x,), 0, out=SymInt(0))
    item = b.call("et_vk.select_as_symint.default", (x,), 0, -1, out=SymInt(0))
    total = b.call("add", (size,), (item,), out=SymInt(0))
    others = [b.call(name, (item,), (size,), out=SymInt(0)) for name in ("sub", "mul", "floordiv")]
    outputs = CpuDelegate(b.build(total, *others)).execute([np.array([[1, 2], [3, 4], [-7, 5]])])
    assert outputs == [3 - 7, -7 - 3, -21, -3]


def test_int_inputs_and_outputs():
    b = GraphBuilder()
    n = b.value(SymInt(0))
    b.inputs.append(n)
    twice = b.call("mul", (n,), 2, out=SymInt(0))
    assert CpuDelegate(b.build(twice, n)).execute([21]) == [42, 21]


def test_constants_that_are_written_persist_and_are_private():
    b = GraphBuilder()
    x = b.input((2,))
    payload = np.array([1, 2], np.float32)
    state = b.constant(payload)
    graph = in_place_add(b, state, x)
    delegate, other = CpuDelegate(graph), CpuDelegate(graph)
    one = np.ones(2, np.float32)
    assert delegate.execute([one])[0].tolist() == [2, 3]
    assert delegate.execute([one])[0].tolist() == [3, 4]
    assert other.execute([one])[0].tolist() == [2, 3]
    delegate.reset()
    assert delegate.execute([one])[0].tolist() == [2, 3]
    assert payload.tolist() == [1, 2]


def test_inputs_that_are_written_are_copied():
    b = GraphBuilder()
    x, y = b.input((2,)), b.input((2,))
    delegate = CpuDelegate(in_place_add(b, x, y))
    given = np.ones(2, np.float32)
    assert delegate.execute([given, given])[0].tolist() == [2, 2]
    assert given.tolist() == [1, 1]


def in_place_add(b: GraphBuilder, target: int, x: int):
    """Return a graph that adds ``x`` to ``target`` with one id for operand and result."""
    graph = b.build(target)
    call = b.call("aten.add.Tensor", (target,), (x,), 1, out=(2,))
    made = b.chain.pop()
    assert made.args[-1] == call
    chain = (*graph.chain, type(made)(made.node_id, made.name, (*made.args[:-1], target)))
    return type(graph)(**{**graph.__dict__, "chain": chain, "values": tuple(b.values)})


def test_outputs_are_the_callers_to_keep():
    b = GraphBuilder()
    x = b.input((2,))
    constant = b.constant(np.array([5, 6], np.float32))
    delegate = CpuDelegate(b.build(x, constant, x))
    given = np.array([1, 2], np.float32)
    outputs = delegate.execute([given])
    for output in outputs:
        output[:] = -1
    assert given.tolist() == [1, 2]
    assert [o.tolist() for o in delegate.execute([given])] == [[1, 2], [5, 6], [1, 2]]


def test_prepack_must_agree():
    b = GraphBuilder()
    constant = b.constant(np.ones((2, 3), np.float32))
    good = b.call("et_vk.prepack.default", (constant,), out=(2, 3))
    assert CpuDelegate(b.build(good)).execute([])[0].tolist() == np.ones((2, 3)).tolist()
    bad = b.call("et_vk.prepack.default", (constant,), out=(3, 2))
    with pytest.raises(DelegateInvalidCompatibility, match=r"prepack.*\[2, 3\].*\[3, 2\]"):
        CpuDelegate(b.build(bad))


def test_missing_operators_are_listed_together():
    b = GraphBuilder()
    x = b.input((2,))
    y = b.call("my.first.default", (x,), out=(2,))
    z = b.call("my.second.default", (y,), out=(2,))
    with pytest.raises(OperatorMissing, match=r"here: .*my\.first\.default.*float32.*my\.second\.default"):
        CpuDelegate(b.build(z), "here")


def test_errors_name_the_node():
    b = GraphBuilder()
    x, y = b.input((2,)), b.input((3,))
    z = b.call("aten.add.Tensor", (x,), (y,), 1, out=(3,))
    delegate = CpuDelegate(b.build(z), "here")
    with pytest.raises(InvalidArgument, match=r"here: node \d+ \(aten\.add\.Tensor\)"):
        delegate.execute([np.ones(2, np.float32), np.ones(3, np.float32)])


def test_results_beyond_the_bound_are_refused():
    b = GraphBuilder()
    x = b.input((4,))
    y = b.call("aten.add.Tensor", (x,), (x,), 1, out=(3,))
    with pytest.raises(InvalidArgument, match=r"\[4\].*\[3\]"):
        CpuDelegate(b.build(y)).execute([np.ones(4, np.float32)])


def test_closed():
    b = GraphBuilder()
    x = b.input((4,))
    delegate = CpuDelegate(b.build(x))
    delegate.close()
    with pytest.raises(InvalidState):
        delegate.execute([np.ones(4, np.float32)])


def test_whole_floats_serve_as_ints():
    def function(out, x, dim: int, sizes: list[int], scale: float, either: int | float):
        raise AssertionError

    args = with_ints(function, ["x", 0.0, [1.0, 2], 3.0, 4.0])
    assert [type(a) for a in (args[1], args[2][0], args[3], args[4])] == [int, int, float, float]
    assert with_ints(function, ["x", 0.5]) == ["x", 0.5]
