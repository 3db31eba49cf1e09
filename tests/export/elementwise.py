"""Golden cases of the elementwise operators."""

from __future__ import annotations

import torch
from framework import Case, Dim, values, write_family

N = Dim("n", max=7)

CASES = [
    Case(
        "arithmetic",
        lambda x, y: (x + y, x - y, x * y, torch.minimum(x, y)),
        (values(7, 5, 3), values(5, 3)),
        ("aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.minimum.default"),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5, 3), values(5, 3)), (values(1, 5, 3), values(5, 3))],
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
