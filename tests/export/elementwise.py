"""Golden cases of the elementwise operators: unary, binary, comparison, logic, where, casts."""

from __future__ import annotations

import math

import torch
from framework import Case, Dim, values, write_family
from torch.nn import functional as F

N = Dim("n", max=7)
INF, NAN = math.inf, math.nan
SPECIAL = torch.tensor(
    [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e-30, 90.0, -90.0, 1e10, -3e38, 20.0]
)
BOUNDS = torch.tensor([0.0, -0.0, INF, -INF, 1.0, -1.0, 0.5, 2.5, 7.0, -7.0, 1e10])
GRID = tuple(grid.contiguous() for grid in torch.meshgrid(BOUNDS, BOUNDS, indexing="ij"))
FLOAT_UNARY = {
    "abs": torch.abs,
    "cos": torch.cos,
    "exp": torch.exp,
    "gelu": F.gelu,
    "hardswish": F.hardswish,
    "hardtanh": lambda x: F.hardtanh(x, -0.75, 1.25),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.125),
    "log10": torch.log10,
    "neg": torch.neg,
    "relu": torch.relu,
    "round": torch.round,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "sqrt": torch.sqrt,
    "tanh": torch.tanh,
}
UNARY_NAMES = tuple(f"aten.{name}.default" for name in FLOAT_UNARY)
RUNTIME_UNARY = {
    "tan": torch.tan,
    "hardsigmoid": F.hardsigmoid,
    "relu6": F.relu6,
    "log": torch.log,
    "log1p": torch.log1p,
}
RUNTIME_NAMES = tuple(f"aten.{name}.default" for name in RUNTIME_UNARY)
COMPARISONS = {"eq": torch.eq, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
SCALAR_COMPARISONS = {**COMPARISONS, "ne": torch.ne}


def unary(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Every float operator with default options, gelu by tanh and clamps besides."""
    return (
        *(function(x) for function in FLOAT_UNARY.values()),
        F.gelu(x, approximate="tanh"),
        torch.clamp(x, -0.5, 1.5),
        torch.clamp(x, max=0.25),
        torch.clamp(x, min=-INF),
    )


def runtime_unary(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Operators that the exporter decomposes but runtimes know."""
    return tuple(function(x) for function in RUNTIME_UNARY.values())


def arithmetic(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Binary operators in any dtype."""
    return x + y, x - y, x * y, torch.minimum(x, y), torch.add(x, y, alpha=3), torch.sub(x, y, alpha=2)


ARITHMETIC = ("aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.minimum.default")


def divisions(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Division in three roundings."""
    return (
        torch.div(x, y),
        torch.div(x, y, rounding_mode="trunc"),
        torch.div(x, y, rounding_mode="floor"),
    )


DIVISIONS = ("aten.div.Tensor", "aten.div.Tensor_mode")


def powers(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Scalar exponents of all kinds."""
    return tuple(torch.pow(x, e) for e in (2, 3, 0.5, -1, -0.5, -2, 2.5, 0, 1, 11))


def compare(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Every comparison of two tensors."""
    return tuple(function(x, y) for function in COMPARISONS.values())


def compare_scalar(number: float):
    """Every comparison with a number."""
    return lambda x: tuple(function(x, number) for function in SCALAR_COMPARISONS.values())


COMPARED = tuple(f"aten.{name}.Tensor" for name in COMPARISONS)
COMPARED_SCALAR = tuple(f"aten.{name}.Scalar" for name in SCALAR_COMPARISONS)


def logic(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Logic of bools."""
    return (
        torch.logical_and(x, y),
        torch.logical_or(x, y),
        torch.bitwise_and(x, y),
        torch.bitwise_or(x, y),
        torch.logical_not(x),
        torch.bitwise_not(y),
    )


LOGIC = (
    "aten.logical_and.default",
    "aten.logical_or.default",
    "aten.bitwise_and.Tensor",
    "aten.bitwise_or.Tensor",
    "aten.logical_not.default",
    "aten.bitwise_not.default",
)


def ints(*shape: int, low: int = -9, high: int = 9, dtype: torch.dtype = torch.int32, seed: int = 0) -> torch.Tensor:
    """Whole numbers."""
    return values(*shape, dtype=dtype, low=low, high=high, seed=seed)


def nonzero(*shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    """Whole numbers without 0."""
    found = ints(*shape, dtype=dtype, seed=1)
    return torch.where(found == 0, torch.full_like(found, 3), found)


CASES = [
    Case(
        "unary",
        unary,
        (values(7, 11, 3, low=-4, high=4),),
        (*UNARY_NAMES, "aten.clamp.default"),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 11, 3),), (values(1, 11, 3, low=0, high=90),)],
    ),
    Case("unary_special", unary, (SPECIAL,), UNARY_NAMES, rtol=1e-6, atol=1e-6),
    Case(
        "unary_angles",
        lambda x: (torch.sin(x), torch.cos(x)),
        (values(113, low=-1e5, high=1e5),),
        ("aten.sin.default", "aten.cos.default"),
        atol=3e-7,
        rtol=1e-6,
    ),
    Case("unary_half", unary, (values(5, 7, dtype=torch.float16, low=-4, high=4),), UNARY_NAMES),
    Case(
        "unary_forced_half", unary, (values(5, 7, low=0.1, high=3),), UNARY_NAMES, force_fp16=True, atol=5e-3, rtol=5e-3
    ),
    Case(
        "unary_rank0",
        lambda x: (torch.exp(x), torch.relu(x)),
        (torch.tensor(-0.75),),
        ("aten.exp.default", "aten.relu.default"),
    ),
    Case(
        "unary_runtime",
        runtime_unary,
        (values(7, 13, low=0.01, high=4),),
        RUNTIME_NAMES,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(2, 13, low=0.01, high=1.5),)],
        supported=RUNTIME_NAMES,
    ),
    Case(
        "unary_runtime_special", runtime_unary, (SPECIAL,), RUNTIME_NAMES, supported=RUNTIME_NAMES, rtol=1e-6, atol=1e-6
    ),
    Case(
        "clamp_int",
        lambda x: (torch.clamp(x, -3, 5), torch.clamp(x, min=0)),
        (ints(7, 5),),
        ("aten.clamp.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(ints(3, 5),)],
    ),
    Case("clamp_int_by_float", lambda x: torch.clamp(x, -2.5, 3.5), (ints(37),), ("aten.clamp.default",)),
    Case(
        "arithmetic",
        arithmetic,
        (values(7, 5, 3), values(5, 3)),
        ARITHMETIC,
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5, 3), values(5, 3)), (values(1, 5, 3), values(5, 3))],
    ),
    Case("arithmetic_rows", arithmetic, (values(3, 1, 8), values(5, 8)), ARITHMETIC),
    Case("arithmetic_columns", arithmetic, (values(3, 5, 8), values(3, 5, 1)), ARITHMETIC),
    Case(
        "arithmetic_outer",
        arithmetic,
        (values(7, 1), values(1, 5)),
        ARITHMETIC,
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 1), values(1, 5))],
    ),
    Case("arithmetic_rank6", arithmetic, (values(2, 1, 3, 1, 2, 5), values(3, 1, 2, 2, 1)), ARITHMETIC),
    Case("arithmetic_rank0", arithmetic, (values(), values(5)), ARITHMETIC),
    Case(
        "arithmetic_half", arithmetic, (values(3, 7, dtype=torch.float16), values(7, dtype=torch.float16)), ARITHMETIC
    ),
    Case("arithmetic_forced_half", arithmetic, (values(3, 7), values(3, 1)), ARITHMETIC, force_fp16=True, atol=6e-3),
    Case("arithmetic_int32", arithmetic, (ints(3, 7), ints(7, seed=1)), ARITHMETIC),
    Case("arithmetic_int64", arithmetic, (ints(3, 7, dtype=torch.int64), ints(3, 1, dtype=torch.int64)), ARITHMETIC),
    Case(
        "arithmetic_true_int64",
        arithmetic,
        (ints(3, 7, dtype=torch.int64), ints(3, 1, dtype=torch.int64)),
        ARITHMETIC,
        options={"downcast_64_bit": False},
    ),
    Case("arithmetic_mixed", arithmetic, (ints(3, 7), values(7)), ARITHMETIC),
    Case("minimum_nan", lambda x, y: torch.minimum(x, y), (SPECIAL, SPECIAL.flip(0)), ("aten.minimum.default",)),
    Case(
        "maximum_floor_divide",
        lambda x, y: (torch.maximum(x, y), torch.floor_divide(x, y)),
        (values(7, 5), values(5, low=0.5)),
        ("aten.maximum.default", "aten.floor_divide.default"),
        supported=("aten.maximum.default", "aten.floor_divide.default"),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(2, 5), values(5, low=0.5))],
    ),
    Case(
        "scalars",
        lambda x: (x + 1, x * 2.5, 3 - x, x / 3, x - 0.1),
        (values(7, 5),),
        ("aten.add.Tensor", "aten.mul.Tensor", "aten.sub.Tensor"),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5),)],
    ),
    Case(
        "divisions",
        divisions,
        (values(7, 5, 3, low=-9, high=9), values(5, 1, low=0.1)),
        DIVISIONS,
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5, 3), values(5, 1, low=0.1))],
    ),
    Case("divisions_whole", divisions, (ints(113, low=-60, high=60).float(), nonzero(113).float()), DIVISIONS),
    Case("divisions_tenths", divisions, (ints(113, low=-60, high=60) / 10, nonzero(113) / 10), DIVISIONS),
    Case("divisions_special", divisions, GRID, DIVISIONS),
    Case("divisions_int32", divisions, (ints(5, 7), nonzero(7)), DIVISIONS),
    Case(
        "divisions_half",
        divisions,
        (values(5, 7, dtype=torch.float16), values(7, low=0.5, dtype=torch.float16)),
        DIVISIONS,
    ),
    Case(
        "pow_scalar",
        powers,
        (values(7, 5, low=0.05, high=4),),
        ("aten.pow.Tensor_Scalar",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, low=-3),)],
    ),
    Case("pow_scalar_special", powers, (SPECIAL,), ("aten.pow.Tensor_Scalar",)),
    Case(
        "pow_scalar_half", powers, (values(3, 5, low=0.5, high=1.5, dtype=torch.float16),), ("aten.pow.Tensor_Scalar",)
    ),
    Case(
        "pow_tensor",
        torch.pow,
        (values(7, 5, low=0.05, high=4), values(5, low=-4, high=4)),
        ("aten.pow.Tensor_Tensor",),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5, low=0.05), values(5))],
    ),
    Case("pow_tensor_special", torch.pow, GRID, ("aten.pow.Tensor_Tensor",)),
    Case("pow_tensor_int", torch.pow, (ints(5, 7), ints(7, low=0, high=5)), ("aten.pow.Tensor_Tensor",)),
    Case(
        "compare",
        compare,
        (ints(7, 5).float() / 2, ints(5, seed=1).float() / 2),
        COMPARED,
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5), values(5))],
    ),
    Case("compare_special", compare, GRID, COMPARED),
    Case("compare_nan", compare, (SPECIAL, SPECIAL.flip(0)), COMPARED),
    Case("compare_int32", compare, (ints(5, 7), ints(5, 1, seed=1)), COMPARED),
    Case("compare_mixed", compare, (ints(5, 7), ints(5, 1, seed=1).float() + 0.5), COMPARED),
    Case(
        "compare_scalar",
        compare_scalar(0.5),
        (ints(7, 5).float() / 2,),
        COMPARED_SCALAR,
        dynamic_shapes=({0: N},),
        extra_inputs=[(ints(2, 5).float() / 2,)],
    ),
    Case("compare_scalar_int", compare_scalar(2), (ints(37),), COMPARED_SCALAR),
    Case("compare_scalar_int_by_float", compare_scalar(1.5), (ints(37),), COMPARED_SCALAR),
    Case(
        "compare_scalar_half",
        compare_scalar(0.1),
        (torch.tensor([0.1, 0.0999, 0.1001, 0.2, -1]).half(),),
        COMPARED_SCALAR,
    ),
    Case(
        "ne_tensor",
        torch.ne,
        (ints(7, 5).float(), ints(5, seed=1).float()),
        ("aten.ne.Tensor",),
        supported=("aten.ne.Tensor",),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(ints(3, 5).float(), ints(5, seed=1).float())],
    ),
    Case(
        "logic",
        logic,
        (values(7, 5, dtype=torch.bool), values(5, dtype=torch.bool, seed=1)),
        LOGIC,
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5, dtype=torch.bool), values(5, dtype=torch.bool, seed=1))],
    ),
    Case("logic_one", logic, (values(1, dtype=torch.bool), values(3, 3, dtype=torch.bool)), LOGIC),
    Case(
        "where",
        torch.where,
        (values(7, 5, 3, dtype=torch.bool), values(5, 3), values(7, 1, 3)),
        ("aten.where.self",),
        dynamic_shapes=({0: N}, None, {0: N}),
        extra_inputs=[(values(3, 5, 3, dtype=torch.bool), values(5, 3), values(3, 1, 3))],
    ),
    Case(
        "where_scalar",
        lambda c, x: torch.where(c, x, -INF),
        (values(3, 8, dtype=torch.bool), values(3, 8)),
        ("aten.where.self",),
    ),
    Case(
        "where_half",
        torch.where,
        (values(3, 5, dtype=torch.bool), values(5, dtype=torch.float16), values(3, 1, dtype=torch.float16)),
        ("aten.where.self",),
    ),
    Case(
        "where_int",
        torch.where,
        (values(3, 5, dtype=torch.bool), ints(5), ints(3, 1)),
        ("aten.where.self",),
        supported=("aten.where.self",),
    ),
    Case(
        "cast",
        lambda x: (x.half(), x.int(), x > 0, x.int().float(), (x > 0).float()),
        (values(7, 5, low=-300, high=300),),
        ("dim_order_ops._to_dim_order_copy.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, low=-300, high=300),)],
    ),
    Case(
        "cast_special",
        lambda x: (x.half(), x.bool()),
        (torch.tensor([0.0, -0.0, INF, -INF, NAN, 65519.0, 65520.0, -7e4, 1e-8, 0.1]),),
        ("dim_order_ops._to_dim_order_copy.default",),
    ),
    Case(
        "cast_int",
        lambda x: (x.float(), x.bool(), x.half(), x.long()),
        (ints(5, 7, low=-999, high=999),),
        ("dim_order_ops._to_dim_order_copy.default",),
    ),
    Case(
        "cast_bool",
        lambda x: (x.float(), x.int(), x.half()),
        (values(5, 7, dtype=torch.bool),),
        ("dim_order_ops._to_dim_order_copy.default",),
    ),
    Case(
        "cast_half",
        lambda x: (x.float(), x.int()),
        (values(5, 7, low=-99, high=99, dtype=torch.float16),),
        ("dim_order_ops._to_dim_order_copy.default",),
    ),
    # A copy between two storage types that one operator writes and the next cannot read.
    Case(
        "clone",
        lambda x, w: torch.flip(x, [0]) @ w,
        (values(7, 5), values(5, 3)),
        ("aten.clone.default",),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 5), values(5, 3))],
    ),
    Case(
        "to_copy",
        lambda x: (x.half(), x.int(), x.half().float()),
        (values(7, 5, low=-300, high=300),),
        ("aten._to_copy.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, low=-300, high=300),)],
        dim_order=False,
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
