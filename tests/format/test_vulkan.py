"""The delegate blob: its header, a value of every kind, constants inside and by key."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from executorch_webgpu.errors import DelegateInvalidCompatibility, InvalidExternalData
from executorch_webgpu.format import open_program, read_vulkan_graph
from executorch_webgpu.format import vulkan_graph as g

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "format"
BLOB = (FIXTURES / "blob.bin").read_bytes()


def test_every_kind_of_value():
    graph = read_vulkan_graph(memoryview(BLOB), {}, "blob")
    x, weight, *scalars, half, size, empty = graph.values
    assert scalars == [
        7,
        0.5,
        True,
        None,
        "none",
        g.IntList((2, -1)),
        g.DoubleList((1.5, math.inf)),
        g.BoolList((True, False)),
        g.ValueList((0, 2)),
    ]
    assert [type(value) for value in scalars[:3]] == [int, float, bool]
    assert size == g.SymInt(0)
    assert (x.sizes, x.is_constant, x.mem_obj_id) == ((2, 3), False, 0)
    assert (weight.constant_id, weight.dtype, weight.staging_dtype) == (0, np.float32, np.float32)
    assert (half.dtype, half.staging_dtype, half.storage_type, half.memory_layout) == (np.float16, np.float32, 0, 0)
    assert empty.sizes == (0, 3)
    assert graph.input_ids == (0,)
    assert graph.output_ids == (0, 12)
    assert graph.version == "0"
    assert graph.chain == (
        g.OperatorCall(0, "aten.add.Tensor", (0, 1, 2, 0)),
        g.OperatorCall(1, "sym_size.int", (0, 2, 12)),
    )


def test_constants_inside():
    graph = read_vulkan_graph(memoryview(BLOB), {}, "blob")
    first, second = graph.constants
    assert np.frombuffer(first.data, np.float32).tolist() == [0, 1, 2, 3, 4, 5]
    assert np.frombuffer(second.data, np.float32).tolist() == [1, 2, 3]
    assert first.named_key is None
    assert first.length == 24


def test_constants_by_key():
    with open_program(FIXTURES / "delegate.pte") as file:
        payload, named = file.program.plans[0].delegates[0].payload, dict(file.program.named_data)
        key = next(key for key, data in named.items() if len(data) == 24)
        # What is longer than the constant is cut; what is shorter or absent is refused.
        longer = memoryview(bytes(named[key]) + bytes(8))
        graph = read_vulkan_graph(payload, named | {key: longer}, "blob")
        assert [constant.length for constant in graph.constants] == [len(constant.data) for constant in graph.constants]
        with pytest.raises(InvalidExternalData, match="has 4 bytes, expected 24"):
            read_vulkan_graph(payload, named | {key: longer[:4]}, "blob")
        del named[key]
        with pytest.raises(InvalidExternalData, match=r"blob: constant . .*is not in the program"):
            read_vulkan_graph(payload, named, "blob")


def test_another_kind_of_blob():
    with pytest.raises(DelegateInvalidCompatibility, match=r"here: .*starts with b'XXXX', expected b'VH00'"):
        read_vulkan_graph(memoryview(BLOB[:4] + b"XXXX" + BLOB[8:]), {}, "here")
    with pytest.raises(DelegateInvalidCompatibility, match="header of 34 bytes, expected 30"):
        read_vulkan_graph(memoryview(BLOB[:8] + b"\x22" + BLOB[9:]), {}, "here")
