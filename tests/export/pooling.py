"""Golden cases of max and average pooling."""

from __future__ import annotations

import math

import torch
from framework import Case, Dim, values, write_family
from torch.nn import functional

MAX = ("aten.max_pool2d_with_indices.default",)
AVERAGE = ("aten.avg_pool2d.default",)
HEIGHT = Dim("height", min=5, max=13)


def holes(x: torch.Tensor) -> torch.Tensor:
    """Return ``x`` with a NaN and infinities."""
    x = x.clone()
    x[0, 0, 3, 3], x[0, 1, 2, 2], x[0, 2, 0, 0] = math.nan, math.inf, -math.inf
    return x


CASES = [
    Case(
        "max",
        lambda x: (
            functional.max_pool2d(x, 3, 2, 1),
            functional.max_pool2d(x, (2, 3), (2, 1), (1, 0), (2, 1)),
            functional.max_pool2d(x, 3, 3, 1, ceil_mode=True),
            functional.max_pool2d(x, 2),
        ),
        (holes(values(2, 3, 13, 17)),),
        MAX,
    ),
    Case(
        "max_places",
        lambda x: (
            *functional.max_pool2d(x, 3, 2, 1, return_indices=True),
            *functional.max_pool2d(x, 2, 2, 0, 2, return_indices=True),
        ),
        (holes(values(1, 3, 13, 11)),),
        MAX,
    ),
    Case(
        "max_dynamic",
        lambda x: functional.max_pool2d(x, 3, 2, 1),
        (values(1, 3, 13, 11),),
        MAX,
        dynamic_shapes=({2: HEIGHT},),
        extra_inputs=[(values(1, 3, 8, 11),), (values(1, 3, 5, 11),)],
    ),
    Case(
        "max_half",
        lambda x: functional.max_pool2d(x, 3, 2, 1),
        (values(1, 3, 13, 11, dtype=torch.float16),),
        MAX,
    ),
    Case(
        "average",
        lambda x: (
            functional.avg_pool2d(x, 3, 2, 1),
            functional.avg_pool2d(x, (2, 3), (2, 1), (1, 1), count_include_pad=False),
            functional.avg_pool2d(x, 3, 3, 1, ceil_mode=True),
            functional.avg_pool2d(x, 4, 3, 2, ceil_mode=True, divisor_override=5),
        ),
        (values(2, 3, 13, 17),),
        AVERAGE,
    ),
    Case(
        "average_dynamic",
        lambda x: functional.avg_pool2d(x, 3, 2, 1),
        (values(1, 3, 13, 11),),
        AVERAGE,
        dynamic_shapes=({2: HEIGHT},),
        extra_inputs=[(values(1, 3, 8, 11),), (values(1, 3, 5, 11),)],
    ),
    Case(
        "average_half",
        lambda x: functional.avg_pool2d(x, 3, 2, 1),
        (values(1, 3, 13, 11, dtype=torch.float16),),
        AVERAGE,
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
