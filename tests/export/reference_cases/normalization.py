"""Softmax and normalizations."""

from __future__ import annotations

import math

from reference_cases.case import for_each, some, tensor

X = some(3, 5, 7)
IMAGE = some(2, 6, 5, 3)


def positive(*shape: int, seed: int = 0):
    return some(*shape, low=0.5, high=2, seed=seed)


CASES = [
    *for_each(
        ["aten::_softmax.out", "aten::_log_softmax.out"],
        [X, -1, False],
        [X, 0, False],
        [X, 1, False],
        [X * 60, -1, False],
        [some(3, 5, dtype="float16"), 1, False],
        [some(3, 5, dtype="float64"), 1, False],
        [some(), 0, False],
        [some(0, 5), 1, False],
        [tensor([[math.inf, 0.0], [-math.inf, -math.inf], [-math.inf, 1.0], [math.nan, 0.0]]), 1, False],
    ),
    *for_each(
        ["aten::native_layer_norm.out"],
        [X, [7], some(7), some(7, seed=1), 1e-5],
        [X, [5, 7], some(5, 7), None, 1e-3],
        [X, [7], None, None, 0.0],
        [X + 1000, [7], None, None, 1e-5],
        [some(3, 7, dtype="float16"), [7], some(7, dtype="float16"), some(7, dtype="float16", seed=1), 1e-5],
        [some(0, 7), [7], some(7), some(7, seed=1), 1e-5],
        [some(3, 1), [1], None, None, 1e-5],
        rtol=1e-5,
        atol=2e-4,
    ),
    *for_each(
        ["aten::native_group_norm.out"],
        [IMAGE, some(6), some(6, seed=1), 2, 6, 15, 3, 1e-5],
        [IMAGE, None, None, 2, 6, 15, 1, 1e-3],
        [IMAGE, some(6), None, 2, 6, 15, 6, 1e-5],
        [some(2, 6), some(6), some(6, seed=1), 2, 6, 1, 2, 1e-5],
        [some(3, 4, 5), None, some(4), 3, 4, 5, 2, 1e-5],
        rtol=1e-5,
        atol=1e-5,
    ),
    *for_each(
        ["aten::_native_batch_norm_legit_no_training.out"],
        [IMAGE, some(6), some(6, seed=1), some(6, seed=2), positive(6), 0.1, 1e-5],
        [IMAGE, None, None, some(6, seed=2), positive(6), 0.1, 1e-3],
        [some(3, 4), some(4), None, some(4, seed=2), positive(4), 0.1, 1e-5],
        [some(3, 4, 5), some(4), some(4, seed=1), some(4, seed=2), positive(4), 0.1, 1e-5],
        rtol=1e-5,
        atol=1e-5,
    ),
    *for_each(
        ["aten::_native_batch_norm_legit.no_stats_out"],
        [IMAGE, some(6), some(6, seed=1), True, 0.1, 1e-5],
        [some(3, 4, 5), None, None, True, 0.1, 1e-3],
        [some(5, 4), some(4), None, True, 0.1, 1e-5],
        rtol=1e-5,
        atol=1e-5,
    ),
    *for_each(
        ["aten::_native_batch_norm_legit.out"],
        [IMAGE, some(6), some(6, seed=1), some(6, seed=2), positive(6), False, 0.1, 1e-5],
        [IMAGE, some(6), some(6, seed=1), some(6, seed=2), positive(6), True, 0.1, 1e-5],
        rtol=1e-5,
        atol=1e-5,
    ),
]
