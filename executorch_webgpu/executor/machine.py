"""Runs one method: its instructions, one after the other, on the values of its plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument, InvalidProgram, NotSupported, OperatorMissing
from executorch_webgpu.executor.delegates import BoundCall, ReadGraph, missing_in, read_delegates
from executorch_webgpu.executor.kernels import Kernel, argument, resolve_kernel
from executorch_webgpu.executor.loops import Step, endless_chains, is_endless
from executorch_webgpu.executor.memory import Arenas, SharedMemory, TensorSlot, initial_slots
from executorch_webgpu.format.accessors import shown
from executorch_webgpu.format.plan import (
    DelegateCall,
    ExecutionPlan,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Program,
    TensorValue,
)
from executorch_webgpu.format.scalar_types import SUPPORTED
from executorch_webgpu.format.vulkan_graph import VulkanGraph
from executorch_webgpu.graph.delegate_api import Delegate

# A call, which input of the method each graph input is, and which graph output each output of the method is.
_Direct = tuple[BoundCall, tuple[int, ...], tuple[int, ...]]
_LISTED = 4  # tensors in a message, at most
MAX_STEPS = 10_000_000  # a damaged program might loop for ever


class Machine:
    """The run-time state of one method. Not safe for two threads at once."""

    def __init__(
        self,
        program: Program,
        plan: ExecutionPlan,
        read_graph: ReadGraph,
        check_graph: Callable[[VulkanGraph, str], None],
        shared: SharedMemory,
    ) -> None:
        """Resolve everything that the method needs.

        Raises:
            OperatorMissing: The message lists all operators that are missing.
            NotFound: A delegate belongs to another backend.
            InvalidProgram: A delegate's call contradicts its graph, or the instructions never end.
            NotSupported: The program drops state, or a tensor has a dtype that numpy lacks.
        """
        self.plan = plan
        self.where = f"{program.source}: method {plan.name!r}"
        self.delegates = read_delegates(plan, program.named_data, self.where, read_graph)
        _check_dtypes(plan, self.where)
        self._chains = self._resolve(check_graph)
        self._arenas = Arenas(plan, shared)
        self._initial = initial_slots(plan, self._arenas, self.where)
        self._initialised = False
        self._direct = self._find_direct()

    def open_delegates(self, make: Callable[[VulkanGraph, str], Delegate]) -> None:
        """Make the delegates ready to run, once."""
        for slot in self.delegates:
            slot.open(make)

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """Run the method on checked inputs: arrays of the plan's dtypes and Python scalars. The outputs are fresh."""
        if self._direct is not None:
            return self._run_direct(self._direct, inputs)
        if not self._initialised:
            self._load_initial()
        # Moves and ints written by an earlier call, perhaps one that failed midway, must not be seen.
        values = list(self._initial)
        for index, given in zip(self.plan.inputs, inputs, strict=True):
            slot = values[index]
            if isinstance(slot, TensorSlot):
                slot.write(given)
            else:
                values[index] = given
        for number, chain in enumerate(self._chains):
            self._run_chain(chain, f"{self.where}: chain {number}", values)
        return [_output(values, index) for index in self.plan.outputs]

    def reset(self) -> None:
        """Give all state its initial values: buffers of the plan and of its delegates."""
        self._arenas.reset()
        self._load_initial()
        for slot in self.delegates:
            slot.reset()

    def close_delegates(self) -> None:
        """Drop the running delegates; ``open_delegates`` makes new ones."""
        for slot in self.delegates:
            slot.close()

    def close(self) -> None:
        """Let go of all memory and of the file."""
        self.close_delegates()
        self._initial = []
        self._chains = []
        self.delegates = []
        self._direct = None

    def single_delegate(self) -> tuple[Delegate, tuple[int, ...], tuple[int, ...]] | None:
        """Return (delegate, inputs, outputs) where the method is one delegate call and nothing else.

        ``inputs`` gives for each graph input the index of the method's input; ``outputs`` gives for each output of the
        method the index of the graph output.
        """
        if self._direct is None:
            return None
        call, inputs, outputs = self._direct
        return call.slot.delegate, inputs, outputs

    @property
    def shares_memory(self) -> bool:
        """Whether other methods of the program see some of this method's memory."""
        return self._arenas.uses_shared

    def _load_initial(self) -> None:
        for slot in self._initial:
            if isinstance(slot, TensorSlot):
                slot.initialise()
        self._initialised = True

    def _resolve(self, check_graph: Callable[[VulkanGraph, str], None]) -> list[list[Step]]:
        missing: dict[str, int] = {}
        chains: list[list[Step]] = []
        for chain in self.plan.chains:
            steps: list[Step] = []
            for position, instruction in enumerate(chain):
                step = self._step(instruction, position)
                if isinstance(step, str):
                    missing.setdefault(step, position)
                else:
                    steps.append(step)
            chains.append(steps)
        texts = [f"{self.where}: no CPU kernel for {', '.join(f'{n} at instruction {i}' for n, i in missing.items())}"]
        texts = (texts if missing else []) + missing_in(self.delegates, check_graph)
        if texts:
            raise OperatorMissing("; ".join(texts))
        for number in endless_chains(self.plan.values, chains):
            raise InvalidProgram(f"{self.where}: chain {number} of its instructions never ends: its jumps lead back")
        return chains

    def _step(self, instruction: Instruction, position: int) -> Step | str:
        match instruction:
            case KernelCall():
                return resolve_kernel(self.plan, instruction, f"{self.where}: instruction {position}")
            case DelegateCall():
                return BoundCall(self.plan, instruction, self.delegates[instruction.delegate_index])
        return instruction

    def _run_chain(self, chain: list[Step], where: str, values: list[Any]) -> None:
        position = 0
        loops: set[int] = set()  # the jumps back that were taken before
        for _ in range(MAX_STEPS):
            if position >= len(chain):
                return
            step = chain[position]
            position += 1
            match step:
                case Kernel() | BoundCall():
                    step.run(values)
                case MoveCall(source, target):
                    _move(values, source, target)
                case JumpFalseCall(condition, destination):
                    if not _truth(values[condition], self.where):
                        if destination < position and position not in loops:
                            if is_endless(self.plan.values, chain, position - 1):
                                raise InvalidProgram(f"{where}: the jump at instruction {position - 1} never ends")
                            loops.add(position)
                        position = destination
                case FreeCall(value):
                    slot = values[value]
                    if isinstance(slot, TensorSlot):
                        slot.release()
        raise InvalidProgram(f"{where} does not end within {MAX_STEPS} instructions")

    def _find_direct(self) -> _Direct | None:
        """Return the only call and how the method's inputs and outputs map to it, if the plan is just that."""
        if len(self._chains) != 1 or len(self._chains[0]) != 1:
            return None
        call = self._chains[0][0]
        if not isinstance(call, BoundCall):
            return None
        inputs, outputs = self.plan.inputs, self.plan.outputs
        if not set(call.inputs) <= set(inputs) or not set(outputs) <= set(call.outputs):
            return None
        if any(not isinstance(self.plan.values[i], TensorValue) for i in (*call.inputs, *outputs)):
            return None
        if any(port.is_int for port in call.slot.inputs):
            return None
        return (
            call,
            tuple(inputs.index(i) for i in call.inputs),
            tuple(call.skipped + call.outputs.index(i) for i in outputs),
        )

    def _run_direct(self, direct: _Direct, inputs: Sequence[Any]) -> list[Any]:
        call, sources, targets = direct
        results = call.slot.delegate.execute([inputs[i] for i in sources])
        fresh: list[Any] = []
        for position, (target, index) in enumerate(zip(targets, self.plan.outputs, strict=True)):
            value = self.plan.values[index]
            assert isinstance(value, TensorValue)
            # One graph output may serve twice; the caller gets an array for each.
            fresh.append(call.receive(index, results[target]).astype(value.dtype, copy=target in targets[:position]))
        return fresh


