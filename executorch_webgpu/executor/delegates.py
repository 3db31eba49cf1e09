"""Delegate calls: the border between values of the plan and values of a graph."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from executorch_webgpu.errors import (
    DeviceLost,
    InvalidArgument,
    InvalidProgram,
    InvalidState,
    NotFound,
    NotSupported,
    OperatorMissing,
)
from executorch_webgpu.executor.memory import TensorSlot, fits
from executorch_webgpu.format.plan import DelegateCall, Dynamism, ExecutionPlan, TensorValue
from executorch_webgpu.format.vulkan_graph import GraphTensor, VulkanGraph
from executorch_webgpu.graph.delegate_api import Array, Delegate, Port, Value, input_ports, output_ports
from executorch_webgpu.graph.state import has_state, with_open_state

VULKAN = "VulkanBackend"


class ReadGraph(Protocol):
    """The reader of a delegate blob."""

    def __call__(self, payload: memoryview, named_data: Mapping[str, memoryview], where: str) -> VulkanGraph:
        """Return the graph."""


class DelegateSlot:
    """A delegate of a plan: its graph from load on, the running delegate from the first call on."""

    def __init__(self, graph: VulkanGraph, where: str) -> None:
        self.graph = graph
        self.where = where
        self.inputs = input_ports(graph, where)
        self.outputs = output_ports(graph, where)
        self.has_state = has_state(graph, where)
        self._make: Callable[[VulkanGraph, str], Delegate] | None = None
        self._delegate: Delegate | None = None

    def open(self, make: Callable[[VulkanGraph, str], Delegate]) -> None:
        """Have ``make`` build the running delegate, once."""
        if self._delegate is None:
            self._delegate = make(self.graph, self.where)

    @property
    def delegate(self) -> Delegate:
        """The running delegate."""
        if self._delegate is None:
            raise InvalidState(f"{self.where} is not open")
        return self._delegate

    def reset(self) -> None:
        """Give its state the initial values; nothing to do before the first call."""
        if self._delegate is not None:
            self._delegate.reset()

    def close(self) -> None:
        """Drop the running delegate; the next call makes a new one."""
        if self._delegate is not None:
            delegate, self._delegate = self._delegate, None
            # What a lost device held is gone already.
            with contextlib.suppress(DeviceLost):
                delegate.close()


def read_delegates(
    plan: ExecutionPlan, named: Mapping[str, memoryview], where: str, read: ReadGraph
) -> list[DelegateSlot]:
    """Return the delegates of a plan.

    Raises:
        NotFound: A delegate belongs to another backend; the message names it.
    """
    foreign = sorted({delegate.backend_id for delegate in plan.delegates if delegate.backend_id != VULKAN})
    if foreign:
        raise NotFound(
            f"{where} needs the backend {', '.join(foreign)}, which is not available; this package runs {VULKAN} "
            "only: export the model with VulkanPartitioner"
        )
    slots = []
    for index, delegate in enumerate(plan.delegates):
        place = f"{where}: delegate {index}"
        slots.append(DelegateSlot(with_open_state(read(delegate.payload, named, place), place), place))
    return slots


class BoundCall:
    """One DelegateCall: ``inputs`` and ``outputs`` are value indices of the plan in graph order.

    ``skipped`` are the graph outputs that the call has no argument for; they come first.
    """

    def __init__(self, plan: ExecutionPlan, call: DelegateCall, slot: DelegateSlot) -> None:
        self.slot = slot
        self._values = plan.values
        count = len(slot.inputs)
        given = _needed(plan, call.args, slot)
        self.inputs = given[:count]
        self.outputs = given[count:]
        self.skipped = len(slot.outputs) - len(self.outputs)
        if len(given) < count or self.skipped < 0:
            raise InvalidProgram(
                f"{slot.where} has {count} inputs and {len(slot.outputs)} outputs; "
                f"its call has {len(call.args)} arguments"
            )
        for index, port in zip(self.inputs, slot.inputs, strict=True):
            self._check(index, port)
        for index, port in zip(self.outputs, slot.outputs[self.skipped :], strict=True):
            self._check(index, port)
            self._check_width(index, port)
        self._check_state()

    def run(self, values: list[Any]) -> None:
        """Execute the delegate on the plan's values."""
        given = [
            self._input(values[index], port, index) for index, port in zip(self.inputs, self.slot.inputs, strict=True)
        ]
        results = self.slot.delegate.execute(given)[self.skipped :]
        for index, result in zip(self.outputs, results, strict=True):
            slot = values[index]
            if isinstance(slot, TensorSlot):
                slot.write(self.receive(index, result))
            else:
                values[index] = int(result)

    def receive(self, index: int, result: Value) -> Array:
        """Return a result of the graph in the shape that tensor ``index`` of the plan takes.

        Raises:
            InvalidProgram: The plan says that the tensor has another shape.
        """
        value, array = self._values[index], np.asarray(result)
        assert isinstance(value, TensorValue)
        if not fits(value, array.shape):
            bound = "" if value.dynamism == Dynamism.STATIC else "at most "
            raise InvalidProgram(
                f"{self.slot.where}: value {index} is {value.dtype} {bound}{list(value.sizes)}, the graph gives "
                f"{array.dtype} {list(array.shape)}; export the program again"
            )
        return array.reshape(value.sizes) if value.dynamism == Dynamism.STATIC else array

    def _input(self, item: Any, port: Port, index: int) -> Value:
        if isinstance(item, TensorSlot):
            array = item.array()
            if port.is_int and array.size != 1:
                raise InvalidArgument(f"{self.slot.where}: value {index} has {array.size} elements; it must have one")
            return int(array.reshape(-1)[0]) if port.is_int else array
        if item is None:
            raise InvalidArgument(f"{self.slot.where}: value {index} is needed and has not been given")
        if not isinstance(item, int):
            raise InvalidProgram(
                f"{self.slot.where}: value {index} is a {type(item).__name__}; the graph expects an int"
            )
        return item

    def _check(self, index: int, port: Port) -> None:
        value = self._values[index]
        if isinstance(value, TensorValue):
            # The delegate may narrow a dtype (int64 to int32, float32 to float16), never change its kind.
            if port.dtype is not None and (value.sizes, value.dtype.kind) != (port.sizes, port.dtype.kind):
                raise InvalidProgram(
                    f"{self.slot.where}: value {index} is {value.dtype} {list(value.sizes)}, "
                    f"the graph expects {port.dtype} {list(port.sizes)}"
                )
            if port.is_int and (math.prod(value.sizes) != 1 or value.dtype.kind not in "iu"):
                raise InvalidProgram(
                    f"{self.slot.where}: value {index} is {value.dtype} {list(value.sizes)}, the graph expects an int"
                )
        elif port.is_int and not (value is None or type(value) is int):
            raise InvalidProgram(
                f"{self.slot.where}: value {index} is a {type(value).__name__}, the graph expects an int"
            )
        elif not port.is_int:
            raise InvalidProgram(f"{self.slot.where}: value {index} is not a tensor; the graph expects one")

    def _check_width(self, index: int, port: Port) -> None:
        value = self._values[index]
        if isinstance(value, TensorValue) and port.dtype is not None and port.dtype.itemsize > value.dtype.itemsize:
            raise InvalidProgram(
                f"{self.slot.where}: value {index} is {value.dtype} {list(value.sizes)}, "
                f"the graph gives {port.dtype}, which does not fit into it"
            )

    def _check_state(self) -> None:
        """Refuse a call that would lose state: outputs that nothing receives are new values of mutated buffers."""
        graph = self.slot.graph
        received = set(graph.output_ids[self.skipped :])
        for value in graph.output_ids[: self.skipped]:
            tensor = graph.values[value]
            written_in_place = isinstance(tensor, GraphTensor) and tensor.is_constant
            if value not in received and not written_in_place and value not in graph.input_ids:
                raise NotSupported(
                    f"{self.slot.where} updates {self.skipped} buffers whose new values the program drops, so its "
                    "state cannot be kept; export it with alias_buffer_mutations"
                )


def _needed(plan: ExecutionPlan, args: tuple[int, ...], slot: DelegateSlot) -> tuple[int, ...]:
    """Return the arguments that the graph has ports for.

    The exporter passes ints that the graph never uses, and leaves them out of its inputs: they are found by kind.
    """
    surplus = len(args) - len(slot.inputs) - len(slot.outputs)
    kept: list[int] = []
    for index in args:
        port = slot.inputs[len(kept)] if len(kept) < len(slot.inputs) else None
        number = not isinstance(plan.values[index], TensorValue)
        if surplus > 0 and number and not (port is not None and port.is_int):
            surplus -= 1
        else:
            kept.append(index)
    return tuple(kept)


def missing_in(slots: list[DelegateSlot], find: Callable[[VulkanGraph, str], None]) -> list[str]:
    """Return what ``find`` complains of, one text per delegate."""
    texts = []
    for slot in slots:
        try:
            find(slot.graph, slot.where)
        except OperatorMissing as error:
            texts.append(str(error))
    return texts
