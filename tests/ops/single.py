"""Runs one operator as a graph of its own on the GPU, and by its reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.format.vulkan_graph import (
    DoubleList,
    GraphTensor,
    GraphValue,
    IntList,
    OperatorCall,
    ValueList,
    VulkanGraph,
)
from executorch_webgpu.gpu.device import Device
from executorch_webgpu.graph.delegate import GpuDelegate
from executorch_webgpu.ops.registry import Out, references

Array = np.ndarray[Any, np.dtype[Any]]


def _tensor(shape: Sequence[int], dtype: str) -> GraphTensor:
    return GraphTensor(np.dtype(dtype), tuple(shape), -1, -1, 0, 0, np.dtype(dtype))


def run_on_gpu(
    device: Device, name: str, args: Sequence[Any], outs: Sequence[tuple[tuple[int, ...], str]]
) -> list[Array]:
    """Return the outputs of operator ``name``; arrays among ``args`` become inputs, lists and scalars are constants."""
    values: list[GraphValue] = []
    inputs: list[Array] = []
    input_ids: list[int] = []

    def place(arg: Any) -> int:
        if isinstance(arg, np.ndarray):
            input_ids.append(len(values))
            inputs.append(arg)
            values.append(_tensor(arg.shape, arg.dtype.name))
        elif isinstance(arg, list) and any(isinstance(item, np.ndarray) for item in arg):
            items = tuple(place(item) for item in arg)
            values.append(ValueList(items))
        elif isinstance(arg, list):
            values.append(DoubleList(tuple(arg)) if any(isinstance(i, float) for i in arg) else IntList(tuple(arg)))
        else:
            values.append(arg)
        return len(values) - 1

    ids = [place(arg) for arg in args]
    output_ids = tuple(range(len(values), len(values) + len(outs)))
    values += [_tensor(shape, dtype) for shape, dtype in outs]
    target = output_ids[0]
    if len(outs) > 1:
        target = len(values)
        values.append(ValueList(output_ids))
    call = OperatorCall(0, name, (*ids, target))
    graph = VulkanGraph("", (call,), tuple(values), tuple(input_ids), output_ids, ())
    delegate = GpuDelegate(graph, device)
    try:
        return [np.asarray(value) for value in delegate.execute(inputs)]
    finally:
        delegate.close()


def run_reference(name: str, args: Sequence[Any], outs: Sequence[tuple[tuple[int, ...], str]]) -> list[Array]:
    """Return the outputs of the reference of operator ``name``, cast to the dtypes of ``outs``."""
    told = tuple(Out(shape, np.dtype(dtype)) for shape, dtype in outs)
    reference = references()[name]
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with np.errstate(all="ignore"):
        result = reference.function(told[0] if reference.outputs == 1 else told, *copies)
        results = [result] if reference.outputs == 1 else list(result)
        return [np.asarray(value).astype(out.dtype) for value, out in zip(results, told, strict=True)]
