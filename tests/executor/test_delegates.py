"""Which arguments of a DelegateCall belong to which port of the graph, and what may pass through it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.executor.delegates import BoundCall, DelegateSlot
from executorch_webgpu.executor.machine import Machine
from executorch_webgpu.executor.memory import SharedMemory
from executorch_webgpu.format.plan import (
    Delegate,
    DelegateCall,
    Dynamism,
    ExecutionPlan,
    IntListValue,
    MoveCall,
    TensorValue,
)
from executorch_webgpu.format.vulkan_graph import SymInt
from tests.executor.plans import plan, program, tensor
from tests.graph.builder import GraphBuilder

TENSOR = TensorValue(np.dtype(np.float32), (3,), (0,), Dynamism.STATIC, None, None, None, False)


def sum_graph():
    g = GraphBuilder()
    x, y = g.input((3,)), g.input((3,))
    return g.build(g.call("aten.add.Tensor", (x,), (y,), 1, out=(3,)))


def call(*args):
    """A call of ``x + y`` with values 0 and 1 as x and y, 2 as the sum, 3 an int."""
    made = ExecutionPlan("forward", (TENSOR, TENSOR, TENSOR, 7), (0, 1), (2,), ((),), (), (), ())
    return BoundCall(made, DelegateCall(0, args), DelegateSlot(sum_graph(), "delegate 0"))


def test_arguments_in_order():
    site = call(0, 1, 2)
    assert (site.inputs, site.outputs) == ((0, 1), (2,))


@pytest.mark.parametrize("args", [(3, 0, 1, 2), (0, 3, 1, 2), (0, 1, 3, 2), (3, 0, 3, 1, 2)])
def test_an_int_that_the_graph_never_uses_is_passed_over(args):
    site = call(*args)
    assert (site.inputs, site.outputs) == ((0, 1), (2,))


@pytest.mark.parametrize("args", [(0,), (0, 1, 2, 2), (0, 3, 2)])
def test_a_call_that_does_not_fit_is_refused(args):
    with pytest.raises(InvalidProgram):
        call(*args)


class Fixed:
    """A delegate that answers with what it is given at the start."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def execute(self, inputs):
        return self.answers

    def reset(self):
        pass

    def close(self):
        pass


def run(answer, *instructions, dynamism=Dynamism.STATIC):
    """Run a method of two inputs whose delegate answers ``answer`` for ``x + y``, which is at most [3]."""
    values = (tensor(3), tensor(3, at=16), tensor(3, at=32, dynamism=dynamism), 7)
    made = plan(list(values), (0, 1), (2,), [DelegateCall(0, (0, 1, 2)), *instructions])
    made = dataclasses.replace(made, delegates=(Delegate("VulkanBackend", memoryview(b""), ()),))
    whole = program(made)
    run = Machine(whole, made, lambda *_: sum_graph(), lambda *_: None, SharedMemory(whole))
    run.open_delegates(lambda *_: Fixed(answer))
    return run.run([np.zeros(3, np.float32)] * 2)[0]


# Alone the call takes the short way; with a step after it the long one.
@pytest.mark.parametrize("instructions", [(), (MoveCall(3, 3),)])
@pytest.mark.parametrize(
    ("shape", "dynamism", "expected"),
    [
        ((2,), Dynamism.STATIC, r"\[3\]"),
        ((4,), Dynamism.STATIC, r"\[3\]"),
        ((4,), Dynamism.DYNAMIC_BOUND, r"at most \[3\]"),
        ((1, 2), Dynamism.DYNAMIC_BOUND, r"at most \[3\]"),
    ],
)
def test_a_result_that_contradicts_the_plan_is_the_files_fault(shape, dynamism, expected, instructions):
    found = ", ".join(map(str, shape))
    message = (
        rf"^test.pte: method 'forward': delegate 0: value 2 is float32 {expected}, the graph gives float32 \[{found}\]"
    )
    with pytest.raises(InvalidProgram, match=message):
        run(np.ones(shape, np.float32), *instructions, dynamism=dynamism)


@pytest.mark.parametrize("instructions", [(), (MoveCall(3, 3),)])
def test_results_within_the_plan_are_taken(instructions):
    assert run(np.ones((1, 3), np.float32), *instructions).tolist() == [1, 1, 1]
    assert run(np.ones(2, np.float16), *instructions, dynamism=Dynamism.DYNAMIC_BOUND).tolist() == [1, 1]


def bind(graph, *values):
    made = plan(list(values), (), (), [])
    return BoundCall(made, DelegateCall(0, tuple(range(len(values)))), DelegateSlot(graph, "delegate 0"))


def test_a_result_wider_than_the_plans_tensor_is_refused():
    with pytest.raises(InvalidProgram, match=r"value 2 is float16 \[3\], the graph gives float32"):
        bind(sum_graph(), tensor(3), tensor(3), tensor(3, dtype="float16"))


def int_graph():
    g = GraphBuilder()
    length = g.value(SymInt(0))
    g.inputs.append(length)
    return g.build(g.call("add", (length,), 1, out=SymInt(0)))


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (tensor(2, dtype="int64"), r"int64 \[2\]"),
        (tensor(dtype="float32"), r"float32 \[\]"),
        (1.5, "a float"),
        ("text", "a str"),
        (True, "a bool"),
        (IntListValue(()), "a IntListValue"),
    ],
)
def test_only_an_int_serves_as_an_int(given, found):
    with pytest.raises(InvalidProgram, match=rf"value 0 is {found}, the graph expects an int"):
        bind(int_graph(), given, 0)
    with pytest.raises(InvalidProgram, match=rf"value 1 is {found}, the graph expects an int"):
        bind(int_graph(), 0, given)


def test_ints_nulls_and_tensors_of_one_int_serve_as_ints():
    for given in (5, None, tensor(dtype="int32"), tensor(1, dtype="int64")):
        bind(int_graph(), given, given)
