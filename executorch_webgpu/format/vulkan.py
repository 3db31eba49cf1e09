"""Reads the blob of a Vulkan delegate: header VH00, flatbuffer VK00, constants inline or by named key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from executorch_webgpu.errors import DelegateInvalidCompatibility, InvalidExternalData
from executorch_webgpu.format import vulkan_graph as g
from executorch_webgpu.format.generated import vulkan_graph as schema
from executorch_webgpu.format.segments import ints, text
from executorch_webgpu.format.verify import verify

_NAMED = (1 << 64) - 1  # the offset of a constant that is looked up by its key
_HEADER = 30
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
_UNSET = 127


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
        return DelegateInvalidCompatibility(f"{self.where}: the Vulkan delegate blob is damaged: {what}")

    def read(self) -> g.VulkanGraph:
        payload = self.payload
        magic = bytes(payload[4:8])
        if magic != b"VH00" or len(payload) < _HEADER:
            raise DelegateInvalidCompatibility(
                f"{self.where}: the Vulkan delegate blob starts with {magic!r}, expected b'VH00'; "
                "export the program again with ExecuTorch 1.x"
            )
        header = bytes(payload[:_HEADER])
        size = int.from_bytes(header[8:10], "little")
        flat_start, flat_size, data_start = (int.from_bytes(header[i : i + 4], "little") for i in (10, 14, 18))
        data_size = int.from_bytes(header[22:30], "little")
        if size != _HEADER or flat_start + flat_size > len(payload) or data_start + data_size > len(payload):
            raise self.fail(f"its header points past its {len(payload)} bytes")
        flatbuffer = payload[flat_start : flat_start + flat_size]
        what = f"{self.where}: the Vulkan delegate graph"
        verify(flatbuffer, "vulkan_graph", b"VK00", what, DelegateInvalidCompatibility)
        root = schema.VkGraph.GetRootAs(flatbuffer, 0)
        constants = tuple(
            self._constant(root.Constants(i), i, data_start, data_size) for i in range(root.ConstantsLength())
        )
        values = tuple(self._value(root.Values(i), i, len(constants)) for i in range(root.ValuesLength()))
        self._check_values(values, constants)
        inputs = self._ids(ints(root.InputIdsLength, root.InputIds), len(values), "an input")
        outputs = self._ids(ints(root.OutputIdsLength, root.OutputIds), len(values), "an output")
        chain = []
        for i in range(root.ChainLength()):
            call = root.Chain(i)
            args = self._ids(ints(call.ArgsLength, call.Args), len(values), f"an argument of node {call.NodeId()}")
            if not args:
                raise self.fail(f"node {call.NodeId()} has no arguments")
            chain.append(g.OperatorCall(call.NodeId(), text(call.Name()), args))
        return g.VulkanGraph(text(root.Version()), tuple(chain), values, inputs, outputs, constants)

    def _ids(self, items: tuple[int, ...], count: int, what: str) -> tuple[int, ...]:
        for item in items:
            if not 0 <= item < count:
                raise self.fail(f"{what} is value {item} of {count}")
        return items

    def _constant(self, table: Any, index: int, start: int, size: int) -> g.Constant:
        offset, length, key = table.Offset(), table.Length(), text(table.NamedKey()) or None
        if offset == _NAMED:
            if key is None:
                raise self.fail(f"constant {index} has neither an offset nor a key")
            found = self.named_data.get(key)
            if found is None:
                raise InvalidExternalData(
                    f"{self.where}: constant {index} (key {key}) is not in the program; "
                    "pass the .ptd files that belong to it (--data)"
                )
            if len(found) < length:
                raise InvalidExternalData(
                    f"{self.where}: constant {index} (key {key}) has {len(found)} bytes, expected {length}"
                )
            return g.Constant(length, found[:length], key)
        if offset + length > size:
            raise self.fail(f"constant {index} needs bytes {offset} to {offset + length} of {size}")
        return g.Constant(length, self.payload[start + offset : start + offset + length], None)

    def _value(self, entry: Any, index: int, constants: int) -> g.GraphValue:
        kind = entry.ValueType()
        table = entry.Value()

        def read(cls: Any) -> Any:
            found = cls()
            found.Init(table.Bytes, table.Pos)
            return found

        if kind in (_TYPES.NONE, _TYPES.Null):
            return None
        if kind == _TYPES.Int:
            return int(read(schema.Int).IntVal())
        if kind == _TYPES.Double:
            return float(read(schema.Double).DoubleVal())
        if kind == _TYPES.Bool:
            return bool(read(schema.Bool).BoolVal())
        if kind == _TYPES.String:
            return text(read(schema.String).StringVal())
        if kind == _TYPES.SymInt:
            return g.SymInt(read(schema.SymInt).Value())
        if kind == _TYPES.VkTensor:
            return self._tensor(read(schema.VkTensor), index, constants)
        if kind == _TYPES.DoubleList:
            doubles = read(schema.DoubleList)
            return g.DoubleList(tuple(float(doubles.Items(i)) for i in range(doubles.ItemsLength())))
        if kind == _TYPES.BoolList:
            bools = read(schema.BoolList)
            return g.BoolList(tuple(bool(bools.Items(i)) for i in range(bools.ItemsLength())))
        if kind == _TYPES.IntList:
            items = read(schema.IntList)
            return g.IntList(ints(items.ItemsLength, items.Items))
        items = read(schema.ValueList)
        return g.ValueList(ints(items.ItemsLength, items.Items))

    def _tensor(self, table: Any, index: int, constants: int) -> g.GraphTensor:
        dtype = _DTYPES.get(table.Datatype())
        if dtype is None:
            raise self.fail(f"value {index} has the data type {table.Datatype()}")
        staging = dtype if table.StagingDatatype() == _UNSET else _DTYPES.get(table.StagingDatatype(), dtype)
        sizes = ints(table.DimsLength, table.Dims)
        if len(sizes) > 8 or math.prod(sizes) * dtype.itemsize >= 1 << 40:
            raise self.fail(f"value {index} has the sizes {list(sizes)}")
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
                        f"value {index} ({value.dtype} {list(value.sizes)}) needs {need} bytes, "
                        f"its constant has {constants[value.constant_id].length}"
                    )
