"""Payloads of a graph's constants as arrays over the mapped file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from executorch_webgpu.errors import DelegateInvalidCompatibility
from executorch_webgpu.format.vulkan_graph import GraphTensor, VulkanGraph

Array = np.ndarray[Any, np.dtype[Any]]


def payload_dtype(graph: VulkanGraph, tensor: GraphTensor) -> np.dtype[Any]:
    """Return the dtype that the payload is stored in: the tensor's, or the staging dtype under force_fp16."""
    length = graph.constants[tensor.constant_id].length
    numel = math.prod(tensor.sizes)
    for dtype in (tensor.dtype, tensor.staging_dtype):
        if numel * dtype.itemsize <= length < numel * dtype.itemsize + 16:
            return dtype
    raise DelegateInvalidCompatibility(
        f"constant {tensor.constant_id} has {length} bytes; {tensor.dtype} {list(tensor.sizes)} needs "
        f"{numel * tensor.dtype.itemsize}"
    )


def constant_array(graph: VulkanGraph, tensor: GraphTensor) -> Array:
    """Return the payload as an array of the tensor's dtype; a view of the file unless its dtype must change.

    Raises:
        DelegateInvalidCompatibility: The payload does not have the size that dims and dtype ask for.
    """
    return _cast(_stored(graph, tensor), tensor).reshape(tensor.sizes)


def constant_pieces(graph: VulkanGraph, tensor: GraphTensor, numel: int) -> Iterator[Array]:
    """Yield the payload as flat arrays of ``numel`` elements or fewer: conversions never hold a whole second copy.

    Raises:
        DelegateInvalidCompatibility: The payload does not have the size that dims and dtype ask for.
    """
    stored = _stored(graph, tensor)
    for start in range(0, len(stored), numel):
        yield _cast(stored[start : start + numel], tensor)


def _stored(graph: VulkanGraph, tensor: GraphTensor) -> Array:
    data = graph.constants[tensor.constant_id].data
    return np.frombuffer(data, payload_dtype(graph, tensor), math.prod(tensor.sizes))


def _cast(array: Array, tensor: GraphTensor) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(tensor.dtype, copy=False)
