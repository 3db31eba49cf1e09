"""Reads execution plans and checks whatever the executor will index with."""

from __future__ import annotations

import functools
import sys
from typing import Any

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.format import plan as p
from executorch_webgpu.format.accessors import checked_indices, damaged, name_of, numbers, shown, text
from executorch_webgpu.format.generated import program as schema
from executorch_webgpu.format.payloads import Payloads
from executorch_webgpu.format.plan_values import MAX_BYTES, ValueReader

_INSTRUCTIONS: dict[int, Any] = {
    schema.InstructionArguments.KernelCall: schema.KernelCall,
    schema.InstructionArguments.DelegateCall: schema.DelegateCall,
    schema.InstructionArguments.MoveCall: schema.MoveCall,
    schema.InstructionArguments.JumpFalseCall: schema.JumpFalseCall,
    schema.InstructionArguments.FreeCall: schema.FreeCall,
}


def read_plan(table: Any, index: int, payloads: Payloads) -> p.ExecutionPlan:
    """Return one plan of a verified program as checked dataclasses.

    Raises:
        InvalidProgram: A part is missing, out of range or of the wrong kind; the message names the method.
        InvalidExternalData: A tensor in a .ptd is missing or contradicts the program.
    """
    name = name_of(
        table.Name(), f"execution plan {index}", functools.partial(damaged, InvalidProgram, payloads.file.name)
    )
    return _PlanReader(table, name, payloads).read()


class _PlanReader:
    def __init__(self, table: Any, name: str, payloads: Payloads) -> None:
        self.table = table
        self.name = name
        self.payloads = payloads
        self.where = f"{payloads.file.name}: method {shown(name)}"
        self.values: tuple[p.PlanValue, ...] = ()
        self.operators: tuple[p.Operator, ...] = ()
        self.delegates: tuple[p.Delegate, ...] = ()

    def fail(self, what: str) -> InvalidProgram:
        return damaged(InvalidProgram, self.where, what)

    def read(self) -> p.ExecutionPlan:
        table = self.table
        arenas = numbers(table.NonConstBufferSizesLength(), table.NonConstBufferSizesAsNumpy)
        for index, size in enumerate(arenas):
            if not 0 <= size < MAX_BYTES:
                raise self.fail(f"arena {index} has {size} bytes")
        self.values = ValueReader(self.where, arenas, self.payloads).read(table)
        self.operators = tuple(self._operator(table.Operators(i), i) for i in range(table.OperatorsLength()))
        self.delegates = tuple(self._delegate(table.Delegates(i), i) for i in range(table.DelegatesLength()))
        chains = tuple(self._chain(table.Chains(i), i) for i in range(table.ChainsLength()))
        if not chains:
            raise self.fail("it has no chain of instructions")
        inputs = self._indices(numbers(table.InputsLength(), table.InputsAsNumpy), "an input")
        outputs = self._indices(numbers(table.OutputsLength(), table.OutputsAsNumpy), "an output")
        return p.ExecutionPlan(self.name, self.values, inputs, outputs, chains, self.operators, self.delegates, arenas)

    def _indices(self, items: tuple[int, ...], what: str) -> tuple[int, ...]:
        return checked_indices(items, len(self.values), what, self.fail)

    def _operator(self, table: Any, index: int) -> p.Operator:
        name = name_of(table.Name(), f"operator {index}", self.fail)
        overload = table.Overload()
        return p.Operator(name, name_of(overload, f"the overload of operator {index}", self.fail) if overload else "")

    def _delegate(self, table: Any, index: int) -> p.Delegate:
        backend, reference = name_of(table.Id(), f"the backend of delegate {index}", self.fail), table.Processed()
        if reference is None:
            raise self.fail(f"delegate {index} has no data")
        payload = self.payloads.delegate(
            reference.Location() == schema.DataLocation.SEGMENT, reference.Index(), f"{self.where}: delegate {index}"
        )
        specs = tuple(
            (text(spec.Key()), spec.ValueAsNumpy().tobytes() if spec.ValueLength() else b"")
            for spec in map(table.CompileSpecs, range(table.CompileSpecsLength()))
        )
        return p.Delegate(backend, payload, specs)

    def _chain(self, table: Any, chain: int) -> tuple[p.Instruction, ...]:
        count = table.InstructionsLength()
        return tuple(
            self._instruction(table.Instructions(i), f"instruction {i} of chain {chain}", count) for i in range(count)
        )

    def _instruction(self, entry: Any, what: str, count: int) -> p.Instruction:
        kind, table = entry.InstrArgsType(), entry.InstrArgs()
        if kind not in _INSTRUCTIONS:
            raise self.fail(f"{what} is of no known kind")
        found = _INSTRUCTIONS[kind]()
        found.Init(table.Bytes, table.Pos)
        match kind:
            case schema.InstructionArguments.KernelCall:
                operator = self._callee(found.OpIndex(), len(self.operators), what, "operator")
                return p.KernelCall(operator, self._arguments(found, what))
            case schema.InstructionArguments.DelegateCall:
                delegate = self._callee(found.DelegateIndex(), len(self.delegates), what, "delegate")
                return p.DelegateCall(delegate, self._arguments(found, what))
            case schema.InstructionArguments.MoveCall:
                return self._move(self._value(found.MoveFrom(), what), self._value(found.MoveTo(), what), what)
            case schema.InstructionArguments.JumpFalseCall:
                destination = found.DestinationInstruction()
                if not 0 <= destination <= count:
                    raise self.fail(f"{what} jumps to instruction {destination} of {count}")
                return p.JumpFalseCall(self._condition(found.CondValueIndex(), what), destination)
            case _:
                return p.FreeCall(self._value(found.ValueIndex(), what))

    def _callee(self, index: int, count: int, what: str, kind: str) -> int:
        if not 0 <= index < count:
            raise self.fail(f"{what} calls {kind} {index} of {count}")
        return index

    def _arguments(self, call: Any, what: str) -> tuple[int, ...]:
        return self._indices(numbers(call.ArgsLength(), call.ArgsAsNumpy), f"an argument of {what}")

    def _value(self, index: int, what: str) -> int:
        self._indices((index,), f"an argument of {what}")
        return index

    def _move(self, source: int, target: int, what: str) -> p.MoveCall:
        given, taken = self.values[source], self.values[target]
        # A Null may become a scalar at run time.
        scalars = all(value is None or isinstance(value, bool | int | float | str) for value in (given, taken))
        if type(given) is not type(taken) and not (scalars and (given is None or taken is None)):
            raise self.fail(f"{what} moves value {source} over value {target}, which is of another kind")
        return p.MoveCall(source, target)

    def _condition(self, index: int, what: str) -> int:
        value = self.values[self._value(index, what)]
        # A Null may become a Bool at run time.
        if not (value is None or isinstance(value, bool) or (isinstance(value, p.TensorValue) and value.dtype == bool)):
            raise self.fail(f"the condition of {what} is value {index}, which is no Bool and no tensor of bools")
        return index


if sys.byteorder != "little":
    raise ImportError("executorch_webgpu reads little-endian files in place and needs a little-endian machine")
