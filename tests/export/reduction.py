"""Golden cases of the reductions."""

from __future__ import annotations

import math

import torch
from framework import Case, Dim, long_values, values, write_family

N = Dim("n", max=7)
INF, NAN = math.inf, math.nan
SUMS = ("aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default")
ARGS = ("aten.argmax.default", "aten.argmin.default")
RUNTIME = ("aten.var.dim", "aten.any.dim")


def over(dim: int | list[int], keepdim: bool):
    """Every reduction that takes several dims."""
    return lambda x: (
        x.sum(dim, keepdim=keepdim),
        x.mean(dim, keepdim=keepdim),
        torch.amax(x, dim, keepdim=keepdim),
        torch.amin(x, dim, keepdim=keepdim),
    )


def arguments(dim: int, keepdim: bool):
    """Both positions of extremes."""
    return lambda x: (torch.argmax(x, dim, keepdim=keepdim), torch.argmin(x, dim, keepdim=keepdim))


SPECIAL = torch.tensor(
    [
        [1.0, NAN, 2.0, INF],
        [INF, -INF, 0.0, 1.0],
        [-INF, -INF, -INF, -INF],
        [3.0, 3.0, -1.0, -1.0],
        [NAN, NAN, 1.0, 0.0],
    ]
)

CASES = [
    Case(
        "rows",
        over(-1, False),
        (values(7, 5, 37),),
        SUMS,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, 37),), (values(1, 5, 37),)],
    ),
    Case(
        "rows_of_varying_length",
        over(-1, True),
        (values(3, 113),),
        SUMS,
        dynamic_shapes=({1: Dim("width", max=300)},),
        extra_inputs=[(values(3, 7),), (values(3, 300),)],
    ),
    Case(
        "columns",
        over(0, True),
        (values(7, 11, 3),),
        SUMS,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(2, 11, 3),)],
    ),
    Case("middle", over(1, True), (values(3, 41, 5),), SUMS),
    Case("two_last", over([-2, -1], True), (values(2, 3, 7, 11),), SUMS),
    Case("outer_and_inner", over([0, 2], True), (values(3, 5, 7),), SUMS),
    Case("three_dims", over([0, 2, 3], False), (values(3, 5, 2, 7),), SUMS, supported=SUMS),
    Case(
        "all_dims",
        lambda x: (x.sum([0, 1, 2]), torch.amax(x)),
        (values(3, 5, 7),),
        ("aten.sum.dim_IntList", "aten.amax.default"),
        supported=SUMS,
    ),
    Case("long_rows", over(-1, False), (long_values(40022).reshape(2, 20011).abs(),), SUMS, rtol=2e-6),
    Case("half", over(-1, True), (values(5, 37, dtype=torch.float16),), SUMS),
    Case("half_columns", over(0, True), (values(37, 5, dtype=torch.float16),), SUMS),
    Case("forced_half", over(-1, False), (values(5, 37),), SUMS, force_fp16=True, atol=2e-2),
    Case(
        "special",
        lambda x: (torch.amax(x, 1), torch.amin(x, 1), x.sum(1)),
        (SPECIAL,),
        ("aten.amax.default", "aten.amin.default", "aten.sum.dim_IntList"),
    ),
    Case(
        "special_columns",
        lambda x: (torch.amax(x, 0, True), torch.amin(x, 0, True)),
        (SPECIAL.T.contiguous(),),
        ("aten.amax.default", "aten.amin.default"),
    ),
    Case(
        "argument_rows",
        arguments(-1, False),
        (values(7, 5, 37),),
        ARGS,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, 37),)],
    ),
    Case(
        "argument_columns",
        arguments(0, True),
        (values(7, 11),),
        ARGS,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(2, 11),)],
    ),
    Case("argument_ties", arguments(-1, True), (values(5, 113, dtype=torch.int32).float(),), ARGS),
    Case("argument_special", arguments(-1, False), (SPECIAL,), ARGS),
    Case("argument_half", arguments(-1, True), (values(3, 37, dtype=torch.float16),), ARGS),
    Case("argument_int64_out", arguments(-1, True), (values(3, 37),), ARGS, options={"downcast_64_bit": False}),
    Case("argument_all", lambda x: torch.argmax(x), (values(3, 5, 7),), ("aten.argmax.default",), supported=ARGS),
    Case(
        "runtime",
        lambda x: (torch.var(x, 1), torch.var(x, 1, unbiased=False, keepdim=True), torch.any(x > 1.9, 1)),
        (values(7, 37),),
        RUNTIME,
        supported=RUNTIME,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 37),)],
    ),
    Case(
        "variance_far_from_zero",
        lambda x: torch.var(x, 0),
        (values(41, 3, low=1000, high=1001),),
        ("aten.var.dim",),
        supported=RUNTIME,
        rtol=1e-4,
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
