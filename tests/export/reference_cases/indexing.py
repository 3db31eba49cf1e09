"""Operators that take or put elements by index tensors and masks."""

from __future__ import annotations

import math

from reference_cases.case import Case, for_each, some, tensor

X = some(3, 5, 7)
INT = some(3, 5, dtype="int32", low=-9, high=9)
ROWS = tensor([2, 0, -1], "int64")
COLUMNS = tensor([[4], [1]], "int32")
MASK = some(3, 5, dtype="bool", seed=2)
GATHERED = tensor([[0, 2, 1], [2, 2, 0]], "int64")


def names(*kernels: str) -> list[str]:
    return [f"aten::{kernel}" for kernel in kernels]


CASES = [
    *for_each(
        names("index.Tensor_out"),
        [X, [ROWS]],
        [X, [None, COLUMNS]],
        [X, [ROWS, COLUMNS]],
        [X, [ROWS, None, COLUMNS]],
        [X, [None, ROWS, COLUMNS]],
        [X, [MASK]],
        [X, [None, some(5, dtype="bool")]],
        [X, [tensor([True, False, True], "bool"), None, tensor([1, 4], "int64")]],
        [X, [tensor(1, "int64")]],
        [X, [tensor(1, "int64"), None, ROWS]],
        [INT, [MASK]],
        [X, [tensor([], "int64")]],
        [X, [tensor([[0, 1], [2, 0]], "int64"), None, None]],
        [some(3, 5, dtype="bool"), [ROWS]],
    ),
    *for_each(
        names("index_put.out", "index_put_"),
        [X, [ROWS], some(3, 5, 7, seed=1)],
        [X, [ROWS], some(7, seed=1)],
        [X, [ROWS, COLUMNS], some(2, 3, 7, seed=1)],
        [X, [None, COLUMNS], some(seed=1)],
        [X, [MASK], some(7, seed=1)],
        [X, [MASK], tensor(-math.inf)],
        [X, [tensor([1, 1, 1], "int64")], some(3, 5, 7, seed=1), True],
        [INT, [tensor([1, 1, -2], "int64")], some(5, dtype="int32", seed=1), True],
        [some(3, 5, dtype="bool"), [ROWS], tensor(True, "bool")],
        [X, [ROWS, None, tensor([1, 2, 6], "int64")], some(3, 5, seed=1)],
        [some(3, 5, dtype="float16"), [ROWS], some(3, 5, dtype="float16", seed=1)],
    ),
    *for_each(
        names("index_select.out"),
        [X, 0, tensor([2, 0], "int64")],
        [X, -1, tensor([6, 6, 1], "int32")],
        [X, 1, tensor([], "int64")],
        [X, 1, tensor(3, "int64")],
        [INT, 1, tensor([4], "int64")],
        [some(), 0, tensor([0], "int64")],
    ),
    *for_each(
        names("embedding.out"),
        [some(11, 5), tensor([[0, 10], [3, 3]], "int64")],
        [some(11, 5), tensor([7], "int32"), 7],
        [some(11, 5, dtype="float16"), tensor(2, "int64")],
        [some(11, 5), tensor([], "int64")],
    ),
    *for_each(
        names("gather.out"),
        [X, 0, tensor([[[0, 2, 1]], [[2, 2, 0]]], "int64")],
        [some(3, 3), 1, GATHERED],
        [some(3, 3), -2, GATHERED],
        [INT, 1, tensor([[4, 0], [1, 1], [2, 3]], "int64")],
        [some(), 0, tensor(0, "int64")],
        [some(5), 0, tensor([[]], "int64").reshape(0)],
    ),
    *for_each(
        names("scatter.src_out", "scatter_add.out"),
        [some(3, 3), 1, tensor([[0, 2, 1], [2, 1, 0]], "int64"), some(2, 3, seed=1)],
        [some(3, 3), 0, tensor([[0, 2, 1]], "int64"), some(2, 3, seed=1)],
        [INT, -1, tensor([[4, 0], [1, 2]], "int64"), some(3, 5, dtype="int32", seed=1)],
        [some(), 0, tensor(0, "int64"), some(seed=1)],
        [some(5), 0, tensor([], "int64"), some(5, seed=1)],
    ),
    Case(
        "aten::scatter_add.out", some(3, 5), 0, tensor([[1, 1, 1, 2, 0], [1, 1, 0, 2, 0]], "int64"), some(2, 5, seed=1)
    ),
    Case(
        "aten::scatter_add.out",
        some(5, dtype="float16"),
        0,
        tensor([1, 1, 1], "int64"),
        some(3, dtype="float16", seed=1),
    ),
    *for_each(
        names("scatter.value_out"),
        [some(3, 3), 1, GATHERED, 2.5],
        [INT, 0, tensor([[1, 2]], "int64"), 7],
        [some(3, 3, dtype="bool"), -1, GATHERED, 1],
    ),
    *for_each(
        names("masked_select.out"),
        [some(3, 5), MASK],
        [some(5), MASK],
        [X, some(7, dtype="bool")],
        [INT, MASK],
        [some(3, 1), some(3, 5, dtype="bool", seed=3)],
        [some(), tensor(True, "bool")],
    ),
    *for_each(
        names("masked_scatter.out"),
        [some(3, 5), MASK, some(17, seed=1)],
        [some(5), MASK, some(3, 5, seed=1)],
        [INT, MASK, some(15, dtype="int32", seed=1)],
        [some(3, 5), some(5, dtype="bool"), some(15, seed=1)],
    ),
    *for_each(
        names("nonzero.out"),
        [MASK],
        [INT],
        [tensor([0.0, math.nan, -0.0, 2.0])],
        [some()],
        [tensor(0.0)],
        [some(0, 3)],
        [X > 2],
    ),
]
