"""Reads execution plans and checks whatever the executor will index with."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format import plan as p
from executorch_webgpu.format.external_data import ExternalItem
from executorch_webgpu.format.files import MappedFile
from executorch_webgpu.format.generated import program as schema
from executorch_webgpu.format.scalar_types import scalar_dtype
from executorch_webgpu.format.segments import Segments, ints, text

_TYPES = schema.KernelTypes
_INSTRUCTIONS = schema.InstructionArguments
_MAX_BYTES = 1 << 48


class PlanReader:
    """Turns verified flatbuffer tables into the dataclasses of ``format.plan``."""

    def __init__(self, file: MappedFile, root: Any, segments: Segments, external: Mapping[str, ExternalItem]) -> None:
        self.file = file
        self.root = root
        self.segments = segments
        self.external = external
        self.constant_bytes = 0
        self.mutable_bytes = 0
        self._where = file.name

    def fail(self, what: str) -> InvalidProgram:
        """Return the error for something damaged in the plan being read."""
        return InvalidProgram(f"{self._where} is damaged: {what}")

    def plan(self, index: int) -> p.ExecutionPlan:
        """Return one checked execution plan."""
        table = self.root.ExecutionPlan(index)
        name = text(table.Name())
        self._where = f"{self.file.name}: method {name!r}"
        arenas = ints(table.NonConstBufferSizesLength, table.NonConstBufferSizes)
        if any(not 0 <= size < _MAX_BYTES for size in arenas):
            raise self.fail(f"the arena sizes {list(arenas)} are out of range")
        values = tuple(self._value(table.Values(i), i, arenas) for i in range(table.ValuesLength()))
        self._check_lists(values)
        operators = tuple(
            p.Operator(text(table.Operators(i).Name()), text(table.Operators(i).Overload()))
            for i in range(table.OperatorsLength())
        )
        delegates = tuple(self._delegate(table.Delegates(i), i) for i in range(table.DelegatesLength()))
        chains = tuple(
            self._chain(table.Chains(i), len(values), len(operators), len(delegates))
            for i in range(table.ChainsLength())
        )
        inputs = self._indices(ints(table.InputsLength, table.Inputs), len(values), "an input")
        outputs = self._indices(ints(table.OutputsLength, table.Outputs), len(values), "an output")
        return p.ExecutionPlan(name, values, inputs, outputs, chains, operators, delegates, arenas)

    def _indices(self, items: tuple[int, ...], count: int, what: str) -> tuple[int, ...]:
        for item in items:
            if not 0 <= item < count:
                raise self.fail(f"{what} is value {item} of {count}")
        return items

    def _value(self, entry: Any, index: int, arenas: tuple[int, ...]) -> p.PlanValue:
        kind = entry.ValType()
        table = entry.Val()

        def read(cls: Any) -> Any:
            found = cls()
            found.Init(table.Bytes, table.Pos)
            return found

        if kind in (_TYPES.NONE, _TYPES.Null):
            return None
        if kind == _TYPES.Int:
            return int(read(schema.Int).IntVal())
        if kind == _TYPES.Bool:
            return bool(read(schema.Bool).BoolVal())
        if kind == _TYPES.Double:
            return float(read(schema.Double).DoubleVal())
        if kind == _TYPES.String:
            return text(read(schema.String).StringVal())
        if kind == _TYPES.Tensor:
            return self._tensor(read(schema.Tensor), f"value {index}", arenas)
        if kind == _TYPES.DoubleList:
            doubles = read(schema.DoubleList)
            return p.DoubleListValue(tuple(float(doubles.Items(i)) for i in range(doubles.ItemsLength())))
        if kind == _TYPES.BoolList:
            bools = read(schema.BoolList)
            return p.BoolListValue(tuple(bool(bools.Items(i)) for i in range(bools.ItemsLength())))
        if kind == _TYPES.IntList:
            items = read(schema.IntList)
            return p.IntListValue(ints(items.ItemsLength, items.Items))
        optional = kind == _TYPES.OptionalTensorList
        tensors = read(schema.OptionalTensorList if optional else schema.TensorList)
        return p.TensorListValue(ints(tensors.ItemsLength, tensors.Items), optional)

    def _check_lists(self, values: tuple[p.PlanValue, ...]) -> None:
        for index, value in enumerate(values):
            if isinstance(value, p.IntListValue):
                allowed: Callable[[Any], bool] = lambda item: type(item) is int or item is None  # noqa: E731
                items = self._indices(value.items, len(values), f"an item of list {index}")
            elif isinstance(value, p.TensorListValue):
                allowed = lambda item: isinstance(item, p.TensorValue) or item is None  # noqa: E731
                present = tuple(item for item in value.items if not (value.optional and item == -1))
                items = self._indices(present, len(values), f"an item of list {index}")
            else:
                continue
            for item in items:
                if not allowed(values[item]):
                    raise self.fail(f"item {item} of list {index} is of the wrong kind")

    def _tensor(self, table: Any, what: str, arenas: tuple[int, ...]) -> p.TensorValue:
        where = f"{self._where}: {what}"
        dtype = scalar_dtype(table.ScalarType(), where)
        sizes = ints(table.SizesLength, table.Sizes)
        if any(size < 0 for size in sizes) or math.prod(sizes) * dtype.itemsize > _MAX_BYTES:
            raise self.fail(f"{what} has the sizes {list(sizes)}")
        order = ints(table.DimOrderLength, table.DimOrder)
        order = order or tuple(range(len(sizes)))
        if sorted(order) != list(range(len(sizes))):
            raise self.fail(f"{what} has the dim order {list(order)} for {len(sizes)} dims")
        if table.StorageOffset():
            raise self.fail(f"{what} has a storage offset, which ExecuTorch does not allow")
        dynamism = table.ShapeDynamism()
        if dynamism not in (0, 1, 2):
            raise self.fail(f"{what} has the shape dynamism {dynamism}")
        nbytes = math.prod(sizes) * dtype.itemsize
        extra = table.ExtraTensorInfo()
        name = text(extra.FullyQualifiedName()) if extra is not None else ""
        allocation = self._allocation(table.AllocationInfo(), what, arenas, nbytes)
        external = extra is not None and extra.Location() == schema.TensorDataLocation.EXTERNAL
        if external:
            data: memoryview | None = self._external(name, table.ScalarType(), sizes, order, nbytes, where)
        else:
            segment = extra.MutableDataSegmentsIdx() if extra is not None else 0
            data = self._payload(table.DataBufferIdx(), segment, allocation is not None, nbytes, what)
        return p.TensorValue(dtype, sizes, order, p.Dynamism(dynamism), data, allocation, name or None, external)

    def _allocation(self, table: Any, what: str, arenas: tuple[int, ...], nbytes: int) -> p.Allocation | None:
        if table is None:
            return None
        memory, offset = table.MemoryId(), table.MemoryOffsetLow() | (table.MemoryOffsetHigh() << 32)
        if not 0 < memory < max(len(arenas), 1):
            raise self.fail(f"{what} is in arena {memory} of {max(len(arenas) - 1, 0)}")
        if offset + nbytes > arenas[memory]:
            raise self.fail(f"{what} ends at byte {offset + nbytes} of arena {memory}, which has {arenas[memory]}")
        return p.Allocation(memory, offset)

    def _payload(self, buffer: int, segment: int, mutable: bool, nbytes: int, what: str) -> memoryview | None:
        if buffer == 0:
            return None
        if mutable:
            self.mutable_bytes += nbytes
            if not segment < self.root.MutableDataSegmentsLength():
                raise self.fail(f"{what} has its initial value in mutable segment {segment}, which does not exist")
            return self._subsegment(self.root.MutableDataSegments(segment), buffer, nbytes, what)
        self.constant_bytes += nbytes
        constants = self.root.ConstantSegment()
        if constants is not None and constants.OffsetsLength():
            return self._subsegment(constants, buffer, nbytes, what)
        if not buffer < self.root.ConstantBufferLength():
            raise self.fail(f"{what} has its data in buffer {buffer} of {self.root.ConstantBufferLength()}")
        inline = self.root.ConstantBuffer(buffer)
        return self._inline(inline._tab, 4, inline.StorageLength(), nbytes, what)

    def _subsegment(self, table: Any, buffer: int, nbytes: int, what: str) -> memoryview:
        if not buffer < table.OffsetsLength():
            raise self.fail(f"{what} has its data in buffer {buffer} of {table.OffsetsLength()}")
        return self.segments.part(table.SegmentIndex(), table.Offsets(buffer), nbytes, what)

    def _inline(self, table: Any, slot: int, length: int, nbytes: int, what: str) -> memoryview:
        if length < nbytes:
            raise self.fail(f"{what} needs {nbytes} bytes of data, its buffer has {length}")
        start = table.Vector(table.Offset(slot)) if length else 0
        return self.file.slice(start, nbytes)

    def _external(
        self, name: str, scalar: int, sizes: tuple[int, ...], order: tuple[int, ...], nbytes: int, where: str
    ) -> memoryview:
        item = self.external.get(name)
        if item is None:
            raise InvalidExternalData(
                f"{where}: the tensor {name!r} is in an external data file; pass the .ptd files of the program (--data)"
            )
        layout = item.layout
        if layout is not None and (layout.scalar_type, layout.sizes, layout.dim_order or order) != (
            scalar,
            sizes,
            order,
        ):
            raise InvalidExternalData(
                f"{item.file}: the tensor {name!r} is of sizes {list(layout.sizes)}, scalar type {layout.scalar_type}; "
                f"the program expects sizes {list(sizes)}, scalar type {scalar}"
            )
        if len(item.data) < nbytes:
            raise InvalidExternalData(f"{item.file}: the tensor {name!r} has {len(item.data)} bytes, expected {nbytes}")
        return item.data[:nbytes]

    def _delegate(self, table: Any, index: int) -> p.Delegate:
        reference = table.Processed()
        what = f"delegate {index}"
        if reference is None:
            raise self.fail(f"{what} has no data")
        if reference.Location() == schema.DataLocation.SEGMENT:
            payload = self.segments.get(reference.Index(), what)
        elif reference.Index() < self.root.BackendDelegateDataLength():
            inline = self.root.BackendDelegateData(reference.Index())
            payload = self._inline(inline._tab, 4, inline.DataLength(), inline.DataLength(), what)
        else:
            raise self.fail(f"{what} has its data in entry {reference.Index()}, which does not exist")
        specs = []
        for i in range(table.CompileSpecsLength()):
            spec = table.CompileSpecs(i)
            specs.append((text(spec.Key()), bytes(ints(spec.ValueLength, spec.Value))))
        return p.Delegate(text(table.Id()), payload, tuple(specs))

    def _chain(self, table: Any, values: int, operators: int, delegates: int) -> tuple[p.Instruction, ...]:
        count = table.InstructionsLength()
        return tuple(
            self._instruction(table.Instructions(i), i, count, values, operators, delegates) for i in range(count)
        )

    def _instruction(
        self, entry: Any, index: int, count: int, values: int, operators: int, delegates: int
    ) -> p.Instruction:
        kind = entry.InstrArgsType()
        table = entry.InstrArgs()
        what = f"instruction {index}"
        classes = {
            _INSTRUCTIONS.KernelCall: schema.KernelCall,
            _INSTRUCTIONS.DelegateCall: schema.DelegateCall,
            _INSTRUCTIONS.MoveCall: schema.MoveCall,
            _INSTRUCTIONS.JumpFalseCall: schema.JumpFalseCall,
            _INSTRUCTIONS.FreeCall: schema.FreeCall,
        }
        if kind not in classes:
            raise self.fail(f"{what} is of no known kind")
        found = classes[kind]()
        found.Init(table.Bytes, table.Pos)

        def values_of(*items: int) -> tuple[int, ...]:
            return self._indices(items, values, f"an argument of {what}")

        match kind:
            case _INSTRUCTIONS.KernelCall:
                if not 0 <= found.OpIndex() < operators:
                    raise self.fail(f"{what} calls operator {found.OpIndex()} of {operators}")
                return p.KernelCall(found.OpIndex(), values_of(*ints(found.ArgsLength, found.Args)))
            case _INSTRUCTIONS.DelegateCall:
                if not 0 <= found.DelegateIndex() < delegates:
                    raise self.fail(f"{what} calls delegate {found.DelegateIndex()} of {delegates}")
                return p.DelegateCall(found.DelegateIndex(), values_of(*ints(found.ArgsLength, found.Args)))
            case _INSTRUCTIONS.MoveCall:
                return p.MoveCall(*values_of(found.MoveFrom(), found.MoveTo()))
            case _INSTRUCTIONS.JumpFalseCall:
                if not 0 <= found.DestinationInstruction() <= count:
                    raise self.fail(f"{what} jumps to instruction {found.DestinationInstruction()} of {count}")
                return p.JumpFalseCall(*values_of(found.CondValueIndex()), found.DestinationInstruction())
            case _:
                return p.FreeCall(*values_of(found.ValueIndex()))


if sys.byteorder != "little":
    raise ImportError("executorch_webgpu reads little-endian files in place and needs a little-endian machine")
