"""Golden cases of the convolutions."""

from __future__ import annotations

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401
import torch
from framework import Case, Dim, values, write_family
from torch import nn

PLAIN = ("aten.convolution.default",)
CLAMPED = ("et_vk.conv_with_clamp.default",)


class Layers(nn.Module):
    """Layers that all take the same input; the results are listed."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        return [layer(x) for layer in self.layers]


def conv(*args, **options) -> nn.Conv2d:
    """Return a two-dimensional layer with seeded weights."""
    return _seeded(nn.Conv2d(*args, **options))


def _seeded(layer):
    for number, parameter in enumerate(layer.parameters()):
        parameter.data = values(*parameter.shape, low=-0.3, high=0.3, seed=number)
    return layer.eval()


def clamped(x, weight, bias, low, high):
    """The delegate's own operator, called directly."""
    return torch.ops.et_vk.conv_with_clamp(x, weight, bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, low, high)


class Clamped(nn.Module):
    """Bounds that no activation has."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(values(11, 5, 3, 3))
        self.bias = nn.Parameter(values(11))

    def forward(self, x):
        return clamped(x, self.weight, self.bias, -1.5, 2.5)


CASES = [
    Case(
        "pointwise",
        Layers(conv(16, 37, 1), conv(16, 8, 1, bias=False), conv(16, 12, 1, stride=2)),
        (values(1, 16, 9, 7),),
        PLAIN,
    ),
    Case(
        "general",
        Layers(
            conv(3, 17, 3, padding=1),
            conv(3, 9, (5, 2), stride=(2, 1), padding=(2, 0)),
            conv(3, 24, 7, stride=2, padding=3),
            conv(3, 8, 3, dilation=(2, 3), padding=2),
        ),
        (values(1, 3, 17, 13),),
        PLAIN,
        atol=2e-5,
    ),
    Case(
        "grouped",
        Layers(conv(12, 24, 3, groups=2, padding=1), conv(12, 6, 3, groups=3), conv(12, 36, 1, groups=4)),
        (values(1, 12, 11, 8),),
        PLAIN,
    ),
    Case(
        "depthwise",
        Layers(
            conv(7, 7, 3, groups=7, padding=1),
            conv(7, 7, 5, groups=7, padding=2, stride=2, bias=False),
            conv(7, 14, 3, groups=7, dilation=2),
        ),
        (values(1, 7, 13, 16),),
        PLAIN,
    ),
    Case("one_pixel", Layers(conv(37, 29, 1)), (values(1, 37, 1, 1),), PLAIN),
    Case("one_channel", Layers(conv(1, 11, 3, padding=1), conv(1, 5, 4, stride=4)), (values(1, 1, 16, 16),), PLAIN),
    Case(
        "transposed",
        Layers(
            _seeded(nn.ConvTranspose2d(6, 5, 3, stride=2, padding=1, output_padding=1)),
            _seeded(nn.ConvTranspose2d(6, 8, (2, 3), stride=(1, 3), groups=2)),
            _seeded(nn.ConvTranspose2d(6, 4, 2, stride=2, bias=False)),
        ),
        (values(1, 6, 7, 5),),
        PLAIN,
    ),
    Case(
        "sequence",
        Layers(
            _seeded(nn.Conv1d(12, 24, 5, padding=2)),
            _seeded(nn.Conv1d(12, 18, 1)),
            _seeded(nn.Conv1d(12, 12, 3, groups=12, dilation=2)),
            _seeded(nn.Conv1d(12, 10, 4, stride=3, groups=2, bias=False)),
        ),
        (values(2, 12, 37),),
        PLAIN,
        atol=2e-5,
    ),
    Case(
        "sequence_dynamic",
        Layers(_seeded(nn.Conv1d(4, 8, 1)), _seeded(nn.Conv1d(4, 4, 3, groups=4, padding=1))),
        (values(1, 4, 37),),
        PLAIN,
        dynamic_shapes=({2: Dim("length", min=3, max=37)},),
        extra_inputs=[(values(1, 4, 12),), (values(1, 4, 3),)],
    ),
    Case(
        "image_dynamic",
        Layers(conv(3, 8, 3, padding=1), conv(3, 8, 1)),
        (values(1, 3, 13, 11),),
        PLAIN,
        dynamic_shapes=({2: Dim("height", min=3, max=13)},),
        extra_inputs=[(values(1, 3, 7, 11),), (values(1, 3, 3, 11),)],
    ),
    Case(
        "relu",
        Layers(nn.Sequential(conv(5, 12, 3), nn.ReLU()), nn.Sequential(conv(5, 11, 1), nn.ReLU6())),
        (values(1, 5, 9, 10, low=-20, high=20),),
        CLAMPED,
    ),
    Case(
        "relu_depthwise",
        nn.Sequential(conv(5, 5, 3, groups=5), nn.ReLU6(), conv(5, 9, 1), nn.ReLU()),
        (values(1, 5, 9, 10, low=-20, high=20),),
        CLAMPED,
    ),
    Case(
        "relu_dynamic",
        nn.Sequential(conv(5, 9, 3, padding=1), nn.ReLU()),
        (values(1, 5, 11, 6),),
        CLAMPED,
        dynamic_shapes=({2: Dim("height", min=3, max=11)},),
        extra_inputs=[(values(1, 5, 4, 6),)],
    ),
    Case("clamp", Clamped, (values(1, 5, 7, 6),), CLAMPED),
    Case(
        "half",
        Layers(conv(6, 9, 3, padding=1), conv(6, 12, 1), conv(6, 6, 3, groups=6)),
        (values(1, 6, 9, 7),),
        PLAIN,
        force_fp16=True,
        atol=4e-3,
    ),
    Case(
        "half_relu",
        nn.Sequential(conv(6, 8, 3, padding=1), nn.ReLU(), conv(8, 5, 1), nn.ReLU6()),
        (values(1, 6, 9, 7),),
        CLAMPED,
        force_fp16=True,
        atol=4e-3,
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
