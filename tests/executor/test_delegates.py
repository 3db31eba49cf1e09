"""Which arguments of a DelegateCall belong to which port of the graph."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.executor.delegates import BoundCall, DelegateSlot
from executorch_webgpu.format.plan import DelegateCall, Dynamism, ExecutionPlan, TensorValue
from tests.graph.builder import GraphBuilder

TENSOR = TensorValue(np.dtype(np.float32), (3,), (0,), Dynamism.STATIC, None, None, None, False)


def call(*args):
    """A call of ``x + y`` with values 0 and 1 as x and y, 2 as the sum, 3 an int."""
    g = GraphBuilder()
    x, y = g.input((3,)), g.input((3,))
    graph = g.build(g.call("aten.add.Tensor", (x,), (y,), 1, out=(3,)))
    plan = ExecutionPlan("forward", (TENSOR, TENSOR, TENSOR, 7), (0, 1), (2,), ((),), (), (), ())
    return BoundCall(plan, DelegateCall(0, args), DelegateSlot(graph, "delegate 0"))


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
