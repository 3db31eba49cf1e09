"""Loops of a plan that nothing can end: found before they run, or when they are entered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from executorch_webgpu.executor.delegates import BoundCall
from executorch_webgpu.executor.kernels import Kernel
from executorch_webgpu.format.plan import (
    FreeCall,
    JumpFalseCall,
    MoveCall,
    PlanValue,
    TensorListValue,
    TensorValue,
)

Step = Kernel | BoundCall | MoveCall | JumpFalseCall | FreeCall


def endless_chains(values: Sequence[PlanValue], chains: Sequence[Sequence[Step]]) -> list[int]:
    """Return the chains through which no path leads to the end, whatever the conditions are that may vary."""
    jumps = [step.condition for chain in chains for step in chain if isinstance(step, JumpFalseCall)]
    varying = {value for chain in chains for step in chain for value in _written(values, step)} if jumps else set()
    known = {index: value for index in jumps if isinstance(value := values[index], bool) and index not in varying}
    return [index for index, chain in enumerate(chains) if not _has_end(chain, known)]


def _has_end(chain: Sequence[Step], known: Mapping[int, bool]) -> bool:
    reached, pending = set(), [0]
    while pending:
        position = pending.pop()
        if position >= len(chain):
            return True
        if position in reached:
            continue
        reached.add(position)
        step = chain[position]
        if not isinstance(step, JumpFalseCall):
            pending.append(position + 1)
            continue
        if not known.get(step.condition, False):
            pending.append(step.destination)
        if known.get(step.condition, True):
            pending.append(position + 1)
    return False


def is_endless(values: Sequence[PlanValue], chain: Sequence[Step], position: int) -> bool:
    """Return whether the jump back at ``position``, taken once, is taken for ever.

    It is if nothing from its destination on writes its condition or jumps elsewhere.
    """
    jump = chain[position]
    assert isinstance(jump, JumpFalseCall)
    for step in chain[jump.destination : position]:
        if isinstance(step, JumpFalseCall):
            if not jump.destination <= step.destination <= position:
                return False
        elif any(_overlap(values, value, jump.condition) for value in _written(values, step)):
            return False
    return True


def _written(values: Sequence[PlanValue], step: Step) -> list[int]:
    """Return the values that a step may write: its outputs, and every tensor that a kernel or delegate gets."""
    if isinstance(step, MoveCall):
        return [step.move_to] if step.move_from != step.move_to else []
    if isinstance(step, JumpFalseCall | FreeCall):  # what is freed is false ever after
        return []
    found = [*step.outputs]
    for index in step.inputs:
        value = values[index]
        found += value.items if isinstance(value, TensorListValue) else (index,) * isinstance(value, TensorValue)
    return found


def _overlap(values: Sequence[PlanValue], first: int, second: int) -> bool:
    """Return whether two values are one or may share memory."""
    a, b = values[first], values[second]
    if first == second or not isinstance(a, TensorValue) or not isinstance(b, TensorValue):
        return first == second
    return a.allocation is not None and b.allocation is not None and a.allocation.memory_id == b.allocation.memory_id
