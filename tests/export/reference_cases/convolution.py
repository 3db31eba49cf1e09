"""Convolutions: one to three spatial dims, groups, depthwise, dilated, transposed, and their gradients."""

from __future__ import annotations

from reference_cases.case import Case, some

OPTIONS = {"rtol": 1e-5, "atol": 2e-5}


def plain(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    rank = len(x) - 2
    lists = [v if isinstance(v, list) else [v] * rank for v in (stride, padding, dilation)]
    return Case("aten::convolution.out", some(*x), some(*weight), bias, *lists, False, [0] * rank, groups, **OPTIONS)


def turned(x, weight, bias=None, stride=1, padding=0, dilation=1, extra=0, groups=1):
    rank = len(x) - 2
    lists = [v if isinstance(v, list) else [v] * rank for v in (stride, padding, dilation)]
    extras = extra if isinstance(extra, list) else [extra] * rank
    return Case("aten::convolution.out", some(*x), some(*weight), bias, *lists, True, extras, groups, **OPTIONS)


def backward(case, grad, mask, bias_sizes):
    x, weight, _, stride, padding, dilation, transposed, extra, groups = case.args
    return Case(
        "aten::convolution_backward.out",
        some(*grad),
        x,
        weight,
        bias_sizes,
        stride,
        padding,
        dilation,
        transposed,
        extra,
        groups,
        mask,
        rtol=1e-5,
        atol=5e-5,
    )


HALF = [some(1, 3, 7, 5, dtype="float16"), some(2, 3, 3, 3, dtype="float16"), some(2, dtype="float16")]
PAIR = plain((2, 3, 7, 5), (4, 3, 3, 3), None, [2, 1], [1, 0])
GROUPED = plain((1, 4, 7, 7), (6, 2, 3, 3), None, 1, 1, 2, groups=2)
TURNED = turned((2, 4, 3, 5), (4, 3, 3, 3), None, 2, 1, 1, 1)

CASES = [
    plain((2, 3, 11), (5, 3, 3), some(5), 2, 1),
    plain((1, 4, 13), (6, 2, 3), None, 1, 2, 2, groups=2),
    plain((1, 3, 7, 5), (2, 3, 3, 3), some(2), 1, 1),
    plain((2, 3, 11, 7), (5, 3, 1, 1), some(5)),
    plain((2, 3, 11, 7), (5, 3, 1, 1), None, 2),
    plain((1, 4, 11, 7), (4, 1, 3, 3), some(4), [2, 1], [1, 2], groups=4),
    plain((2, 3, 7, 7), (6, 1, 3, 5), some(6), 1, [0, 2], groups=3),
    plain((1, 4, 11, 7), (4, 1, 3, 3), None, 1, 2, 2, groups=4),
    plain((1, 6, 7, 5), (9, 2, 3, 3), some(9), 1, [1, 1], groups=3),
    plain((1, 3, 13, 11), (2, 3, 3, 2), None, [2, 3], [2, 1], [3, 2]),
    plain((1, 2, 5, 6, 7), (3, 2, 2, 3, 3), some(3), [1, 2, 1], [0, 1, 1]),
    plain((0, 3, 5, 5), (2, 3, 3, 3), some(2)),
    Case("aten::convolution.out", some(1, 3, 7, 5), some(2, 3, 3, 3), None, [2], [1], [1], False, [0], 1, **OPTIONS),
    Case("aten::convolution.out", *HALF, [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
    turned((2, 3, 7), (3, 4, 3), some(4), 2, 1, 1, 1),
    turned((1, 4, 7), (4, 3, 5), None, 3, 0, 2, groups=2),
    turned((1, 3, 5, 4), (3, 2, 3, 3), some(2), 2, 1, 1, 1),
    turned((1, 4, 5, 4), (4, 1, 2, 2), some(4), 2, 0, 1, groups=4),
    turned((2, 4, 3, 3), (4, 3, 3, 2), some(6), [1, 2], [0, 1], [2, 1], [0, 1], groups=2),
    turned((1, 2, 3, 2, 4), (2, 3, 2, 3, 2), some(3), [2, 1, 2], [1, 0, 1]),
    turned((1, 3, 5, 5), (3, 2, 1, 1), None, 2, 0, 1, 1),
    PAIR,
    GROUPED,
    TURNED,
    backward(PAIR, (2, 4, 4, 3), [True, True, True], [4]),
    backward(GROUPED, (1, 6, 5, 5), [True, True, True], [6]),
    backward(TURNED, (2, 3, 6, 10), [True, True, True], [3]),
    backward(plain((1, 4, 7, 7), (4, 1, 3, 3), None, 1, 1, groups=4), (1, 4, 7, 7), [True, True, False], None),
    backward(plain((2, 3, 11), (5, 3, 3), None, 2, 1), (2, 5, 6), [True, True, True], [5]),
    backward(turned((1, 3, 5), (3, 2, 3), None, 2, 0, 3, 2), (1, 2, 17), [True, True, True], [2]),
]
