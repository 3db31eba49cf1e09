"""Golden cases of upsampling, grid sampling and anchor points."""

from __future__ import annotations

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401
import torch
from framework import Case, Dim, values, write_family
from torch.nn import functional

NEAREST = ("aten.upsample_nearest2d.vec",)
BILINEAR = ("aten.upsample_bilinear2d.vec",)
GRID = ("aten.grid_sampler_2d.default",)


def resize(mode: str, aligned: bool | None = None):
    """Every way to give the new size."""

    def function(x):
        return (
            functional.interpolate(x, (14, 22), mode=mode, align_corners=aligned),
            functional.interpolate(x, (5, 17), mode=mode, align_corners=aligned),
            functional.interpolate(x, scale_factor=2.0, mode=mode, align_corners=aligned),
            functional.interpolate(x, scale_factor=(1.7, 0.6), mode=mode, align_corners=aligned),
        )

    return function


def warp(x, grid):
    """The one form of grid sampling that is delegated."""
    return functional.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=True)


CASES = [
    Case("nearest", resize("nearest"), (values(1, 3, 7, 11),), NEAREST),
    Case("bilinear", resize("bilinear", False), (values(1, 3, 7, 11),), BILINEAR),
    Case("bilinear_aligned", resize("bilinear", True), (values(1, 3, 7, 11),), BILINEAR),
    Case(
        "resize_dynamic",
        lambda x: (
            functional.interpolate(x, scale_factor=2.0, mode="nearest"),
            functional.interpolate(x, scale_factor=2.0, mode="bilinear"),
            torch.ops.et_vk.grid_priors(x, 8, 0.5),
        ),
        (values(1, 3, 7, 11),),
        (*NEAREST, *BILINEAR, "et_vk.grid_priors.default"),
        dynamic_shapes=({2: Dim("rows", min=2, max=7)},),
        extra_inputs=[(values(1, 3, 4, 11),), (values(1, 3, 2, 11),)],
    ),
    Case("nearest_half", resize("nearest"), (values(1, 3, 7, 11, dtype=torch.float16),), NEAREST),
    Case("bilinear_half", resize("bilinear", False), (values(1, 3, 7, 11, dtype=torch.float16),), BILINEAR),
    Case("grid", warp, (values(2, 3, 7, 11), values(2, 5, 13, 2, low=-1.3, high=1.3)), GRID),
    Case(
        "grid_half",
        warp,
        (values(1, 3, 7, 11, dtype=torch.float16), values(1, 5, 6, 2, low=-1.3, high=1.3, dtype=torch.float16)),
        GRID,
        atol=2e-2,
    ),
    Case(
        "grid_dynamic",
        warp,
        (values(1, 3, 7, 11), values(1, 9, 5, 2, low=-1.3, high=1.3)),
        GRID,
        dynamic_shapes=(None, {1: Dim("height", min=2, max=9)}),
        extra_inputs=[
            (values(1, 3, 7, 11), values(1, 4, 5, 2, low=-1.3, high=1.3)),
            (values(1, 3, 7, 11), values(1, 2, 5, 2, low=-1.3, high=1.3)),
        ],
    ),
    Case(
        "priors",
        lambda x: (torch.ops.et_vk.grid_priors(x, 8, 0.5), torch.ops.et_vk.grid_priors(x, 16, 0.0)),
        (values(1, 3, 7, 11),),
        ("et_vk.grid_priors.default",),
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
