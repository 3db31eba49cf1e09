"""Reads the values of an execution plan: scalars, lists and tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.format import plan as p
from executorch_webgpu.format.accessors import checked_indices, damaged, listed, numbers, text
from executorch_webgpu.format.external_data import Layout
from executorch_webgpu.format.generated import program as schema
from executorch_webgpu.format.payloads import Payloads
from executorch_webgpu.format.scalar_types import scalar_dtype

MAX_BYTES = 1 << 48
_MAX_RANK = 16  # kTensorDimensionLimit of ExecuTorch
_TYPES = schema.KernelTypes
_EXTERNAL = schema.TensorDataLocation.EXTERNAL


class ValueReader:
    """Turns verified value tables into values; ``where`` names the method in errors."""

    def __init__(self, where: str, arenas: tuple[int, ...], payloads: Payloads) -> None:
        self.where = where
        self.arenas = arenas
        self.payloads = payloads

    def fail(self, what: str) -> InvalidProgram:
        """Return the error for something damaged in the plan being read."""
        return damaged(InvalidProgram, self.where, what)

    def read(self, plan: Any) -> tuple[p.PlanValue, ...]:
        """Return the values of a plan.

        Raises:
            InvalidProgram, InvalidExternalData: As ``read_plan`` says.
        """
        values = tuple(self._value(plan.Values(i), i) for i in range(plan.ValuesLength()))
        for index, value in enumerate(values):
            if isinstance(value, p.IntListValue):
                self._check_items(values, index, value.items, _may_be_int)
            elif isinstance(value, p.TensorListValue):
                present = tuple(item for item in value.items if not (value.optional and item == -1))
                self._check_items(values, index, present, _may_be_tensor)
        return values

    def _check_items(
        self, values: tuple[p.PlanValue, ...], index: int, items: tuple[int, ...], allowed: Callable[[Any], bool]
    ) -> None:
        checked_indices(items, len(values), f"an item of list {index}", self.fail)
        for item in items:
            if not allowed(values[item]):
                raise self.fail(f"an item of list {index} is value {item}, which is of the wrong kind")

    def _value(self, entry: Any, index: int) -> p.PlanValue:
        kind = entry.ValType()
        if kind == _TYPES.Null:
            return None
        reader = _READERS.get(kind)
        if reader is None:
            raise self.fail(f"value {index} is of no known kind")
        cls, read = reader
        table, found = entry.Val(), cls()
        found.Init(table.Bytes, table.Pos)
        return read(self, found, index)

    def _tensor(self, table: Any, index: int) -> p.TensorValue:
        what = f"value {index}"
        scalar = table.ScalarType()
        dtype, opaque = scalar_dtype(scalar)
        sizes = numbers(table.SizesLength(), table.SizesAsNumpy)
        # Dims of 0 must not hide others that no array can have.
        if len(sizes) > _MAX_RANK or any(size < 0 for size in sizes) or _volume(sizes) * dtype.itemsize > MAX_BYTES:
            raise self.fail(f"{what} has the sizes {listed(sizes)}")
        order = numbers(table.DimOrderLength(), table.DimOrderAsNumpy) or tuple(range(len(sizes)))
        if len(order) != len(sizes) or sorted(order) != list(range(len(sizes))):
            raise self.fail(f"{what} has the dim order {listed(order)} for {len(sizes)} dims")
        if table.StorageOffset():
            raise self.fail(f"{what} has the storage offset {table.StorageOffset()}, expected 0")
        nbytes = math.prod(sizes) * dtype.itemsize
        extra = table.ExtraTensorInfo()
        name = text(extra.FullyQualifiedName()) if extra is not None else ""
        external = extra is not None and extra.Location() == _EXTERNAL
        allocation = self._allocation(table.AllocationInfo(), what, nbytes)
        data: memoryview | None = None
        buffer, where = table.DataBufferIdx(), f"{self.where}: {what}"
        if external:
            data = self.payloads.external(name, Layout(scalar, sizes, order), nbytes, where)
        elif buffer and allocation is None:
            data = self.payloads.constant(buffer, nbytes, where)
        elif buffer:
            segment = extra.MutableDataSegmentsIdx() if extra is not None else 0
            data = self.payloads.initial(segment, buffer, nbytes, where)
        dynamism = p.Dynamism(table.ShapeDynamism())
        return p.TensorValue(dtype, sizes, order, dynamism, data, allocation, name or None, external, opaque)

    def _allocation(self, table: Any, what: str, nbytes: int) -> p.Allocation | None:
        if table is None:
            return None
        memory, offset = table.MemoryId(), table.MemoryOffsetLow() | (table.MemoryOffsetHigh() << 32)
        if not 0 < memory < len(self.arenas):
            raise self.fail(f"{what} is in arena {memory}, expected 1 to {len(self.arenas) - 1}")
        if offset + nbytes > self.arenas[memory]:
            raise self.fail(f"{what} ends at byte {offset + nbytes} of arena {memory}, which has {self.arenas[memory]}")
        return p.Allocation(memory, offset)


def _volume(sizes: tuple[int, ...]) -> int:
    return math.prod(size or 1 for size in sizes)


def _may_be_int(value: p.PlanValue) -> bool:
    # A Null may become an Int at run time.
    return type(value) is int or value is None


def _may_be_tensor(value: p.PlanValue) -> bool:
    return isinstance(value, p.TensorValue) or value is None


def _int(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return int(table.IntVal())


def _bool(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return bool(table.BoolVal())


def _double(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return float(table.DoubleVal())


def _string(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return text(table.StringVal())


def _int_list(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return p.IntListValue(numbers(table.ItemsLength(), table.ItemsAsNumpy))


def _double_list(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return p.DoubleListValue(numbers(table.ItemsLength(), table.ItemsAsNumpy))


def _bool_list(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return p.BoolListValue(numbers(table.ItemsLength(), table.ItemsAsNumpy))


def _tensor_list(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return p.TensorListValue(numbers(table.ItemsLength(), table.ItemsAsNumpy), False)


def _optional_tensor_list(_: ValueReader, table: Any, index: int) -> p.PlanValue:
    return p.TensorListValue(numbers(table.ItemsLength(), table.ItemsAsNumpy), True)


_READERS: dict[int, tuple[Any, Callable[[ValueReader, Any, int], p.PlanValue]]] = {
    _TYPES.Int: (schema.Int, _int),
    _TYPES.Bool: (schema.Bool, _bool),
    _TYPES.Double: (schema.Double, _double),
    _TYPES.String: (schema.String, _string),
    _TYPES.Tensor: (schema.Tensor, ValueReader._tensor),
    _TYPES.IntList: (schema.IntList, _int_list),
    _TYPES.DoubleList: (schema.DoubleList, _double_list),
    _TYPES.BoolList: (schema.BoolList, _bool_list),
    _TYPES.TensorList: (schema.TensorList, _tensor_list),
    _TYPES.OptionalTensorList: (schema.OptionalTensorList, _optional_tensor_list),
}
