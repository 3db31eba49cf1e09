"""Which attention kernel runs a shape: a function of the shape and of the device's facts alone."""

from __future__ import annotations

from dataclasses import dataclass

from executorch_webgpu.ops.dispatch import DeviceFacts

FEW_ROWS = 4  # up to here the keys are split over workgroups, beyond it the rows are
FEW_ROWS_SOFTWARE = 24  # where workgroup memory is ordinary memory, tiles in it pay later
LONGEST_DIM = 256


@dataclass(frozen=True)
class Attention:
    """The shape: ``rows`` query rows of ``heads`` heads, ``share`` of which read one key head."""

    rows: int
    heads: int
    share: int
    dim: int


def choose(shape: Attention, facts: DeviceFacts) -> str:
    """Return ``split``, ``tiled`` or ``plain``."""
    if shape.dim % 4 or shape.dim > LONGEST_DIM or facts.max_invocations < 256:
        return "plain"
    return "split" if shape.rows <= (FEW_ROWS_SOFTWARE if facts.software else FEW_ROWS) else "tiled"


def split_keys(dim: int) -> int:
    """Return the keys of one split: a power of two whose rows, one quad longer each, fill half the workgroup memory."""
    keys = 64
    while keys > 8 and keys * dim > 2048:
        keys //= 2
    return keys


def split_rows(shape: Attention) -> int:
    """Return the query rows that a workgroup of a split takes."""
    return min(shape.rows * shape.share, 8 if shape.dim <= 128 else 4)


def tiled_columns(dim: int) -> int:
    """Return how many times 64 columns an invocation of the tiled kernel goes through: 1, 2 or 4."""
    return 1 if dim <= 64 else 2 if dim <= 128 else 4
