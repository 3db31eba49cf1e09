"""Operators that rename, reorder, join, split, repeat and pad."""

from __future__ import annotations

import math

from reference_cases.case import for_each, some, tensor

X = some(3, 5, 7)
INT = some(3, 5, dtype="int32", low=-9, high=9)
BOOL = some(3, 5, dtype="bool")
IMAGE = some(2, 3, 7, 5)
VOLUME = some(2, 3, 4, 7, 5)


def names(*kernels: str) -> list[str]:
    return [f"aten::{kernel}" for kernel in kernels]


CASES = [
    *for_each(
        names("view_copy.out"),
        [X, [15, 7]],
        [X, [-1]],
        [X, [5, -1, 3]],
        [INT, [15]],
        [some(), [1, 1]],
        [some(1), []],
        [some(0, 3), [3, 0]],
    ),
    *for_each(
        names("permute_copy.out"),
        [X, [2, 0, 1]],
        [X, [-1, 1, 0]],
        [INT, [1, 0]],
        [some(), []],
        [some(2, 1, 3, 2, 2, 3), [5, 3, 1, 0, 2, 4]],
    ),
    *for_each(names("transpose_copy.int_out"), [X, 0, 2], [X, -1, -2], [some(), 0, -1]),
    *for_each(names("t_copy.out"), [INT], [some(5)], [some()]),
    *for_each(names("unsqueeze_copy.out"), [X, 0], [X, -1], [X, 3], [X, 1], [some(), 0]),
    *for_each(names("squeeze_copy.dim_out"), [some(3, 1, 5), 1], [some(3, 1, 5), 0], [some(3, 1), -1], [some(), 0]),
    *for_each(
        names("squeeze_copy.dims_out"),
        [some(1, 3, 1, 5), [0, 2]],
        [some(1, 3, 1), [-1]],
        [some(1, 3), [0, 1]],
        [some(1, 1), []],
    ),
    *for_each(names("squeeze_copy.out"), [some(1, 3, 1, 5)], [X]),
    *for_each(
        names("expand_copy.out"),
        [some(3, 1), [3, 5]],
        [some(3, 1), [2, -1, 4]],
        [some(), [2, 3]],
        [some(1, 5), [0, 5]],
        [BOOL, [2, 3, 5]],
    ),
    *for_each(
        names("slice_copy.Tensor_out"),
        [X, 1, 1, 4],
        [X, 1, None, None, 2],
        [X, -1, -3, 2**63 - 1],
        [X, 0, -9, 2],
        [X, 0, 9, 12],
        [X, 1, 3, 1],
        [X, 2, 1, -1, 3],
        [INT],
    ),
    *for_each(names("narrow_copy.out"), [X, 1, 1, 3], [X, -1, 0, 7], [X, 0, 2, 0], [X, 1, -2, 2]),
    *for_each(names("select_copy.int_out"), [X, 1, 2], [X, -1, -1], [X, 0, 0], [some(5), 0, 3], [BOOL, 1, -2]),
    *for_each(names("select_scatter.out"), [X, some(3, 7), 1, 2], [X, some(3, 5), -1, -1], [some(5), some(), 0, 3]),
    *for_each(
        names("slice_scatter.out"),
        [X, some(3, 2, 7), 1, 1, 3],
        [X, some(3, 3, 7), 1, None, None, 2],
        [X, some(3, 5, 2), -1, -2, 2**63 - 1],
        [INT, some(3, 5, dtype="int32", seed=4)],
    ),
    *for_each(names("diagonal_copy.out"), [INT], [X, 1, 1, 2], [X, -1, 0, -1], [X, 9], [X, 0, 2, 0]),
    *for_each(names("tril.out"), [INT], [X, 1], [X, -2], [BOOL, 0], [some(5, 3, dtype="float16")]),
    *for_each(names("flip.out"), [X, [0]], [X, [-1, 1]], [X, []], [INT, [0, 1]], [some(), []], [some(0, 3), [1]]),
    *for_each(names("roll.out"), [X, [2], [1]], [X, [-1, 9], [0, -1]], [X, [4]], [INT, [0], [0]]),
    *for_each(names("unfold_copy.out"), [X, 1, 2, 1], [X, -1, 3, 2], [X, 0, 3, 5], [INT, 1, 5, 1], [some(), 0, 1, 1]),
    *for_each(
        names("as_strided_copy.out"),
        [X, [3, 7], [35, 1]],
        [X, [2, 3], [1, 2], 4],
        [X, [], [], 3],
        [X, [5], [0]],
        [INT, [2, 2, 2], [1, 1, 1], 0],
    ),
    *for_each(names("view_as_real_copy.out"), [some(3, 5, dtype="complex64")], [some(dtype="complex64")]),
    *for_each(
        names("pixel_shuffle.out"),
        [some(2, 12, 3, 5), 2],
        [some(9, 2, 3), 3],
        [some(2, 1, 4, 2, 3), 2],
        [some(1, 4, 2, 2, dtype="int8"), 2],
    ),
    *for_each(names("pixel_unshuffle.out"), [some(2, 3, 6, 4), 2], [some(1, 6, 9), 3], [some(2, 1, 1, 4, 6), 2]),
    # Joining and splitting.
    *for_each(
        names("cat.out"),
        [[X, some(3, 2, 7)], 1],
        [[INT, INT, INT]],
        [[X, some(0)], 1],
        [[some(0), X], 0],
        [[X, some(3, 5, 0)], -1],
        [[some(3), some(2, dtype="int64")]],
        [[some(3, dtype="float16"), some(2)], 0],
        [[some(2, dtype="int8"), some(2, dtype="uint8")]],
        [[BOOL, BOOL], -1],
        [[some(0), some(0)]],
    ),
    *for_each(
        names("stack.out"),
        [[X, X]],
        [[X, X], -1],
        [[X, X], 2],
        [[some(), some(seed=1)]],
        [[some(3), some(3, dtype="int64")], 1],
    ),
    *for_each(names("split_copy.Tensor_out"), [X, 2, 1], [X, 7, -1], [X, 3, 2], [X, 1], [X, 9, 0]),
    *for_each(names("split_with_sizes_copy.out"), [X, [2, 3], 1], [X, [1, 0, 6], -1], [X, [3]]),
    *for_each(names("unbind_copy.int_out"), [X], [X, -1], [X, 1], [some(3)]),
    *for_each(
        names("repeat.out"),
        [INT, [2, 3]],
        [INT, [2, 1, 2]],
        [INT, [0, 1]],
        [some(), [2, 2]],
        [some(3), [1, 4]],
        [some(), []],
    ),
    *for_each(
        names("repeat_interleave.Tensor_out"),
        [tensor([2, 0, 3], "int64")],
        [tensor([1, 2], "int32")],
        [tensor([0], "int64")],
    ),
    *for_each(["aten.repeat_interleave.self_int"], [INT, 2, 1], [INT, 3], [X, 2, -3], [some(3), 0, 0]),
    # Padding.
    *for_each(
        names("constant_pad_nd.out"),
        [X, [1, 2]],
        [X, [1, 0, 0, 2], 2.5],
        [X, [-1, 2, 1, -2], -1.0],
        [X, [0, 1, 1, 0, 2, 2], math.inf],
        [INT, [1, 1], 7],
        [BOOL, [1, 1], True],
        [some(3, dtype="float16"), [1, 1], 0.1],
        [X, []],
        [X, [-3, -4]],
    ),
    *for_each(names("reflection_pad1d.out"), [X, [2, 3]], [some(3, 7), [0, 1]], [X, [-1, 2]]),
    *for_each(names("reflection_pad2d.out"), [IMAGE, [1, 2, 3, 0]], [X, [4, 4, 2, 1]], [IMAGE, [-1, 1, 0, 2]]),
    *for_each(names("reflection_pad3d.out"), [VOLUME, [1, 2, 3, 0, 1, 1]], [IMAGE, [1, 1, 2, 2, 1, 0]]),
    *for_each(names("replication_pad1d.out"), [X, [2, 9]], [some(3, 7), [0, 1]], [X, [-1, 2]]),
    *for_each(names("replication_pad2d.out"), [IMAGE, [1, 2, 9, 0]], [X, [4, 4, 2, 1]], [IMAGE, [-1, 1, 0, -2]]),
    *for_each(names("replication_pad3d.out"), [VOLUME, [1, 2, 3, 0, 6, 1]], [IMAGE, [1, 1, 2, 2, 1, 0]]),
]
