"""Fourier transforms and distances."""

from __future__ import annotations

import math

from reference_cases.case import for_each, some

X = some(3, 5, 8)
Z = some(3, 5, 5, dtype="complex64")
OPTIONS = {"rtol": 1e-5, "atol": 2e-5}

CASES = [
    *for_each(
        ["aten::_fft_r2c.out"],
        [X, [2], 0, True],
        [X, [2], 0, False],
        [X, [1], 1, True],
        [X, [0, 2], 2, True],
        [X, [2], 2, False],
        [X, [1, 2], 0, False],
        **OPTIONS,
    ),
    *for_each(["aten::_fft_c2r.out"], [Z, [2], 0, 8], [Z, [2], 2, 9], [Z, [1], 1, 8], [Z, [0, 2], 2, 8], **OPTIONS),
    *for_each(
        ["aten::_cdist_forward.out"],
        *([some(5, 3), some(7, 3, seed=1), p, None] for p in (0.0, 1.0, 2.0, 3.5, math.inf)),
        [some(2, 5, 3), some(7, 3, seed=1), 2.0, 2],
        [some(5, 0), some(7, 0), 2.0, None],
        [some(5, 3), some(5, 3), 2.0, 2],
        **OPTIONS,
    ),
    *for_each(
        ["aten::_pdist_forward.out"],
        *([some(7, 3), p] for p in (0.0, 1.0, 2.0, 3.5, math.inf)),
        [some(1, 3), 2.0],
        [some(7, 3)],
        **OPTIONS,
    ),
]
