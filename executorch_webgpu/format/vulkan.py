"""Reads the blob of a Vulkan delegate: header VH00, flatbuffer VK00, constants inline or by named key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from executorch_webgpu.errors import DelegateInvalidCompatibility, InvalidExternalData
from executorch_webgpu.format import vulkan_graph as g
from executorch_webgpu.format.accessors import checked_indices, damaged, listed, name_of, numbers, shown, text
from executorch_webgpu.format.files import part_of
from executorch_webgpu.format.generated import vulkan_graph as schema
from executorch_webgpu.format.verify import verify

_NAMED = (1 << 64) - 1  # the offset of a constant that is looked up by its key
_HEADER = 30
_MAX_BYTES = 1 << 40
_TYPES = schema.GraphTypes
_DTYPES: dict[int, np.dtype[Any]] = {
    0: np.dtype(np.bool_),
    1: np.dtype(np.uint8),
    2: np.dtype(np.int8),
    3: np.dtype(np.int32),
    4: np.dtype(np.float16),
    5: np.dtype(np.float32),
    6: np.dtype(np.float64),
    7: np.dtype(np.int64),
}
_CLASSES: dict[int, Any] = {
    _TYPES.Int: schema.Int,
    _TYPES.Double: schema.Double,
    _TYPES.Bool: schema.Bool,
    _TYPES.VkTensor: schema.VkTensor,
    _TYPES.IntList: schema.IntList,
    _TYPES.DoubleList: schema.DoubleList,
    _TYPES.BoolList: schema.BoolList,
    _TYPES.ValueList: schema.ValueList,
    _TYPES.String: schema.String,
    _TYPES.SymInt: schema.SymInt,
}
_LISTS: dict[int, type[g.IntList | g.DoubleList | g.BoolList | g.ValueList]] = {
    _TYPES.IntList: g.IntList,
    _TYPES.DoubleList: g.DoubleList,
    _TYPES.BoolList: g.BoolList,
    _TYPES.ValueList: g.ValueList,
}


def read_vulkan_graph(payload: memoryview, named_data: Mapping[str, memoryview], where: str) -> g.VulkanGraph:
    """Return the graph of a delegate blob; ``where`` names it in errors.

    Raises:
        DelegateInvalidCompatibility: The blob is damaged or of another version.
        InvalidExternalData: A constant is in a data file that was not given.
    """
    return _Reader(payload, named_data, where).read()


class _Reader:
    def __init__(self, payload: memoryview, named_data: Mapping[str, memoryview], where: str) -> None:
        self.payload = payload
        self.named_data = named_data
        self.where = where

    def fail(self, what: str) -> DelegateInvalidCompatibility:
        return damaged(DelegateInvalidCompatibility, f"{self.where}: the Vulkan delegate blob", what)

    def read(self) -> g.VulkanGraph:
        payload = self.payload
        flat_start, flat_size, data_start, data_size = self._header()
        flatbuffer = payload[flat_start : flat_start + flat_size]
        what = f"{self.where}: the Vulkan delegate graph"
        verify(flatbuffer, "vulkan_graph", b"VK00", what, DelegateInvalidCompatibility)
        root = schema.VkGraph.GetRootAs(flatbuffer, 0)
        constants = tuple(
            self._constant(root.Constants(i), i, data_start, data_size) for i in range(root.ConstantsLength())
        )
        values = tuple(self._value(root.Values(i), i, len(constants)) for i in range(root.ValuesLength()))
        self._check_values(values, constants)
        inputs = self._ends(numbers(root.InputIdsLength(), root.InputIdsAsNumpy), values, "an input")
        outputs = self._ends(numbers(root.OutputIdsLength(), root.OutputIdsAsNumpy), values, "an output")
        if len(set(inputs)) != len(inputs):
            raise self.fail("a value is an input twice")
        chain = tuple(self._node(root.Chain(i), i, len(values)) for i in range(root.ChainLength()))
        return g.VulkanGraph(text(root.Version()), chain, values, inputs, outputs, constants)

    def _header(self) -> tuple[int, int, int, int]:
        """Return the offsets and sizes of the flatbuffer and of the inline constants."""
        header = bytes(self.payload[:_HEADER])
        if header[4:8] != b"VH00" or len(header) < _HEADER:
            raise DelegateInvalidCompatibility(
                f"{self.where}: the Vulkan delegate blob starts with {header[4:8]!r}, expected b'VH00' and a header of "
                f"{_HEADER} bytes; export the program again with ExecuTorch 1.x"
            )
        size = int.from_bytes(header[8:10], "little")
        if size != _HEADER:
            raise DelegateInvalidCompatibility(
                f"{self.where}: the Vulkan delegate blob has a header of {size} bytes, expected {_HEADER}; "
                "export the program again with ExecuTorch 1.x"
            )
        flat_start, flat_size, data_start = (int.from_bytes(header[i : i + 4], "little") for i in (10, 14, 18))
        data_size = int.from_bytes(header[22:30], "little")
        total = len(self.payload)
        if flat_start < _HEADER or flat_start + flat_size > total:
            raise self.fail(f"its flatbuffer lies at bytes {flat_start} to {flat_start + flat_size} of {total}")
        if data_start < flat_start + flat_size or data_start + data_size > total:
            raise self.fail(f"its constants lie at bytes {data_start} to {data_start + data_size} of {total}")
        return flat_start, flat_size, data_start, data_size

    def _ids(self, items: tuple[int, ...], count: int, what: str) -> tuple[int, ...]:
        return checked_indices(items, count, what, self.fail)

    def _ends(self, items: tuple[int, ...], values: tuple[g.GraphValue, ...], what: str) -> tuple[int, ...]:
        for item in self._ids(items, len(values), what):
            if not isinstance(values[item], g.GraphTensor | g.SymInt):
                raise self.fail(f"{what} is value {item}, which is no tensor and no SymInt")
        return items

    def _node(self, call: Any, index: int, count: int) -> g.OperatorCall:
        name = name_of(call.Name(), f"node {index}", self.fail)
        what = f"node {index} ({shown(name)})"
        args = self._ids(numbers(call.ArgsLength(), call.ArgsAsNumpy), count, f"an argument of {what}")
        if not args:
            raise self.fail(f"{what} has no arguments")
        return g.OperatorCall(call.NodeId(), name, args)

    def _constant(self, table: Any, index: int, start: int, size: int) -> g.Constant:
        offset, length = table.Offset(), table.Length()
        if offset == _NAMED:
            return self._named_constant(text(table.NamedKey()), index, length)
        if offset + length > size:
            raise self.fail(f"constant {index} lies at bytes {offset} to {offset + length} of {size}")
        return g.Constant(length, part_of(self.payload, start + offset, length), None)

    def _named_constant(self, key: str, index: int, length: int) -> g.Constant:
        if not key:
            raise self.fail(f"constant {index} has neither an offset nor a key")
        found = self.named_data.get(key)
        if found is None:
            raise InvalidExternalData(
                f"{self.where}: constant {index} (key {shown(key)}) is not in the program; "
                "pass the .ptd files that belong to it (--data)"
            )
        if len(found) < length:
            raise InvalidExternalData(
                f"{self.where}: constant {index} (key {shown(key)}) has {len(found)} bytes, expected {length}; "
                "pass the .ptd files that were exported with the program"
            )
        return g.Constant(length, found if len(found) == length else part_of(found, 0, length), key)

    def _value(self, entry: Any, index: int, constants: int) -> g.GraphValue:
        kind = entry.ValueType()
        if kind == _TYPES.Null:
            return None
        if kind not in _CLASSES:
            raise self.fail(f"value {index} is of no known kind")
        table, found = entry.Value(), _CLASSES[kind]()
        found.Init(table.Bytes, table.Pos)
        match kind:
            case _TYPES.VkTensor:
                return self._tensor(found, index, constants)
            case _TYPES.Int:
                return int(found.IntVal())
            case _TYPES.Double:
                return float(found.DoubleVal())
            case _TYPES.Bool:
                return bool(found.BoolVal())
            case _TYPES.String:
                return text(found.StringVal())
            case _TYPES.SymInt:
                return g.SymInt(found.Value())
        return _LISTS[kind](numbers(found.ItemsLength(), found.ItemsAsNumpy))

    def _tensor(self, table: Any, index: int, constants: int) -> g.GraphTensor:
        dtype = _DTYPES.get(table.Datatype())
        if dtype is None:
            raise self.fail(f"value {index} has the data type {table.Datatype()}")
        staging = _DTYPES.get(table.StagingDatatype(), dtype)  # else it is unset
        sizes = numbers(table.DimsLength(), table.DimsAsNumpy)
        # Dims of 0 must not hide others that no array can have.
        if len(sizes) > 8 or math.prod(size or 1 for size in sizes) * dtype.itemsize >= _MAX_BYTES:
            raise self.fail(f"value {index} has the sizes {listed(sizes)}")
        constant = max(-1, table.ConstantId())
        if constant >= constants:
            raise self.fail(f"value {index} is constant {constant} of {constants}")
        return g.GraphTensor(
            dtype, sizes, constant, max(-1, table.MemObjId()), table.StorageType(), table.MemoryLayout(), staging
        )

    def _check_values(self, values: tuple[g.GraphValue, ...], constants: tuple[g.Constant, ...]) -> None:
        for index, value in enumerate(values):
            if isinstance(value, g.ValueList):
                for item in self._ids(value.items, len(values), f"an item of list {index}"):
                    if isinstance(values[item], g.ValueList):
                        raise self.fail(f"list {index} holds another list")
            elif isinstance(value, g.GraphTensor) and value.is_constant:
                need = math.prod(value.sizes) * min(value.dtype.itemsize, value.staging_dtype.itemsize)
                if constants[value.constant_id].length < need:
                    raise self.fail(
                        f"value {index} ({value.dtype} {listed(value.sizes)}) needs {need} bytes, "
                        f"its constant has {constants[value.constant_id].length}"
                    )
