"""Where the tensors of a plan live: arenas as the memory planner laid them out, constants in the file.

Values that the planner put at one place alias each other (a view is elided to a second value at the same offset), so
the arenas are kept as real bytes instead of one array per value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument, InvalidProgram, OutOfResources
from executorch_webgpu.format.plan import Dynamism, ExecutionPlan, Program, TensorValue

Array = np.ndarray[Any, np.dtype[Any]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def _zeros(size: int) -> Bytes:
    try:
        return np.zeros(size, np.uint8)
    except MemoryError as error:
        raise OutOfResources(f"the program needs a memory area of {size} bytes, more than there is") from error


class SharedMemory:
    """The areas that the methods of one program share, where the exporter put mutable buffers of several methods."""

    def __init__(self, program: Program) -> None:
        self.ids = _shared_ids(program)
        self._extents = _extents(program.plans)
        self._areas: dict[int, Bytes] = {}
        self._initial: dict[tuple[int, int], Bytes] = {}

    def area(self, memory_id: int) -> Bytes:
        """Return the bytes of an area."""
        if memory_id not in self._areas:
            self._areas[memory_id] = _zeros(self._extents[memory_id])
        return self._areas[memory_id]

    def initialise(self, memory_id: int, offset: int, data: Bytes, area: Bytes) -> None:
        """Load the initial contents of a buffer unless a method loaded before has done so."""
        if (memory_id, offset) not in self._initial:
            self._initial[memory_id, offset] = data
            area[offset : offset + data.nbytes] = data

    def reset(self, memory_ids: range) -> None:
        """Give areas their initial contents."""
        for memory_id, area in self._areas.items():
            if memory_id in memory_ids:
                area.fill(0)
        for (memory_id, offset), data in self._initial.items():
            if memory_id in memory_ids:
                self._areas[memory_id][offset : offset + data.nbytes] = data

    def close(self) -> None:
        """Let go of memory and of the file."""
        self._areas.clear()
        self._initial.clear()


def _shared_ids(program: Program) -> frozenset[int]:
    """Return the areas that methods share.

    The exporter (``share_mutable_buffers``) puts activations of every method into area 1 and all shared buffers into
    area 2, of one size in all methods that have it.
    """
    found: dict[int, list[int]] = {}
    for plan in program.plans:
        for memory_id, size in enumerate(plan.arena_sizes[2:], 2):
            found.setdefault(memory_id, []).append(size)
    return frozenset(i for i, sizes in found.items() if len(sizes) > 1 and sizes[0] > 0 and len(set(sizes)) == 1)


def _extents(plans: Sequence[ExecutionPlan]) -> dict[int, int]:
    """Return the bytes of each area that tensors lie in: a file may ask for more than it uses."""
    found: dict[int, int] = {}
    for plan in plans:
        for value in plan.values:
            if isinstance(value, TensorValue) and value.allocation is not None:
                memory_id, end = value.allocation.memory_id, value.allocation.offset + value.nbytes
                found[memory_id] = max(found.get(memory_id, 0), end)
    return found


class Arenas:
    """The memory areas of one method, made on first use."""

    def __init__(self, plan: ExecutionPlan, shared: SharedMemory) -> None:
        self._ids = range(len(plan.arena_sizes))
        self._extents = _extents([plan])
        self._shared = shared
        self._own: dict[int, Bytes] = {}

    @property
    def uses_shared(self) -> bool:
        """Whether other methods see some of this memory."""
        return any(memory_id in self._shared.ids for memory_id in self._ids)

    def area(self, memory_id: int) -> Bytes:
        """Return the bytes of an area."""
        if memory_id in self._shared.ids:
            return self._shared.area(memory_id)
        if memory_id not in self._own:
            self._own[memory_id] = _zeros(self._extents[memory_id])
        return self._own[memory_id]

    def initialise(self, memory_id: int, offset: int, data: Bytes) -> None:
        """Load the initial contents of a buffer."""
        area = self.area(memory_id)
        if memory_id in self._shared.ids:
            self._shared.initialise(memory_id, offset, data, area)
        else:
            area[offset : offset + data.nbytes] = data

    def reset(self) -> None:
        """Set own areas to zero and shared ones to their initial contents."""
        for area in self._own.values():
            area.fill(0)
        self._shared.reset(self._ids)


def fits(value: TensorValue, shape: tuple[int, ...]) -> bool:
    """Return whether a tensor can take contents of a shape; a static one takes any of its number of elements."""
    if value.dynamism == Dynamism.STATIC:
        return math.prod(shape) == math.prod(value.sizes)
    bounded = value.dynamism == Dynamism.DYNAMIC_BOUND
    return len(shape) == len(value.sizes) and (not bounded or math.prod(shape) <= math.prod(value.sizes))


class TensorSlot:
    """A tensor of the plan at run time: its current shape and the bytes behind it."""

    __slots__ = ("_arenas", "_array", "_memory", "shape", "value", "where")

    def __init__(self, value: TensorValue, arenas: Arenas, where: str) -> None:
        self.value = value
        self.where = where
        self.shape = value.sizes if value.dynamism != Dynamism.DYNAMIC_UNBOUND else (0,) * len(value.sizes)
        self._arenas = arenas
        self._memory: Bytes | None = None
        self._array: Array | None = None

    def array(self) -> Array:
        """Return the tensor as an array of logical shape over its memory; constants are read-only."""
        if self._array is None:
            self._array = self._view(self._bytes(), self.shape)
        return self._array

    def write(self, result: Array) -> None:
        """Give the tensor new contents and shape, cast to its dtype.

        Raises:
            InvalidArgument: The shape passes the exported bound.
        """
        if result.shape != self.shape or self.value.is_constant:
            self._resize(result.shape)
            if self.value.dynamism == Dynamism.STATIC:
                result = result.reshape(self.shape)
        np.copyto(self.array(), result, casting="unsafe")

    def initialise(self) -> None:
        """Give the tensor its first contents: those in the file for a mutable buffer, zero for memory of its own."""
        value = self.value
        if value.allocation is None:
            self.release()
        elif value.data is not None:
            self.shape = value.sizes
            self._array = None
            payload = np.frombuffer(value.data, np.uint8, value.nbytes)
            self._arenas.initialise(value.allocation.memory_id, value.allocation.offset, payload)

    def release(self) -> None:
        """Let go of memory of its own; the planner's areas stay."""
        self._memory = self._array = None

    def _resize(self, shape: tuple[int, ...]) -> None:
        value = self.value
        if value.is_constant:
            raise InvalidProgram(f"{self.where} is a constant and cannot be written")
        if value.dynamism == Dynamism.DYNAMIC_UNBOUND:
            self._memory = None
        if not fits(value, shape):
            kind = "shape" if value.dynamism == Dynamism.STATIC else "bound"
            raise InvalidArgument(
                f"{self.where} gets shape {list(shape)}, which does not fit its {kind} {list(value.sizes)}"
            )
        self.shape = value.sizes if value.dynamism == Dynamism.STATIC else shape
        self._array = None

    def _bytes(self) -> Bytes:
        if self._memory is None:
            value = self.value
            size = value.nbytes
            if value.dynamism == Dynamism.DYNAMIC_UNBOUND and not value.is_constant:
                self._memory = _zeros(math.prod(self.shape) * value.dtype.itemsize)
            elif value.allocation is not None:
                area = self._arenas.area(value.allocation.memory_id)
                self._memory = area[value.allocation.offset : value.allocation.offset + size]
            elif value.data is not None:
                self._memory = np.frombuffer(value.data, np.uint8, size)
                self._memory.flags.writeable = False
            else:
                self._memory = _zeros(size)
        return self._memory

    def _view(self, memory: Bytes, shape: tuple[int, ...]) -> Array:
        value = self.value
        order = value.dim_order
        flat = memory[: math.prod(shape) * value.dtype.itemsize].view(value.dtype)
        if order == tuple(range(len(order))):
            return flat.reshape(shape)
        inverse = [0] * len(order)
        for position, dim in enumerate(order):
            inverse[dim] = position
        return flat.reshape([shape[dim] for dim in order]).transpose(inverse)


def initial_slots(plan: ExecutionPlan, arenas: Arenas, where: str) -> list[Any]:
    """Return the values of a plan before the first instruction: slots for tensors, the rest as it is."""
    return [
        TensorSlot(value, arenas, f"{where}: value {index}") if isinstance(value, TensorValue) else value
        for index, value in enumerate(plan.values)
    ]
