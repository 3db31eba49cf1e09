"""Golden cases of fills and ranges."""

from __future__ import annotations

import math

import torch
from framework import Case, Dim, values, write_family

N = Dim("n", max=7)
FILLS = tuple(f"aten.{name}.default" for name in ("full", "zeros", "ones", "full_like", "zeros_like", "ones_like"))
ARANGE = "aten.arange.start_step"


def like(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Fills in the shape of an input, of several dtypes."""
    return (
        torch.zeros_like(x),
        torch.ones_like(x),
        torch.full_like(x, -2.5),
        torch.full_like(x, -math.inf),
        torch.full_like(x, 3, dtype=torch.int32),
        torch.full_like(x, 1, dtype=torch.bool),
    )


def sized(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Fills and ranges as long as an input."""
    n = x.shape[0]
    return torch.full((n, 3), 0.75) + x, torch.ones(n, 5), torch.zeros(n), torch.arange(n) + 1


CASES = [
    Case(
        "like",
        like,
        (values(7, 5),),
        ("aten.full_like.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5),)],
    ),
    Case("like_half", like, (values(3, 5, dtype=torch.float16),), ("aten.full_like.default",)),
    Case(
        "like_as_written",
        like,
        (values(7, 5),),
        FILLS[3:],
        supported=FILLS,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(2, 5),)],
    ),
    Case(
        "sized",
        sized,
        (values(7, 3),),
        ("aten.full.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 3),)],
    ),
    Case(
        "sized_as_written",
        sized,
        (values(7, 3),),
        FILLS[:3],
        supported=FILLS,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 3),)],
    ),
    Case(
        "forced_half",
        lambda x: (torch.full_like(x, 0.1) + x, torch.full((3, 5), 2.0) * x),
        (values(3, 5),),
        ("aten.full_like.default",),
        force_fp16=True,
    ),
    Case(
        "arange",
        lambda x: torch.arange(x.shape[0], dtype=torch.float32)[:, None] + x,
        (values(7, 5),),
        (ARANGE,),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5),)],
    ),
    Case(
        "arange_steps",
        lambda x: (torch.arange(2, 30, 3) + x, torch.arange(5, -7, -2).float(), torch.arange(0.5, 2.0, 0.125)),
        (values(10, dtype=torch.int32),),
        (ARANGE,),
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
