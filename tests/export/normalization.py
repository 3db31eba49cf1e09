"""Golden cases of softmax and the norms."""

from __future__ import annotations

import math

import torch
from framework import Case, Dim, long_values, values, write_family
from torch import nn
from torch.nn import functional as F

N = Dim("n", max=7)
INF, NAN = math.inf, math.nan
BOTH = ("aten._softmax.default", "aten._log_softmax.default")
LAYER, GROUP = "aten.native_layer_norm.default", "aten.native_group_norm.default"
BATCH = "aten._native_batch_norm_legit_no_training.default"


def both(dim: int):
    """Softmax and its logarithm."""
    return lambda x: (x.softmax(dim), x.log_softmax(dim))


def layer_norm(*shape: int, affine: bool = True):
    """Layer norm with seeded parameters over the last dims."""
    weight, bias = (
        (long_values(math.prod(shape), seed=seed).reshape(shape) for seed in (1, 2)) if affine else (None, None)
    )

    class Norm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(weight) if weight is not None else None
            self.bias = nn.Parameter(bias) if bias is not None else None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.layer_norm(x, shape, self.weight, self.bias, 1e-5)

    return Norm().eval()


def group_norm(groups: int, channels: int, affine: bool = True) -> nn.Module:
    """Group norm with seeded parameters."""
    norm = nn.GroupNorm(groups, channels, affine=affine).eval()
    if affine:
        norm.weight.data, norm.bias.data = values(channels, low=0.5, high=1.5), values(channels)
    return norm


def batch_norm(channels: int, kind: type[nn.Module] = nn.BatchNorm2d, affine: bool = True) -> nn.Module:
    """Batch norm with seeded parameters and statistics."""
    norm = kind(channels, affine=affine).eval()
    norm.running_mean.copy_(values(channels, seed=1))
    norm.running_var.copy_(values(channels, low=0.1, high=3))
    if affine:
        norm.weight.data, norm.bias.data = values(channels, low=0.5, high=1.5), values(channels)
    return norm


class AllOutputs(nn.Module):
    """Layer norm with its statistics."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.native_layer_norm(x, [x.shape[-1]], None, None, 1e-5)


SPECIAL = torch.tensor([[1.0, NAN, 2.0], [INF, 1.0, 0.0], [-INF, -INF, -INF], [-INF, 1.0, 2.0], [1e30, -1e30, 0.0]])

CASES = [
    Case(
        "softmax",
        both(-1),
        (values(7, 5, 37, low=-9, high=9),),
        BOTH,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, 37),)],
    ),
    Case(
        "softmax_varying",
        both(-1),
        (values(3, 41),),
        BOTH,
        dynamic_shapes=({1: Dim("width", max=300)},),
        extra_inputs=[(values(3, 300),), (values(3, 5),)],
    ),
    Case("softmax_first", both(0), (values(7, 11),), BOTH, dynamic_shapes=({0: N},), extra_inputs=[(values(2, 11),)]),
    Case("softmax_channels", both(1), (values(2, 5, 3, 7),), BOTH),
    Case("softmax_short", both(-1), (values(13, 3),), BOTH),
    Case("softmax_long", both(-1), (long_values(20011).reshape(1, -1),), BOTH),
    Case("softmax_half", both(-1), (values(3, 40, dtype=torch.float16),), BOTH),
    Case("softmax_half_odd", both(-1), (values(3, 37, dtype=torch.float16),), BOTH),
    Case("softmax_forced_half", both(1), (values(3, 37, 2),), BOTH, force_fp16=True, atol=5e-3),
    Case("softmax_special", both(-1), (SPECIAL,), BOTH),
    Case("softmax_special_row", both(-1), (torch.cat([SPECIAL, values(5, 40)], 1),), BOTH),
    Case(
        "layer_norm",
        layer_norm(37),
        (values(7, 5, 37),),
        (LAYER,),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, 37),)],
    ),
    Case("layer_norm_short", layer_norm(5), (values(7, 5),), (LAYER,)),
    Case("layer_norm_two_dims", layer_norm(3, 7, affine=False), (values(5, 3, 7),), (LAYER,)),
    Case("layer_norm_long", layer_norm(16411), (long_values(16411).reshape(1, -1),), (LAYER,)),
    Case("layer_norm_offset", layer_norm(40, affine=False), (values(3, 40, low=1000, high=1001),), (LAYER,), atol=5e-3),
    Case("layer_norm_half", layer_norm(40).half(), (values(3, 40, dtype=torch.float16),), (LAYER,), atol=5e-3),
    Case("layer_norm_forced_half", layer_norm(37), (values(3, 37),), (LAYER,), force_fp16=True, atol=1e-2),
    Case("layer_norm_outputs", AllOutputs, (values(5, 37),), (LAYER,)),
    Case("group_norm", group_norm(3, 6), (values(2, 6, 5, 7),), (GROUP,)),
    Case(
        "group_norm_varying",
        group_norm(2, 4),
        (values(7, 4, 5, 3),),
        (GROUP,),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(2, 4, 5, 3),)],
    ),
    Case("group_norm_plain", group_norm(6, 6, affine=False), (values(1, 6, 3, 3),), (GROUP,)),
    Case("group_norm_half", group_norm(2, 4).half(), (values(1, 4, 5, 3, dtype=torch.float16),), (GROUP,), atol=5e-3),
    Case("group_norm_forced_half", group_norm(2, 4), (values(1, 4, 6, 6),), (GROUP,), force_fp16=True, atol=1e-2),
    Case(
        "batch_norm",
        batch_norm(5),
        (values(7, 5, 3, 11),),
        (BATCH,),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(2, 5, 3, 11),)],
    ),
    Case("batch_norm_plain", batch_norm(5, affine=False), (values(1, 5, 3, 2),), (BATCH,)),
    Case("batch_norm_1d", batch_norm(5, nn.BatchNorm1d), (values(3, 5, 7),), (BATCH,)),
    Case("batch_norm_half", batch_norm(5).half(), (values(1, 5, 3, 7, dtype=torch.float16),), (BATCH,), atol=5e-3),
    Case("batch_norm_forced_half", batch_norm(5), (values(1, 5, 3, 7),), (BATCH,), force_fp16=True, atol=1e-2),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
