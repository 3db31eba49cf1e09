"""A delegate on the CPU: every node run by its numpy reference, in order."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import (
    DelegateInvalidCompatibility,
    ExecuTorchError,
    InvalidArgument,
    InvalidState,
    OperatorMissing,
    OutOfResources,
)
from executorch_webgpu.format.vulkan_graph import (
    BoolList,
    DoubleList,
    GraphTensor,
    IntList,
    OperatorCall,
    SymInt,
    ValueList,
    VulkanGraph,
)
from executorch_webgpu.graph.constants import constant_array
from executorch_webgpu.graph.delegate_api import Array, Value
from executorch_webgpu.graph.nodes import PREPACK, SYMINT_OPERATORS, Node, flatten, mutated_values
from executorch_webgpu.graph.scalars import with_ints
from executorch_webgpu.graph.staging import to_graph
from executorch_webgpu.graph.state import plain_nodes
from executorch_webgpu.ops.registry import Out, Reference, references

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
}


@dataclass(frozen=True)
class _Step:
    """A node ready to run. ``reference`` is None for arithmetic on ints; nothing reads ``done_with`` after it."""

    call: OperatorCall
    outputs: tuple[int, ...]
    reference: Reference | None
    outs: Any
    done_with: tuple[int, ...]


def missing_references(graph: VulkanGraph) -> list[str]:
    """Return ``operator (dtype, node N)`` for each operator of ``graph`` that has no reference, once each."""
    table = references()
    missing: dict[str, str] = {}
    for call in graph.chain:
        if call.name not in SYMINT_OPERATORS and call.name != PREPACK and call.name not in table:
            tensors = [v for i in flatten(graph, call.args) if isinstance(v := graph.values[i], GraphTensor)]
            dtype = f"{tensors[0].dtype}, " if tensors else ""
            missing.setdefault(call.name, f"{call.name} ({dtype}node {call.node_id})")
    return list(missing.values())


class CpuDelegate:
    """One delegate of a method on the CPU. Constants that nodes write are private copies and persist."""

    def __init__(self, graph: VulkanGraph, where: str = "delegate") -> None:
        """Resolve every node.

        Raises:
            OperatorMissing: Operators have no reference; the message lists them all.
        """
        missing = missing_references(graph)
        if missing:
            raise OperatorMissing(f"{where}: not supported on the CPU: {'; '.join(missing)}")
        self.graph = graph
        self.where = where
        nodes = plain_nodes(graph, where)
        self._mutated = mutated_values(graph, nodes)
        self._prepacks = [node for node in nodes if node.name == PREPACK]
        self._steps = self._plan([node for node in nodes if node.name != PREPACK])
        self._constants: dict[int, Any] = {}
        self._closed = False
        self.reset()

    def execute(self, inputs: Sequence[Value]) -> list[Value]:
        """Run the graph. Inputs and outputs are in graph order; SymInts are ints.

        Raises:
            InvalidArgument: An input or a value that a node meets is out of range.
            InvalidState: The delegate is closed.
        """
        if self._closed:
            raise InvalidState(f"{self.where}: the program is closed")
        values: dict[int, Any] = {}
        for index, (value, given) in enumerate(zip(self.graph.input_ids, inputs, strict=True)):
            values[value] = self._stage(value, given, index)
        with np.errstate(all="ignore"):
            for step in self._steps:
                self._run(step, values)
                for value in step.done_with:
                    values.pop(value, None)
        return [self._result(value, values) for value in self.graph.output_ids]

    def reset(self) -> None:
        """Give caches and other state their initial values: the payloads."""
        self._constants = {}
        try:
            for value, tensor in enumerate(self.graph.values):
                if isinstance(tensor, GraphTensor) and tensor.is_constant:
                    array = constant_array(self.graph, tensor)
                    self._constants[value] = array.copy() if value in self._mutated else array
            for node in self._prepacks:
                source, target = node.arg(0), node.outputs[0]
                self._check_prepack(source, target)
                array = self._constants[source]
                self._constants[target] = array.copy() if source in self._mutated else array
        except ValueError as error:  # the memory map is gone
            raise InvalidState(f"{self.where}: the program is closed") from error

    def close(self) -> None:
        """Let go of the constants; later calls raise InvalidState."""
        self._closed = True
        self._constants = {}

    def _plan(self, nodes: list[Node]) -> list[_Step]:
        table = references()
        last: dict[int, int] = {}
        for index, node in enumerate(nodes):
            for value in (*flatten(self.graph, node.args), *node.outputs):
                last[value] = index
        for value in self.graph.output_ids:
            last.pop(value, None)
        ends: dict[int, list[int]] = {}
        for value, index in last.items():
            ends.setdefault(index, []).append(value)
        steps = []
        for index, node in enumerate(nodes):
            reference = None if node.name in SYMINT_OPERATORS else table[node.name]
            outs = tuple(self._out(value) for value in node.outputs)
            single = reference is not None and reference.outputs == 1 and len(outs) == 1
            steps.append(
                _Step(
                    self.graph.chain[node.position],
                    node.outputs,
                    reference,
                    outs[0] if single else outs,
                    tuple(ends.get(index, ())),
                )
            )
        return steps

    def _out(self, value: int) -> Out:
        tensor = self.graph.values[value]
        return Out(tensor.sizes, tensor.dtype) if isinstance(tensor, GraphTensor) else Out((), np.dtype(np.int64))

    def _check_prepack(self, source: int, target: int) -> None:
        a, b = self.graph.values[source], self.graph.values[target]
        if not isinstance(a, GraphTensor) or not isinstance(b, GraphTensor) or source not in self._constants:
            raise DelegateInvalidCompatibility(f"{self.where}: value {source} is prepacked but is not a constant")
        if a.dtype != b.dtype or a.sizes != b.sizes:
            raise DelegateInvalidCompatibility(
                f"{self.where}: prepack of value {source} ({a.dtype} {list(a.sizes)}) "
                f"into value {target} ({b.dtype} {list(b.sizes)}) does not agree"
            )

    def _stage(self, value: int, given: Value, index: int) -> Value:
        tensor = self.graph.values[value]
        if not isinstance(tensor, GraphTensor):
            return int(given)
        array = to_graph(np.asarray(given), tensor.dtype, f"{self.where}: input {index}")
        return array.copy() if value in self._mutated else array

    def _run(self, step: _Step, values: dict[int, Any]) -> None:
        args = [self._argument(value, values) for value in step.call.args[:-1]]
        try:
            if step.reference is None:
                values[step.outputs[0]] = _symint(step.call.name, args)
                return
            function = step.reference.function
            result = function(step.outs, *with_ints(function, args))
        except ExecuTorchError as error:
            raise type(error)(f"{self._name(step)}: {error}") from error
        except MemoryError as error:
            raise OutOfResources(f"{self._name(step)}: {error}") from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidArgument(f"{self._name(step)} cannot take these values: {error}") from error
        results = result if isinstance(result, tuple | list) else (result,)
        if len(results) != len(step.outputs):
            raise InvalidArgument(f"{self._name(step)} gives {len(results)} results for {len(step.outputs)} outputs")
        for value, array in zip(step.outputs, results, strict=True):
            self._store(step, value, array, values)

    def _store(self, step: _Step, value: int, result: Any, values: dict[int, Any]) -> None:
        tensor = self.graph.values[value]
        if not isinstance(tensor, GraphTensor):
            if np.size(result) != 1:
                raise InvalidArgument(f"{self._name(step)} gives {np.size(result)} values for an int")
            values[value] = int(np.reshape(result, -1)[0])
            return
        array: Array = np.asarray(result)
        if array.size > math.prod(tensor.sizes):
            raise InvalidArgument(
                f"{self._name(step)} gives shape {list(array.shape)}; the exported bound is {list(tensor.sizes)}"
            )
        array = array.astype(tensor.dtype, copy=value in self._mutated)
        # A constant that is written is state: it persists, so it must not share memory with anything else.
        (self._constants if value in self._constants else values)[value] = array

    def _argument(self, value: int, values: dict[int, Any]) -> Any:
        match self.graph.values[value]:
            case GraphTensor() as tensor:
                if value in values:
                    return values[value]
                if value in self._constants:
                    return self._constants[value]
                if 0 in tensor.sizes:
                    return np.empty(tensor.sizes, tensor.dtype)
                raise DelegateInvalidCompatibility(f"{self.where}: value {value} is read before it is written")
            case SymInt(initial):
                return values.get(value, initial)
            case ValueList(items):
                return [self._argument(item, values) for item in items]
            case IntList(items) | DoubleList(items) | BoolList(items):
                return list(items)
            case scalar:
                return scalar

    def _result(self, value: int, values: dict[int, Any]) -> Value:
        found = self._argument(value, values)
        return np.array(found, order="C") if isinstance(found, np.ndarray) else int(found)

    def _name(self, step: _Step) -> str:
        return f"{self.where}: node {step.call.node_id} ({step.call.name})"


def _symint(name: str, args: list[Any]) -> int:
    if name.endswith("sym_size.int"):
        return int(args[0].shape[args[1]])
    if name.startswith("et_vk.select_as_symint"):
        return int(args[0].take(args[2], axis=args[1]).reshape(-1)[0])
    return _ARITHMETIC[name](int(args[0]), int(args[1]))
