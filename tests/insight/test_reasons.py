"""Why operators were left on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.format.plan import (
    Delegate,
    Dynamism,
    ExecutionPlan,
    JumpFalseCall,
    KernelCall,
    Operator,
    TensorValue,
)
from executorch_webgpu.insight.reasons import has_jumps, why_on_cpu


def tensor(*sizes, dtype="float32"):
    return TensorValue(np.dtype(dtype), sizes, tuple(range(len(sizes))), Dynamism.STATIC, None, None, None, False)


VULKAN = (Delegate("VulkanBackend", memoryview(b""), ()),)


def why(name, *values, extra=(), delegates=VULKAN):
    space, _, overload = name.partition(".")
    call = KernelCall(0, tuple(range(len(values))))
    plan = ExecutionPlan("forward", values, (), (), ((call, *extra),), (Operator(space, overload),), delegates, (0,))
    return why_on_cpu(plan, call, has_jumps(plan))


def convolution(x, transposed):
    return why("aten::convolution.out", x, tensor(1), None, None, None, None, transposed)


def test_convolutions():
    assert "batch is 8" in convolution(tensor(8, 3, 10, 10), False)
    assert "transposed 1-d" in convolution(tensor(1, 3, 10), True)
    assert "3-d" in convolution(tensor(1, 3, 4, 5, 6), False)
    assert convolution(tensor(1, 3, 10, 10), False) is None


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("aten::add.out", (tensor(2, dtype="float64"),), "float64"),
        ("aten::abs.out", (tensor(2, dtype="int64"),), "abs of int64 is not delegated"),
        ("aten::index.Tensor_out", (tensor(2), tensor(2, dtype="bool")), "bool or int64 indices"),
        ("aten::topk.values", (tensor(2),), "topk is not delegated"),
        ("aten::any.out", (tensor(2, dtype="bool"),), "scaled_dot_product_attention"),
        ("aten::max_pool3d_with_indices.out", (tensor(2),), "has no max_pool3d_with_indices"),
        ("executorch_prim::add.Scalar", (1,), "execution plan itself"),
    ],
)
def test_known_reasons(name, values, expected):
    assert expected in why(name, *values)


def test_control_flow():
    assert "control flow" in why("aten::add.out", tensor(2), extra=(JumpFalseCall(0, 0),))


def test_a_method_without_delegates():
    assert "without a partitioner" in why("aten::add.out", tensor(2), delegates=())


def test_nothing_is_made_up():
    assert why("aten::add.out", tensor(2), tensor(2)) is None


def test_a_dtype_that_numpy_lacks():
    half = TensorValue(np.dtype("V2"), (2,), (0,), Dynamism.STATIC, None, None, None, False, "bfloat16")
    assert why("aten::add.out", tensor(2), half) == "bfloat16 is not delegated"
