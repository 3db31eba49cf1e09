"""Matrix products."""

from __future__ import annotations

import math

from reference_cases.case import for_each, some, tensor

CASES = [
    *for_each(
        ["aten::mm.out"],
        [some(5, 7), some(7, 3)],
        [some(1, 113), some(113, 41)],
        [some(5, 7, dtype="float16"), some(7, 3, dtype="float16")],
        [some(5, 7, dtype="float64"), some(7, 3, dtype="float64")],
        [some(5, 7, dtype="int32", low=-90, high=90), some(7, 3, dtype="int32", low=-90, high=90)],
        [some(5, 0), some(0, 3)],
        [some(0, 7), some(7, 3)],
        [tensor([[math.inf, 1.0]]), tensor([[0.0], [1.0]])],
        atol=2e-5,
    ),
    *for_each(
        ["aten::bmm.out"],
        [some(3, 5, 7), some(3, 7, 2)],
        [some(3, 5, 7, dtype="float16"), some(3, 7, 2, dtype="float16")],
        [some(0, 5, 7), some(0, 7, 2)],
        [some(2, 5, 7, dtype="int64"), some(2, 7, 2, dtype="int64")],
        atol=2e-5,
    ),
    *for_each(
        ["aten::addmm.out"],
        [some(3), some(5, 7), some(7, 3)],
        [some(5, 3), some(5, 7), some(7, 3), 0.5, 2],
        [some(1, 3, nan=True), some(5, 7), some(7, 3), 0],
        [some(5, 1, dtype="float16"), some(5, 7, dtype="float16"), some(7, 3, dtype="float16"), 1, 0.5],
        [some(3, dtype="int64"), some(5, 7, dtype="int64"), some(7, 3, dtype="int64"), 2, -3],
        atol=2e-5,
    ),
    *for_each(
        ["aten::baddbmm.out"],
        [some(3, 5, 2), some(3, 5, 7), some(3, 7, 2), 0.5, 2],
        [some(5, 1), some(3, 5, 7), some(3, 7, 2)],
        atol=2e-5,
    ),
    *for_each(
        ["aten::linear.out"],
        [some(5, 7), some(3, 7), some(3)],
        [some(2, 5, 7), some(3, 7), None],
        [some(7), some(3, 7), some(3)],
        [some(2, 3, 5, 7), some(3, 7), some(3)],
        [some(5, 7, dtype="float16"), some(3, 7, dtype="float16"), some(3, dtype="float16")],
        [some(0, 7), some(3, 7), some(3)],
        atol=2e-5,
    ),
]
