"""What the executor knows of a delegate, whatever runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from executorch_webgpu.errors import DelegateInvalidCompatibility
from executorch_webgpu.format.vulkan_graph import GraphTensor, SymInt, VulkanGraph

Array = np.ndarray[Any, np.dtype[Any]]
Value = Array | int


@dataclass(frozen=True)
class Port:
    """One input or output of a delegate. ``dtype`` is None for a SymInt, ``sizes`` are upper bounds."""

    dtype: np.dtype[Any] | None
    sizes: tuple[int, ...]

    @property
    def is_int(self) -> bool:
        """Whether the value is an int instead of a tensor."""
        return self.dtype is None


class Delegate(Protocol):
    """A delegate that is ready to run. Its state (KV caches) lives until ``reset`` or ``close``."""

    def execute(self, inputs: Sequence[Value]) -> list[Value]:
        """Run once. Inputs and outputs are in graph order; the outputs are the caller's to keep."""

    def reset(self) -> None:
        """Give all state its initial value."""

    def close(self) -> None:
        """Release what it holds; later calls raise InvalidState."""


def input_ports(graph: VulkanGraph, where: str) -> tuple[Port, ...]:
    """Return the inputs of ``graph`` in order."""
    return tuple(_port(graph, value, where) for value in graph.input_ids)


def output_ports(graph: VulkanGraph, where: str) -> tuple[Port, ...]:
    """Return the outputs of ``graph`` in order."""
    return tuple(_port(graph, value, where) for value in graph.output_ids)


def _port(graph: VulkanGraph, value: int, where: str) -> Port:
    item = graph.values[value]
    if isinstance(item, GraphTensor):
        return Port(item.dtype, item.sizes)
    # A plain int serves as an output where the exporter knew the value.
    if isinstance(item, SymInt | int):
        return Port(None, ())
    raise DelegateInvalidCompatibility(
        f"{where}: value {value} crosses the border but is a {type(item).__name__}, neither a tensor nor an int"
    )
