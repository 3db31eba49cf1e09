"""Payloads in pieces are the payload, whatever they are stored as."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.errors import DelegateInvalidCompatibility
from executorch_webgpu.format.vulkan_graph import Constant, GraphTensor, VulkanGraph
from executorch_webgpu.graph.constants import constant_array, constant_pieces


def graph_of(array: np.ndarray, dtype: str) -> tuple[VulkanGraph, GraphTensor]:
    data = memoryview(array.tobytes())
    tensor = GraphTensor(np.dtype(dtype), array.shape, 0, -1, 0, 0, array.dtype)
    return VulkanGraph("0", (), (tensor,), (), (), (Constant(len(data), data, None),)), tensor


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("piece", [1, 4, 7, 35, 100])
def test_pieces_make_the_whole(dtype, piece):
    array = np.linspace(-3, 1e5, 35, dtype=np.float32).reshape(5, 7)
    graph, tensor = graph_of(array, dtype)
    whole = constant_array(graph, tensor)
    pieces = list(constant_pieces(graph, tensor, piece))
    assert whole.shape == (5, 7)
    assert whole.dtype == dtype
    assert all(0 < len(part) <= piece for part in pieces)
    assert np.array_equal(np.concatenate(pieces).reshape(5, 7), whole)


def test_pieces_are_views_where_nothing_is_converted():
    graph, tensor = graph_of(np.arange(8, dtype=np.float32), "float32")
    source = np.frombuffer(graph.constants[0].data, np.float32)
    assert all(np.shares_memory(part, source) for part in constant_pieces(graph, tensor, 3))


def test_an_empty_constant_has_no_pieces():
    graph, tensor = graph_of(np.zeros((0, 3), np.float32), "float32")
    assert list(constant_pieces(graph, tensor, 4)) == []


def test_a_payload_of_another_size():
    graph, tensor = graph_of(np.zeros(8, np.float32), "float32")
    longer = GraphTensor(tensor.dtype, (80,), 0, -1, 0, 0, tensor.staging_dtype)
    with pytest.raises(DelegateInvalidCompatibility, match=r"has 32 bytes; float32 \[80\] needs 320"):
        list(constant_pieces(graph, longer, 4))
