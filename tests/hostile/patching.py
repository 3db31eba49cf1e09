"""Finds the places of a flatbuffer's fields, so that tests can damage exactly one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np

from executorch_webgpu import load
from executorch_webgpu.format import open_program, read_vulkan_graph
from executorch_webgpu.format.generated import bundled_program, flat_tensor, program, vulkan_graph

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "format"


def fixture(name: str) -> bytearray:
    return bytearray((FIXTURES / name).read_bytes())


class Patch:
    """The bytes of a file, and the root of a flatbuffer that starts at ``start``."""

    def __init__(self, name: str, cls: Any = program.Program, start: int = 0) -> None:
        self.data = fixture(name)
        self.start = start
        self.root = cls.GetRootAs(memoryview(self.data)[start:], 0)

    def put(self, at: int, value: int, width: int = 4) -> bytes:
        self.data[at : at + width] = (value % (1 << (8 * width))).to_bytes(width, "little")
        return bytes(self.data)

    def place(self, table: Any, slot: int) -> int:
        """Return where in the file field ``slot`` (counted from 0) of a table is."""
        offset = table._tab.Offset(4 + 2 * slot)
        assert offset, f"field {slot} of {type(table).__name__} is absent"
        return self.start + table._tab.Pos + offset

    def vector(self, table: Any, slot: int, item: int = 0, width: int = 4) -> int:
        """Return where item ``item`` of a vector is; item -1 of width 4 is its length."""
        return self.start + table._tab.Vector(table._tab.Offset(4 + 2 * slot)) + item * width

    def field(self, table: Any, slot: int, value: int, width: int = 4) -> bytes:
        return self.put(self.place(table, slot), value, width)

    def item(self, table: Any, slot: int, item: int, value: int, width: int = 4) -> bytes:
        return self.put(self.vector(table, slot, item, width), value, width)


def union(holder: Any, cls: Any) -> Any:
    """Return the table that an EValue, VkValue or Instruction holds."""
    getter = next(name for name in ("Val", "Value", "InstrArgs") if hasattr(holder, name))
    table, found = getattr(holder, getter)(), cls()
    found.Init(table.Bytes, table.Pos)
    return found


def program_patch(name: str) -> tuple[Patch, Any]:
    """Return a program and its first plan."""
    patch = Patch(name)
    return patch, patch.root.ExecutionPlan(0)


def value(plan: Any, index: int, cls: Any = program.Tensor) -> Any:
    return union(plan.Values(index), cls)


def instruction(plan: Any, index: int, cls: Any) -> Any:
    return union(plan.Chains(0).Instructions(index), cls)


def blob_patch() -> Patch:
    return Patch("blob.bin", vulkan_graph.VkGraph, 32)


def external_patch() -> Patch:
    return Patch("external.ptd", flat_tensor.FlatTensor)


def named(root: Any, key: bytes) -> Any:
    """Return the entry of a tensor data file with a key."""
    return next(entry for entry in map(root.NamedData, range(root.NamedDataLength())) if entry.Key() == key)


def bundled(contents: bytes) -> bytes:
    """Return a bundled program around some bytes."""
    builder = flatbuffers.Builder()
    inner = builder.CreateByteVector(contents)
    bundled_program.BundledProgramStart(builder)
    bundled_program.BundledProgramAddProgram(builder, inner)
    builder.Finish(bundled_program.BundledProgramEnd(builder), b"BP08")
    return bytes(builder.Output())


def bomb(entries: int = 3000) -> bytes:
    """Return a program in which thousands of values are one and the same long list."""
    builder = flatbuffers.Builder()
    items = builder.CreateNumpyVector(np.zeros(entries, np.int64))
    program.IntListStart(builder)
    program.IntListAddItems(builder, items)
    numbers = program.IntListEnd(builder)
    program.EValueStart(builder)
    program.EValueAddValType(builder, program.KernelTypes.IntList)
    program.EValueAddVal(builder, numbers)
    entry = program.EValueEnd(builder)
    program.ExecutionPlanStartValuesVector(builder, entries)
    for _ in range(entries):
        builder.PrependUOffsetTRelative(entry)
    values = builder.EndVector()
    name = builder.CreateString("forward")
    program.ExecutionPlanStart(builder)
    program.ExecutionPlanAddName(builder, name)
    program.ExecutionPlanAddValues(builder, values)
    plan = program.ExecutionPlanEnd(builder)
    program.ProgramStartExecutionPlanVector(builder, 1)
    builder.PrependUOffsetTRelative(plan)
    plans = builder.EndVector()
    program.ProgramStart(builder)
    program.ProgramAddExecutionPlan(builder, plans)
    builder.Finish(program.ProgramEnd(builder), b"ET12")
    return bytes(builder.Output())


def read_all(path: Path | bytes, kind: str, name: str = "model") -> None:
    """Read whatever a file holds, as far as it goes: ``kind`` is pte, bpte, ptd or bin (a delegate blob)."""
    if kind == "bin":
        contents = path.read_bytes() if isinstance(path, Path) else path
        read_vulkan_graph(memoryview(contents), {}, name)
        return
    model, data = (FIXTURES / "external.pte", [path]) if kind == "ptd" else (path, [])
    with open_program(model, data) as file:
        for plan in file.program.plans:
            for delegate in plan.delegates:
                read_vulkan_graph(delegate.payload, file.program.named_data, name)


def load_all(path: Path) -> None:
    """Load every method of a program."""
    with load(path, device="cpu") as program:
        for name in sorted(program.method_names):
            program.load_method(name)


Case = Callable[[], bytes]