def _check_dtypes(plan: ExecutionPlan, where: str) -> None:
    found = [
        f"value {index}{f' ({shown(name)})' if (name := value.fully_qualified_name) else ''} is {value.opaque}"
        for index, value in enumerate(plan.values)
        if isinstance(value, TensorValue) and value.opaque is not None
    ]
    if found:
        more = f" and {len(found) - _LISTED} more likewise" if len(found) > _LISTED else ""
        raise NotSupported(
            f"{where}: {', '.join(found[:_LISTED])}{more}; supported are {SUPPORTED}: convert the model to one of "
            "them and export it again"
        )


def _truth(condition: Any, where: str) -> bool:
    if isinstance(condition, TensorSlot):
        array = condition.array()
        if array.size != 1:
            raise InvalidArgument(f"{where}: a condition has {array.size} elements; it must have one")
        return bool(array.reshape(-1)[0])
    return bool(condition)


def _move(values: list[Any], source: int, target: int) -> None:
    """Copy a value over another. The bytes move: a branch's own memory is used again before its result is read."""
    slot, given = values[target], values[source]
    if isinstance(slot, TensorSlot) and isinstance(given, TensorSlot):
        slot.write(given.array())
    else:
        values[target] = given


def _output(values: list[Any], index: int) -> Any:
    item = argument(values, index)
    if isinstance(item, list):
        return [np.array(part, order="C") if isinstance(part, np.ndarray) else part for part in item]
    return np.array(item, order="C") if isinstance(item, np.ndarray) else item
