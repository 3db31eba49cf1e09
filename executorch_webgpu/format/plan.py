"""An ExecuTorch program as frozen dataclasses: what leaves the reader is checked and can be trusted.

Source of the fields: ``program.fbs`` and ``scalar_type.fbs`` of ExecuTorch 1.5.1.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


class Dynamism(enum.Enum):
    """``TensorShapeDynamism``: whether the sizes are exact or upper bounds."""

    STATIC = 0
    DYNAMIC_BOUND = 1
    DYNAMIC_UNBOUND = 2


@dataclass(frozen=True)
class Allocation:
    """Where the memory planner put a tensor: arena (``memory_id``, counted from 1) and byte offset."""

    memory_id: int
    offset: int


@dataclass(frozen=True)
class TensorValue:
    """A tensor of the plan.

    ``dtype`` is raw bytes (kind V) where numpy has no such dtype, which ``opaque`` then names.
    ``sizes`` are exact for STATIC, else upper bounds. ``dim_order`` lists dims from outermost to innermost stride.
    ``data`` is the payload in memory order of ``dim_order`` (constants and initial values of mutable buffers),
    None where the file has none. With ``data`` and ``allocation`` both present the payload is an initial value.
    """

    dtype: np.dtype
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: Dynamism
    data: memoryview | None
    allocation: Allocation | None
    fully_qualified_name: str | None
    external: bool
    opaque: str | None = None

    @property
    def dtype_name(self) -> str:
        """The name of the dtype, as numpy or else as PyTorch calls it."""
        return self.opaque or self.dtype.name

    @property
    def nbytes(self) -> int:
        """The bytes at ``sizes``."""
        return math.prod(self.sizes) * self.dtype.itemsize

    @property
    def is_constant(self) -> bool:
        """Whether the payload can never change."""
        return self.data is not None and self.allocation is None


@dataclass(frozen=True)
class IntListValue:
    """A list of ints; ``items`` are indices of Int values of the plan (they may be written at run time)."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class DoubleListValue:
    """A list of floats."""

    items: tuple[float, ...]


@dataclass(frozen=True)
class BoolListValue:
    """A list of bools."""

    items: tuple[bool, ...]


@dataclass(frozen=True)
class TensorListValue:
    """A list of tensors; ``items`` are value indices, -1 for an absent optional tensor."""

    items: tuple[int, ...]
    optional: bool


# None is Null; int, bool, float and str are the scalars.
PlanValue = (
    None | int | bool | float | str | TensorValue | IntListValue | DoubleListValue | BoolListValue | TensorListValue
)


@dataclass(frozen=True)
class KernelCall:
    """Run operator ``op_index`` on the values ``args`` (inputs, then outputs)."""

    op_index: int
    args: tuple[int, ...]


@dataclass(frozen=True)
class DelegateCall:
    """Run delegate ``delegate_index`` on the values ``args`` (inputs, then outputs)."""

    delegate_index: int
    args: tuple[int, ...]


@dataclass(frozen=True)
class MoveCall:
    """Copy value ``move_from`` over value ``move_to``."""

    move_from: int
    move_to: int


@dataclass(frozen=True)
class JumpFalseCall:
    """Go to instruction ``destination`` of the chain if the Bool (or bool tensor) ``condition`` is false."""

    condition: int
    destination: int


@dataclass(frozen=True)
class FreeCall:
    """Release the memory of value ``value``."""

    value: int


Instruction = KernelCall | DelegateCall | MoveCall | JumpFalseCall | FreeCall


@dataclass(frozen=True)
class Operator:
    """A kernel of the plan: ``aten::add`` with overload ``out``."""

    name: str
    overload: str

    @property
    def full_name(self) -> str:
        """The spelling of kernel registries, ``aten::add.out``."""
        return f"{self.name}.{self.overload}" if self.overload else self.name


@dataclass(frozen=True)
class Delegate:
    """A part that a backend took over: backend id, processed bytes, compile specs."""

    backend_id: str
    payload: memoryview
    compile_specs: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class ExecutionPlan:
    """One method."""

    name: str
    values: tuple[PlanValue, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    chains: tuple[tuple[Instruction, ...], ...]
    operators: tuple[Operator, ...]
    delegates: tuple[Delegate, ...]
    arena_sizes: tuple[int, ...]  # bytes; index 0 is reserved, index i is memory_id i


@dataclass(frozen=True)
class Program:
    """A whole file: its methods and the named data that delegates look up."""

    version: int
    plans: tuple[ExecutionPlan, ...]
    named_data: Mapping[str, memoryview]
    source: str  # how messages call the file
