"""Which kernel makes a product with 4-bit weights: a function of the shape and of the device's facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from executorch_webgpu.ops.dispatch import DeviceFacts

FEW_ROWS = 8  # up to here one pass over the weights for each row costs less than a tile of mostly absent rows
ENOUGH_TILES = 96  # with fewer tiles, most processors of a large card would idle
WANTED_TILES = 256  # what splits of the columns bring their number to
SHORTEST_SPLIT = 256  # columns; shorter ones cost more to add up than they save


@dataclass(frozen=True)
class Product:
    """The shape of ``out[rows, outputs] = x[rows, columns] W^T``; ``packed`` columns are stored for each output."""

    rows: int
    outputs: int
    columns: int
    packed: int
    group: int
    wide_elements: bool = True  # x and out are float32


def choose(product: Product, facts: DeviceFacts) -> str:
    """Return ``matvec``, ``tile8``, ``tile4``, ``block`` or ``plain``."""
    even = product.columns % 32 == 0 and product.packed == product.columns
    aligned = product.wide_elements or product.outputs % 4 == 0
    if not even or not aligned or facts.max_invocations < 256:
        return "plain"
    if facts.software and product.rows > 2 and product.outputs % 4 == 0 and product.group % 8 == 0:
        return "block"
    if product.rows <= FEW_ROWS and product.group % 32 == 0:
        return "matvec"
    if product.group % 8:
        return "plain"
    return "tile8" if product.rows > 64 and product.outputs > 64 else "tile4"


def matmul_splits(product: Product, size: int, facts: DeviceFacts) -> tuple[int, int]:
    """Return into how many splits the columns are cut, and the columns of one, for tiles of 16 ``size`` outputs."""
    tiles = math.ceil(product.rows / (16 * size)) * math.ceil(product.outputs / (16 * size))
    if facts.software or tiles >= ENOUGH_TILES or product.outputs % 4:
        return 1, product.columns
    splits = min(WANTED_TILES // tiles, product.columns // SHORTEST_SPLIT, 16)
    if splits < 2:
        return 1, product.columns
    span = math.ceil(product.columns / splits / 32) * 32
    return math.ceil(product.columns / span), span


def matvec_lanes(product: Product, facts: DeviceFacts) -> int:
    """Return the invocations that share one set of rows: a lane takes 32 columns at a time."""
    lanes = max(32, facts.subgroup_size or 0)
    while lanes < min(product.columns // 32, 128):
        lanes *= 2
    return lanes


def matvec_rows(product: Product) -> int:
    """Return how many outputs share each load of x: few where there are few outputs, to keep processors busy."""
    return 8 if product.outputs >= 8192 else 4
