"""Pooling over windows and to a given size."""

from __future__ import annotations

import math

from reference_cases.case import Case, for_each, some, tensor

X = some(2, 3, 11, 7)
NAN = some(1, 2, 7, 7, nan=True)
LOW = tensor([-math.inf] * 25).reshape(1, 1, 5, 5)
POOLED_ROWS = [
    [X, [3, 3]],
    [X, [2, 3], [1, 2]],
    [X, [3, 3], [2, 2], [1, 1]],
    [X, [3, 3], [2, 2], [1, 1], [1, 1], True],
    [X, [2, 2], [2, 2], [0, 0], [2, 3]],
    [X, [3], [2], [1], [1], True],
    [some(3, 11, 7), [3, 3], [2, 2]],
    [X, [11, 7]],
    [NAN, [3, 3], [1, 1], [1, 1]],
    [LOW, [3, 3], [2, 2], [1, 1], [2, 2]],
    [some(1, 2, 5, 5, dtype="float16"), [2, 2]],
    [some(1, 2, 5, 5, dtype="int64", low=-90, high=90), [2, 2], [1, 1], [1, 1]],
    [tensor([1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]).reshape(1, 1, 3, 3), [2, 2], [1, 1]],
]


def backward(x, *args):
    import torch

    values, indices = torch.ops.aten.max_pool2d_with_indices(x, *args)
    return Case("aten::max_pool2d_with_indices_backward.grad_input", some(*values.shape, seed=5), x, *args, indices)


CASES = [
    *for_each(
        ["aten::avg_pool2d.out"],
        [X, [3, 3]],
        [X, [2, 3], [1, 2], [1, 0]],
        [X, [3, 3], [2, 2], [1, 1], False, False],
        [X, [3, 3], [2, 2], [1, 1], True, True],
        [X, [3, 3], [2, 2], [1, 1], True, False],
        [X, [2, 2], [3, 3], [1, 1], True],
        [X, [3, 3], [2, 2], [1, 1], True, True, 5],
        [X, [3], [2], [1], False, False],
        [X, [11, 7]],
        [some(3, 11, 7), [3, 3], [2, 2]],
        [some(1, 2, 5, 5, dtype="float16"), [2, 2]],
    ),
    *for_each(["aten::max_pool2d_with_indices.out"], *POOLED_ROWS),
    *for_each(["aten.max_pool2d.default"], *POOLED_ROWS[:5], POOLED_ROWS[8]),
    *for_each(
        ["aten::max_pool3d_with_indices.out"],
        [some(2, 3, 5, 6, 7), [2, 3, 2]],
        [some(1, 2, 5, 6, 7), [3, 2, 3], [2, 1, 2], [1, 1, 1], [1, 1, 1], True],
        [some(2, 5, 6, 7), [2, 2, 2], [1, 2, 2], [0, 0, 0], [2, 1, 2]],
        [some(2, 5, 6, 7, nan=True), [2]],
    ),
    backward(X, [3, 3], [2, 2], [1, 1], [1, 1], False),
    backward(X, [3, 3], [1, 1], [0, 0], [2, 1], True),
    backward(some(3, 5, 5), [2, 2], [2, 2], [0, 0], [1, 1], False),
    *for_each(
        ["aten::_adaptive_avg_pool2d.out"],
        [X, [1, 1]],
        [X, [3, 2]],
        [X, [5, 7]],
        [X, [13, 9]],
        [some(3, 11, 7), [4, 3]],
        [some(1, 2, 5, 5, dtype="float16"), [2, 3]],
    ),
    *for_each(
        ["aten::adaptive_max_pool2d.out"],
        [X, [1, 1]],
        [X, [3, 2]],
        [X, [5, 7]],
        [X, [13, 9]],
        [some(3, 11, 7), [4, 3]],
        [NAN, [3, 3]],
    ),
]
