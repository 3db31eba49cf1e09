"""The graph of one Vulkan delegate as frozen dataclasses, checked by the reader.

Source of the fields: ``backends/vulkan/serialization/schema.fbs`` of ExecuTorch 1.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class GraphTensor:
    """A tensor of the graph. ``sizes`` are upper bounds; values of one ``mem_obj_id`` (>= 0) share storage."""

    dtype: np.dtype
    sizes: tuple[int, ...]
    constant_id: int  # index into VulkanGraph.constants, -1 for none
    mem_obj_id: int  # -1 for none
    storage_type: int
    memory_layout: int
    staging_dtype: np.dtype

    @property
    def is_constant(self) -> bool:
        """Whether the blob has a payload for it."""
        return self.constant_id >= 0


@dataclass(frozen=True)
class SymInt:
    """An int that operators write at run time; ``value`` is what the blob holds (0 as a rule)."""

    value: int


@dataclass(frozen=True)
class ValueList:
    """A list of values of the graph by id."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class IntList:
    """A list of ints."""

    items: tuple[int, ...]


@dataclass(frozen=True)
class DoubleList:
    """A list of floats."""

    items: tuple[float, ...]


@dataclass(frozen=True)
class BoolList:
    """A list of bools."""

    items: tuple[bool, ...]


# None is Null; int, bool, float and str are the scalars.
GraphValue = None | int | bool | float | str | GraphTensor | SymInt | ValueList | IntList | DoubleList | BoolList


@dataclass(frozen=True)
class OperatorCall:
    """One node: operator name as in the blob and value ids (arguments, then the output)."""

    node_id: int
    name: str
    args: tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """A payload, ``length`` bytes of ``data``; ``named_key`` is None for one that lies in the blob."""

    length: int
    data: memoryview
    named_key: str | None


@dataclass(frozen=True)
class VulkanGraph:
    """One delegate: nodes in order, values, and which values are its inputs and outputs."""

    version: str
    chain: tuple[OperatorCall, ...]
    values: tuple[GraphValue, ...]
    input_ids: tuple[int, ...]
    output_ids: tuple[int, ...]
    constants: tuple[Constant, ...]
