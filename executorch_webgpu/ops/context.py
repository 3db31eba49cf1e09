"""What a lowering is given: its outputs, the device's facts and a place to record dispatches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from executorch_webgpu.ops.dispatch import DeviceFacts, Dispatch, Grid, ParamValue, Tensor, freeze
from executorch_webgpu.ops.registry import Out, Shape
from executorch_webgpu.ops.symbols import IntLike

HostArray = np.ndarray[Any, np.dtype[Any]]


class Memory(Protocol):
    """The delegate's side of a lowering: storage, constants and pinned values."""

    def place_output(self, value: int, shape: Shape) -> Tensor:
        """Return the tensor of an output value at the shape of this compile."""

    def place_scratch(self, nbytes: int) -> int:
        """Return a storage that lives until the node ends."""

    def constant_data(self, tensor: Tensor) -> HostArray | None:
        """Return the payload of a constant that nothing writes, else None."""

    def repack(self, tensors: Sequence[Tensor], key: str, build: Callable[..., HostArray]) -> Tensor:
        """Return constants in another layout, made once and kept."""

    def pin(self, value: IntLike) -> int:
        """Return the value in this call and make it part of the cache key."""

    def guard(self, value: IntLike, low: int, high: IntLike, what: str) -> None:
        """Check ``low <= value <= high`` on every call."""


class Lowering:
    """The context of one node. ``outs`` are what the program says of the outputs."""

    def __init__(
        self, name: str, outs: Sequence[Out], out_values: Sequence[int], facts: DeviceFacts, memory: Memory
    ) -> None:
        self.name = name
        self.outs = tuple(outs)
        self.facts = facts
        self.dispatches: list[Dispatch] = []
        self.shapes: dict[int, Shape] = {}
        self._values = tuple(out_values)
        self._memory = memory

    def out(self, shape: Sequence[int], index: int = 0) -> Tensor:
        """Declare the concrete shape of output ``index`` and return the tensor to write."""
        self.shapes[index] = tuple(shape)
        return self._memory.place_output(self._values[index], tuple(shape))

    def scratch(self, shape: Sequence[int], dtype: str = "float32") -> Tensor:
        """Return a temporary tensor that lives until this node ends."""
        kind = np.dtype(dtype)
        size = int(np.prod(tuple(shape), dtype=np.int64)) * kind.itemsize
        return Tensor(tuple(shape), kind, self._memory.place_scratch(size))

    def constant_data(self, tensor: Tensor) -> HostArray | None:
        """Return the payload of a constant that nothing writes, else None."""
        return self._memory.constant_data(tensor)

    def repack(self, tensors: Tensor | Sequence[Tensor], key: str, build: Callable[..., HostArray]) -> Tensor:
        """Return one constant or several in another layout: ``build(*payloads)`` runs once per ``key``."""
        return self._memory.repack((tensors,) if isinstance(tensors, Tensor) else tensors, key, build)

    def pin(self, value: IntLike) -> int:
        """Return a live int's value now; the compiled graph is then used for that value only."""
        return self._memory.pin(value)

    def guard(self, value: IntLike, low: int, high: IntLike, what: str) -> None:
        """Have every call check ``low <= value <= high``; ``what`` names the value in the error."""
        self._memory.guard(value, low, high, what)

    def dispatch(
        self,
        shader: str,
        *,
        grid: Grid,
        bindings: Mapping[str, Tensor],
        params: Mapping[str, ParamValue | Sequence[IntLike]] | None = None,
        defines: Mapping[str, str] | None = None,
        constants: Mapping[str, float] | None = None,
    ) -> None:
        """Record one dispatch. ``shader`` is a path below ops/, e.g. ``elementwise/unary.wgsl``."""
        self.dispatches.append(
            Dispatch(
                shader,
                freeze(defines or {}),
                freeze(constants or {}),
                freeze(bindings),
                freeze(params or {}),
                grid,
                self.name,
            )
        )
