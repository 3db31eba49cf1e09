"""Builds small plans by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.executor.machine import Machine
from executorch_webgpu.executor.memory import SharedMemory
from executorch_webgpu.format.plan import (
    Allocation,
    Dynamism,
    ExecutionPlan,
    Operator,
    PlanValue,
    Program,
    TensorValue,
)

FLOAT = np.dtype(np.float32)


def tensor(
    *sizes: int,
    at: int | None = 0,
    area: int = 1,
    data: Any = None,
    dtype: Any = FLOAT,
    order: tuple[int, ...] | None = None,
    dynamism: Dynamism = Dynamism.STATIC,
) -> TensorValue:
    """Return a tensor at byte ``at`` of an area, or without a place for None."""
    payload = None if data is None else memoryview(np.ascontiguousarray(data, dtype).reshape(-1).view(np.uint8))
    return TensorValue(
        dtype=np.dtype(dtype),
        sizes=sizes,
        dim_order=tuple(range(len(sizes))) if order is None else order,
        dynamism=dynamism,
        data=payload,
        allocation=None if at is None else Allocation(area, at),
        fully_qualified_name=None,
        external=False,
    )


def plan(
    values: list[PlanValue],
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    instructions: list[Any],
    operators: tuple[str, ...] = (),
    arenas: tuple[int, ...] = (0, 1024),
    name: str = "forward",
) -> ExecutionPlan:
    """Return a plan of one chain; operators are named as ``aten::add.out``."""
    split = (text.rpartition(".") for text in operators)
    return ExecutionPlan(
        name=name,
        values=tuple(values),
        inputs=inputs,
        outputs=outputs,
        chains=(tuple(instructions),),
        operators=tuple(Operator(name or overload, overload if name else "") for name, _, overload in split),
        delegates=(),
        arena_sizes=arenas,
    )


def program(*plans: ExecutionPlan) -> Program:
    """Return a program of some plans."""
    return Program(version=0, plans=plans, named_data={}, source="test.pte")


def machine(made: ExecutionPlan, whole: Program | None = None, shared: SharedMemory | None = None) -> Machine:
    """Return the machine of a plan without delegates."""
    whole = whole or program(made)

    def none(*_: Any) -> Any:
        raise AssertionError("no delegate here")

    return Machine(whole, made, none, none, shared or SharedMemory(whole))
