"""Changing the size of images and sampling them at points."""

from __future__ import annotations

from reference_cases.case import for_each, some, tensor

X = some(2, 3, 7, 5)
SIZES = [[14, 10], [3, 2], [1, 1], [11, 13], [7, 5], [8, 3]]
GRID = some(2, 4, 6, 2, low=-1.6, high=1.6)
CORNERS = tensor([[[[-1.0, -1.0], [1.0, 1.0], [0.0, 0.0]], [[-1.0, 1.0], [3.0, -5.0], [0.25, -0.75]]]])

CASES = [
    *for_each(["aten::upsample_nearest2d.vec_out"], *([X, size, None] for size in SIZES)),
    *for_each(
        ["aten::upsample_nearest2d.vec_out"],
        *([X, None, scales] for scales in ([2.0, 2.0], [1.5, 0.7], [0.4, 3.3], [1.0, 1.0])),
        [some(1, 2, 3, 3, dtype="uint8", high=200), None, [2.0, 3.0]],
        [some(1, 2, 3, 3, dtype="float16"), [7, 7], None],
    ),
    *for_each(["aten::upsample_nearest2d.vec_out"], [X, None, [1.1, 2.1]], [some(1, 1, 5, 5), None, [3.4, 1.1]]),
    *for_each(
        ["aten::upsample_bilinear2d.vec_out"], [X, None, False, [1.1, 2.1]], [X, None, True, [1.1, 2.1]], atol=1e-5
    ),
    *for_each(["aten::upsample_nearest2d.out"], [X, [14, 10]], [X, [9, 11], 1.4, 2.3]),
    *for_each(
        ["aten::upsample_bilinear2d.vec_out"],
        *([X, size, corners, None] for size in SIZES for corners in (False, True)),
        *([X, None, corners, scales] for scales in ([2.0, 2.0], [1.5, 0.7], [0.4, 3.3]) for corners in (False, True)),
        [some(1, 2, 3, 3, dtype="float16"), [7, 7], False, None],
        atol=1e-5,
    ),
    *for_each(
        ["aten::upsample_bilinear2d.out"],
        [X, [14, 10], False],
        [X, [9, 11], False, 1.4, 2.3],
        [X, [9, 11], True],
        atol=1e-5,
    ),
    *for_each(
        ["aten::_upsample_bilinear2d_aa.out"],
        *([X, size, corners] for size in SIZES for corners in (False, True)),
        [X, [3, 4], False, 0.4, 0.9],
        [some(1, 1, 31, 29), [7, 3], False],
        atol=1e-5,
    ),
    *for_each(
        ["aten::grid_sampler_2d.out"],
        *(
            [X, GRID, mode, padding, corners]
            for mode in (0, 1, 2)
            for padding in (0, 1, 2)
            for corners in (False, True)
        ),
        *(
            [some(1, 2, 5, 4), CORNERS, mode, padding, corners]
            for mode in (0, 2)
            for padding in (0, 1, 2)
            for corners in (False, True)
        ),
        [some(1, 2, 1, 1), CORNERS, 0, 2, True],
        atol=2e-5,
    ),
]
