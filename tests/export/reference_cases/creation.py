"""Operators that make tensors from sizes and numbers."""

from __future__ import annotations

import math

import torch

from reference_cases.case import Case, for_each, some

FLOAT, INT, BOOL, HALF = torch.float32, torch.int64, torch.bool, torch.float16

CASES = [
    Case("aten::full.out", [3, 5], 2.5, dtype=FLOAT),
    Case("aten::full.out", [3], -math.inf, dtype=FLOAT),
    Case("aten::full.out", [3], 7, dtype=torch.int32),
    Case("aten::full.out", [], 1, dtype=BOOL),
    Case("aten::full.out", [0, 3], 1, dtype=FLOAT),
    Case("aten::full.out", [3], 0.1, dtype=HALF),
    Case("aten::full_like.out", some(3, 5), 7),
    Case("aten::full_like.out", some(3, 5, dtype="int32"), 2.5),
    Case("aten::full_like.out", some(3, 5, dtype="int32"), 0.5, dtype=FLOAT),
    Case("aten::full_like.out", some(), -math.inf),
    *for_each(["aten::zeros.out", "aten::ones.out"], [[3, 5]], [[]], [[0, 2]]),
    *for_each(["aten::zeros.out", "aten::ones.out"], [[3]], dtype=torch.int32),
    *for_each(["aten::zeros.out", "aten::ones.out"], [[3]], dtype=BOOL),
    *for_each(["aten::zeros_like.out", "aten::ones_like.out"], [some(3, 5)], [some(3, dtype="int64")], [some()]),
    *for_each(["aten::empty.out", "dim_order_ops::_empty_dim_order.out"], [[3, 5]], [[]], random=True),
    *for_each(["aten::rand.out", "aten::randn.out"], [[3, 5]], [[0]], random=True),
    Case("aten::rand.out", [3], dtype=HALF, random=True),
    *for_each(["aten::native_dropout.out"], [some(3, 5), 0.5, False], [some(3, 5), 0.0, True], [some(3, 5), 1.0, True]),
    Case("aten::native_dropout.out", some(3, 5), 0.5, True, random=True),
    *for_each(["aten::scalar_tensor.out"], [2.5], [-math.inf], [7], [1e30]),
    Case("aten::scalar_tensor.out", 7, dtype=INT),
    Case("aten::scalar_tensor.out", True, dtype=BOOL),
    Case("aten::scalar_tensor.out", 1, dtype=BOOL),
    *for_each(["aten::arange.out"], [7], [2.5], [0], [7.0]),
    Case("aten::arange.out", 7, dtype=FLOAT),
    Case("aten::arange.out", 7, dtype=torch.int32),
    *for_each(
        ["aten::arange.start_out"],
        [1, 7],
        [7, 1, -2],
        [0.5, 3.0, 0.25],
        [0, 1, 0.1],
        [3, 3],
        [-5, 5, 3],
        [1.0, -1.0, -0.3],
    ),
    Case("aten::arange.start_out", 1, 9, 3, dtype=FLOAT),
    Case("aten::arange.start_out", 0, 5, 2, dtype=torch.int32),
]
