"""Reductions, scans and sorting."""

from __future__ import annotations

import math

import torch

from reference_cases.case import edges, for_each, some, tensor

X = some(3, 5, 7)
DTYPES = ("float16", "float64", "int32", "int64", "uint8", "int8", "bool")
DIMS = [
    [X, None],
    [X, []],
    [X, [1]],
    [X, [0, 2]],
    [X, [-1, 0], True],
    [X, [0, 1, 2], True],
    [some(), [0]],
    [some(), []],
]
EMPTY = [some(0, 5), some(3, 0)]
TIES = tensor([[1.0, 3.0, 3.0, 1.0], [math.nan, 2.0, math.nan, 2.0], [-math.inf, -math.inf, 0.0, -0.0]])


def names(*kernels: str) -> list[str]:
    return [f"aten::{kernel}" for kernel in kernels]


CASES = [
    *for_each(
        names("sum.IntList_out"),
        *DIMS,
        *([some(3, 5, dtype=d), [1]] for d in DTYPES),
        *([x, [0]] for x in EMPTY),
        [EMPTY[0], None],
        [edges().reshape(-1, 1), [1]],
        [tensor([3e38, 3e38]), [0]],
        [some(3, 5, dtype="int32"), [1], False, torch.float32],
        [some(3, 5), [1], True, torch.float64],
        [tensor([2**31 - 1, 1], "int32"), [0]],
        [some(5, 3, dtype="complex64"), [0]],
    ),
    *for_each(
        names("mean.out"),
        *DIMS,
        [some(3, 5, dtype="float16"), [1]],
        *([x, [0]] for x in EMPTY),
        [some(3, 5, dtype="int32"), [1], False, torch.float32],
        [some(3, 5, nan=True), [1], True],
        [tensor([3e38, 3e38]), [0]],
    ),
    *for_each(names("mean.dtype_out"), [X], [some(3, dtype="int64"), torch.float32], [some()]),
    *for_each(
        names("amax.out", "amin.out"),
        *(row for row in DIMS if row[1] is not None),
        *([some(3, 5, dtype=d), [1]] for d in DTYPES),
        [some(3, 5, nan=True), [0], True],
        [TIES, [-1]],
        [EMPTY[0], [1]],
    ),
    *for_each(names("max.unary_out", "min.unary_out"), [X], [TIES], [some()], *([some(3, 5, dtype=d)] for d in DTYPES)),
    *for_each(
        names("any.out"),
        [X > 2.5, 1],
        [X, -1, True],
        [tensor([[0.0, math.nan], [0.0, -0.0]]), 1],
        [some(dtype="bool"), 0],
        [some(3, 5, dtype="int32", low=0, high=2), 0],
        [some(3, 5, dtype="uint8", high=2), 0],
        [EMPTY[0], 0],
        [EMPTY[1], 1],
    ),
    *for_each(
        names("any.dims_out"),
        [X, []],
        [X > 2, [], True],
        [X > 2.5, [0, 1]],
        [X > 2.5, None],
        [X > 2.5, None, True],
        [X > 2.9, [-1], True],
        [some(3, 5, dtype="uint8", high=2), [0, 1]],
    ),
    *for_each(names("any.all_out"), [X > 2.9], [X > 9], [edges()], [EMPTY[0]], [some(3, dtype="uint8")]),
    *for_each(
        names("argmax.out", "argmin.out"),
        [X],
        [X, 1],
        [X, -1, True],
        [X, None, True],
        [TIES, 1],
        [TIES, 0],
        [TIES],
        [some(), 0],
        [some()],
        *([some(3, 5, dtype=d), 1] for d in DTYPES if d != "bool"),
    ),
    *for_each(
        names("max.dim_max", "min.dim_min"),
        [X, 1],
        [X, -1, True],
        [TIES, 1],
        [TIES, 0],
        [some(), 0],
        *([some(3, 5, dtype=d), 1] for d in DTYPES),
    ),
    *for_each(
        names("var.correction_out"),
        [X],
        [X, None],
        [X, [1]],
        [X, [0, 2]],
        [X, [-1], 0, True],
        [X, [1], 2.5],
        [X, [1], 9],
        [some(3, 1), [1]],
        [some(3, 5, dtype="float16"), [1]],
        [some(0, 3), [0]],
        [some()],
        [tensor([1e4, 1e4 + 1, 1e4 + 2]), [0]],
        rtol=1e-5,
    ),
    *for_each(
        names("var.out"),
        [X, [1]],
        [X, [0, 2], False],
        [X, None, True, True],
        [X, [1], False, True],
        [some(3, 1), [1]],
        rtol=1e-5,
    ),
    *for_each(names("var_mean.correction_out"), [X], [X, [1], 0, True], [X, [0, 2]], [some(3, 1), [1]], rtol=1e-5),
    *for_each(
        names("prod.int_out"),
        [X, 1],
        [X, -1, True],
        [some(), 0],
        *([some(3, 5, dtype=d, low=1), 1] for d in DTYPES),
        [EMPTY[0], 0],
        [some(3, 5, dtype="int32"), 1, False, torch.float32],
        [tensor([3e38, 3e38]), 0],
        rtol=1e-5,
    ),
    *for_each(
        names("prod.out"),
        [some(13)],
        [some(3, dtype="int32", low=1)],
        [some(3, dtype="bool")],
        [EMPTY[0]],
        [some(5, dtype="int32"), torch.float32],
        rtol=1e-5,
    ),
    *for_each(
        names("cumsum.out"),
        [X, 1],
        [X, -1],
        [some(), 0],
        *([some(3, 5, dtype=d), 1] for d in DTYPES),
        [EMPTY[0], 1],
        [some(3, 5, nan=True), 0],
        [some(3, 5, dtype="int32"), 1, torch.float32],
        [some(3, 5, dtype="bool"), 0, torch.int32],
    ),
    *for_each(
        names("sort.values"),
        [X],
        [X, 1],
        [X, 0, True],
        [some(11, nan=True)],
        [some(11, nan=True), 0, True],
        [some()],
        *([some(3, 5, dtype=d), 1, True] for d in ("float16", "int64", "uint8")),
        [EMPTY[1]],
    ),
    *for_each(
        names("sort.values_stable"),
        [some(41, dtype="int32"), True, 0, True],
        [some(41, dtype="int32"), True, -1, False],
        [TIES, True],
    ),
    *for_each(
        names("topk.values"),
        [X, 3],
        [X, 2, 1],
        [X, 2, 0, False],
        [X, 7, -1, True, True],
        [tensor([1.0, math.nan, 7.0]), 2],
        [some(), 1],
        [some(6, nan=True, seed=3), 2, 0, False],
        [some(5, dtype="float16"), 2],
        [tensor([5, 3, 9, 1, 7], "int64"), 3],
        [X, 0],
    ),
]
