"""A dispatch as plain data: shader, variant, bindings, parameters and grid. Nothing here touches a GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from executorch_webgpu.ops.registry import Shape
from executorch_webgpu.ops.symbols import IntLike, Sym, ceil_div

ParamValue = Union[IntLike, float, tuple[IntLike, ...], tuple[float, ...]]
Grid = tuple[IntLike, IntLike, IntLike]
MAX_GRID = 65535  # WebGPU's default limit of workgroups in one dimension


@dataclass(frozen=True)
class Tensor:
    """A tensor as a lowering sees it: contiguous, row-major, dims concrete for this compile.

    ``storage`` names the memory; elements of less than a word are packed, the lowest in the lowest bits, and every
    storage is padded to 32 bytes, so that whole groups of four elements may be written.
    """

    shape: Shape
    dtype: np.dtype[Any]
    storage: int
    constant: bool = False
    offset: int = 0  # bytes from the start of the storage

    @property
    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes without padding."""
        return self.numel * self.dtype.itemsize

    @property
    def rank(self) -> int:
        """The number of dims."""
        return len(self.shape)


@dataclass(frozen=True)
class Dispatch:
    """One dispatch.

    ``bindings`` are by the names of the shader's storage variables, ``params`` by those of the members of its ``struct
    Params``; ``defines`` choose the text variant, ``constants`` set ``override`` constants.
    """

    shader: str
    defines: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, float], ...]
    bindings: tuple[tuple[str, Tensor], ...]
    params: tuple[tuple[str, ParamValue], ...]
    grid: Grid
    label: str


@dataclass(frozen=True)
class DeviceFacts:
    """What a lowering may rely on. The defaults are WebGPU's guaranteed limits, without optional features."""

    max_binding_bytes: int = 128 << 20
    max_storage_buffers: int = 8
    max_invocations: int = 256
    max_workgroup_bytes: int = 16384
    max_grid: int = MAX_GRID
    subgroup_size: int | None = None  # None: no subgroup operations; a fixed size otherwise
    packed_dot: bool = False  # dot4I8Packed is an instruction, not a polyfill
    software: bool = False


def threads_1d(count: IntLike, workgroup: int = 64) -> Grid:
    """Return a grid of at least ``count`` invocations, folded into y where x would pass the limit.

    Shaders recover the index with ``flat_id`` of common/grid.wgsl and must guard it against the count.
    """
    groups = ceil_div(count, workgroup)
    if isinstance(groups, Sym):
        return (groups, 1, 1)
    if groups <= MAX_GRID:
        return (max(groups, 1), 1, 1)
    rows = -(-groups // MAX_GRID)
    return (-(-groups // rows), rows, 1)


def freeze(mapping: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return a mapping as hashable items."""
    return tuple((key, tuple(value) if isinstance(value, list) else value) for key, value in mapping.items())
