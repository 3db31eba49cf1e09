"""Builds delegate graphs in memory, so that the graph layer is tested without files."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.format.vulkan_graph import (
    Constant,
    GraphTensor,
    GraphValue,
    IntList,
    OperatorCall,
    SymInt,
    ValueList,
    VulkanGraph,
)


class GraphBuilder:
    """Collects values and nodes; every method returns a value id."""

    def __init__(self) -> None:
        self.values: list[GraphValue] = []
        self.chain: list[OperatorCall] = []
        self.inputs: list[int] = []
        self.constants: list[Constant] = []

    def value(self, value: Any) -> int:
        if isinstance(value, list):
            value = IntList(tuple(value))
        self.values.append(value)
        return len(self.values) - 1

    def tensor(self, shape: tuple[int, ...], dtype: str = "float32") -> int:
        kind = np.dtype(dtype)
        return self.value(GraphTensor(kind, tuple(shape), -1, -1, 0, 0, kind))

    def input(self, shape: tuple[int, ...], dtype: str = "float32") -> int:
        self.inputs.append(self.tensor(shape, dtype))
        return self.inputs[-1]

    def constant(self, array: np.ndarray) -> int:
        data = memoryview(np.ascontiguousarray(array).tobytes())
        self.constants.append(Constant(len(data), data, None))
        return self.value(GraphTensor(array.dtype, array.shape, len(self.constants) - 1, -1, 0, 0, array.dtype))

    def call(self, name: str, *args: Any, out: Any) -> Any:
        """Append a node. ``args`` are value ids in tuples ``(id,)`` or plain Python values; ``out`` a shape, a
        (shape, dtype) pair, SymInt, or a list of shapes for several outputs."""
        ids = [arg[0] if isinstance(arg, tuple) else self.value(arg) for arg in args]
        if isinstance(out, SymInt):
            made: Any = self.value(out)
            last = made
        elif isinstance(out, list):
            made = [self.tensor(shape) for shape in out]
            last = self.value(ValueList(tuple(made)))
        else:
            made = last = self.tensor(*out) if out and isinstance(out[0], tuple) else self.tensor(out)
        self.chain.append(OperatorCall(len(self.chain), name, (*ids, last)))
        return made

    def build(self, *outputs: int) -> VulkanGraph:
        return VulkanGraph(
            "0", tuple(self.chain), tuple(self.values), tuple(self.inputs), tuple(outputs), tuple(self.constants)
        )
