"""Loops of a plan that nothing can end: found before they run, or when they are entered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from executorch_webgpu.format.plan import (
    DelegateCall,
    ExecutionPlan,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    TensorListValue,
    TensorValue,
)


def endless_chains(plan: ExecutionPlan) -> list[int]:
    """Return the chains through which no path leads to the end, whatever the conditions are that may vary."""
    jumps = [step.condition for chain in plan.chains for step in chain if isinstance(step, JumpFalseCall)]
    varying = {value for chain in plan.chains for step in chain for value in _touched(plan, step)} if jumps else set()
    known = {index: value for index in jumps if isinstance(value := plan.values[index], bool) and index not in varying}
    return [index for index, chain in enumerate(plan.chains) if not _has_end(chain, known)]


def _has_end(chain: Sequence[Instruction], known: Mapping[int, bool]) -> bool:
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


def is_endless(plan: ExecutionPlan, chain: Sequence[Instruction], position: int) -> bool:
    """Return whether the jump back at ``position``, taken once, is taken for ever.

    It is if nothing from its destination on touches its condition or jumps elsewhere.
    """
    jump = chain[position]
    assert isinstance(jump, JumpFalseCall)
    for step in chain[jump.destination : position]:
        if isinstance(step, JumpFalseCall):
            if not jump.destination <= step.destination <= position:
                return False
        elif any(_overlap(plan, value, jump.condition) for value in _touched(plan, step)):
            return False
    return True


def _touched(plan: ExecutionPlan, instruction: Instruction) -> list[int]:
    """Return the values that an instruction may write; kernels may write any argument."""
    match instruction:
        case KernelCall(_, args) | DelegateCall(_, args):
            lists = [value.items for index in args if isinstance(value := plan.values[index], TensorListValue)]
            return [*args, *(item for items in lists for item in items if item >= 0)]
        case MoveCall(_, target):
            return [target]
        case FreeCall(value):
            return [value]
    return []


def _overlap(plan: ExecutionPlan, first: int, second: int) -> bool:
    """Return whether two values are one or may share memory."""
    a, b = plan.values[first], plan.values[second]
    if first == second or not isinstance(a, TensorValue) or not isinstance(b, TensorValue):
        return first == second
    return a.allocation is not None and b.allocation is not None and a.allocation.memory_id == b.allocation.memory_id
