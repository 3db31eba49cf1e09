"""The kernels of a matrix product and the choice among them, by shape and by what the device says of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Union

from executorch_webgpu.ops.dispatch import DeviceFacts

# Workgroups that a large GPU needs to be busy: one and a half for each processor of a card of 132.
ENOUGH_WORKGROUPS = 192
MOST_SPLITS = 16
LEAST_PER_SPLIT = 256  # of k: below, adding the parts costs more than it saves


@dataclass(frozen=True)
class Tile:
    """tiled.wgsl: a workgroup makes ``rows x columns``, ``groups`` of its threads each with slices of ``depth`` of k.

    ``micro`` is the square of values a thread holds; ``splits`` workgroups share a tile along k.
    """

    rows: int
    columns: int
    depth: int
    micro: int
    groups: int = 1
    splits: int = 1

    @property
    def threads(self) -> int:
        """Threads of one group."""
        return self.rows // self.micro * (self.columns // self.micro)

    @property
    def invocations(self) -> int:
        """Threads of a workgroup."""
        return self.threads * self.groups

    @property
    def loads(self) -> int:
        """vec4 of each operand that a thread loads for one slice."""
        return self.rows * self.depth // 4 // self.threads

    @property
    def workgroup_bytes(self) -> int:
        """Workgroup memory: the slices of all groups, or the sums of one."""
        slices = self.groups * self.depth * (self.rows + self.columns) * 4
        return max(slices, self.rows * self.columns * 4 if self.groups > 1 else 0)

    @property
    def slice_depth(self) -> int:
        """How much of k one step of the whole workgroup takes."""
        return self.depth * self.groups


@dataclass(frozen=True)
class Rows:
    """rows.wgsl: up to ``rows`` rows (1 or 4) times ``[n, k]``, threads along k."""

    rows: int
    splits: int = 1
    slice_depth: int = 4


@dataclass(frozen=True)
class Block:
    """block.wgsl: 4 x 4 values an invocation, no workgroup memory."""

    splits: int = 1
    slice_depth: int = 4


Variant = Union[Tile, Rows, Block]

LARGE = Tile(rows=128, columns=128, depth=8, micro=8)
MEDIUM = Tile(rows=64, columns=64, depth=16, micro=4)
SMALL = Tile(rows=32, columns=32, depth=16, micro=4, groups=4)
TILES = (LARGE, MEDIUM, SMALL)


def choose(batch: int, m: int, n: int, k: int, layout: str, facts: DeviceFacts) -> Variant:
    """Return the kernel for ``batch`` products of ``[m, k]`` and ``[k, n]`` whose second operand lies as ``layout``."""
    if layout == "nk" and m <= 4:
        return Rows(1 if m == 1 else 4)
    if facts.software:
        return Block()
    for tile in (LARGE, MEDIUM):
        # Half of a tile may be idle at the edge; more is waste.
        if min(m, n) * 2 > tile.rows and _tiles(tile, batch, m, n) >= ENOUGH_WORKGROUPS:
            return tile
    tiles = _tiles(SMALL, batch, m, n)
    splits = min(ENOUGH_WORKGROUPS // tiles, k // LEAST_PER_SPLIT, MOST_SPLITS)
    return replace(SMALL, splits=_whole(k, splits, SMALL.slice_depth)) if splits > 1 else SMALL


def _tiles(tile: Tile, batch: int, m: int, n: int) -> int:
    return batch * -(-m // tile.rows) * -(-n // tile.columns)


def _whole(k: int, splits: int, step: int) -> int:
    """Return the splits that have work when each takes whole steps."""
    per_split = -(-k // (splits * step)) * step
    return -(-k // per_split)
