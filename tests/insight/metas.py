"""Methods with inputs of any kind, without files."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.format.plan import Dynamism, ExecutionPlan, TensorValue
from executorch_webgpu.runtime import MethodMeta


def tensor(*sizes: int, dtype: str = "float32", dynamism: Dynamism = Dynamism.STATIC) -> TensorValue:
    return TensorValue(np.dtype(dtype), sizes, tuple(range(len(sizes))), dynamism, None, None, None, False)


def meta(*inputs: Any) -> MethodMeta:
    plan = ExecutionPlan("forward", inputs, tuple(range(len(inputs))), (), ((),), (), (), (0,))
    return MethodMeta(plan)
