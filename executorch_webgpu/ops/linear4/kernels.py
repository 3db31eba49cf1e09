"""Which kernel makes a product with 4-bit weights: a function of the shape and of the device's facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from executorch_webgpu.ops.dispatch import DeviceFacts

FEW_ROWS = 8  # up to here one pass over the weights for each row costs less than a tile of mostly absent rows
ENOUGH_TILES = 96  # with fewer large tiles, most processors of a large card would idle


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
    """Return ``matvec``, ``tile8``, ``tile4`` or ``plain``."""
    even = product.columns % 32 == 0 and product.packed == product.columns
    aligned = product.wide_elements or product.outputs % 4 == 0
    if not even or not aligned or facts.max_invocations < 256:
        return "plain"
    if product.rows <= FEW_ROWS and product.group % 32 == 0:
        return "matvec"
    if product.group % 8:
        return "plain"
    tiles = math.ceil(product.rows / 128) * math.ceil(product.outputs / 128)
    return "tile8" if tiles >= ENOUGH_TILES else "tile4"


def matvec_lanes(product: Product, facts: DeviceFacts) -> int:
    """Return the invocations that share one set of rows: a lane takes 32 columns at a time."""
    lanes = max(32, facts.subgroup_size or 0)
    while lanes < min(product.columns // 32, 128):
        lanes *= 2
    return lanes


def matvec_rows(product: Product) -> int:
    """Return how many outputs share each load of x: few where there are few outputs, to keep processors busy."""
    return 8 if product.outputs >= 8192 else 4
