"""Golden cases of layers with quantized weights and of operators on int8 values."""

from __future__ import annotations

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401
import torch
import torchao  # noqa: F401
from executorch.exir.passes import _quant_patterns_and_replacements  # noqa: F401
from framework import Case, Dim, values, write_family
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401
from torch.nn import functional as F

et_vk, qd, ao = torch.ops.et_vk, torch.ops.quantized_decomposed, torch.ops.torchao
INT8, UINT8, INT32 = torch.int8, torch.uint8, torch.int32
M = Dim("m", min=2, max=13)
VK = "et_vk."
Q4, DQ8, CHOOSE = (
    f"{VK}linear_q4gsw.default",
    f"{VK}linear_dq8ca_q4gsw.default",
    "torchao.choose_qparams_affine.default",
)
EMBED, EMBED4 = f"{VK}embedding_q4gsw.default", "quantized_decomposed.embedding_4bit.dtype"


def codes(*shape: int) -> torch.Tensor:
    """Packed 4-bit weights."""
    return values(*shape, dtype=UINT8, low=0, high=256)


def bytes8(*shape: int, seed: int = 0, low: int = -127) -> torch.Tensor:
    """int8 values."""
    return values(*shape, dtype=INT8, low=low, high=-low, seed=seed)


def scales(*shape: int) -> torch.Tensor:
    """Positive scales."""
    return values(*shape, low=0.01, high=0.05)


class Layer(nn.Module):
    """A call of one operator: x, numbers, constant weights, then the rest."""

    def __init__(self, operator, weights: tuple[torch.Tensor, ...], *rest, before: tuple = ()) -> None:
        super().__init__()
        self.operator, self.rest, self.before = operator, rest, before
        self.names = [f"w{i}" for i in range(len(weights))]
        for name, weight in zip(self.names, weights, strict=True):
            self.register_buffer(name, weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.operator(x, *self.before, *(getattr(self, name) for name in self.names), *self.rest)


class Biased(nn.Module):
    """linear_q4gsw with a constant bias."""

    def __init__(self, rows: int, columns: int, group: int) -> None:
        super().__init__()
        self.register_buffer("weight", codes(rows, columns // 2))
        self.register_buffer("scale", scales(columns // group, rows))
        self.register_buffer("bias", values(rows))
        self.group = group

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return et_vk.linear_q4gsw(x, self.weight, self.scale, self.group, self.bias)


def q4gsw(rows: int, columns: int, group: int) -> Layer:
    """linear_q4gsw with seeded weights."""
    return Layer(et_vk.linear_q4gsw, (codes(rows, columns // 2), scales(columns // group, rows)), group)


class Channels4(nn.Module):
    """A linear layer with 4-bit weights of a scale a row."""

    def __init__(self, outputs: int, columns: int) -> None:
        super().__init__()
        self.register_buffer("weight", bytes8(outputs, columns, low=-8))
        self.register_buffer("scale", scales(outputs))
        self.register_buffer("zero", torch.zeros(outputs, dtype=INT32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, qd.dequantize_per_channel(self.weight, self.scale, self.zero, 0, -8, 7, INT8))


class Dynamic8(nn.Module):
    """int8 activations of a scale a row and 4-bit weights: 8da4w."""

    def __init__(self, outputs: int, columns: int, group: int, bias: bool) -> None:
        super().__init__()
        self.register_buffer("weight", bytes8(outputs, columns, low=-8))
        self.register_buffer("scale", scales(outputs, columns // group))
        self.register_buffer("zero", torch.zeros(outputs, columns // group, dtype=INT8))
        self.bias = nn.Parameter(values(outputs)) if bias else None
        self.group = group

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        block = [1] * (x.dim() - 1) + [x.shape[-1]]
        scale, zero = ao.choose_qparams_affine(x, "ASYMMETRIC", block, INT8, -128, 127, None, None, INT8, False)
        y = ao.quantize_affine(x, block, scale, zero, INT8, -128, 127)
        y = ao.dequantize_affine(y, block, scale, zero, INT8, -128, 127)
        return F.linear(
            y, ao.dequantize_affine(self.weight, [1, self.group], self.scale, self.zero, INT8, -8, 7), self.bias
        )


class Static8(nn.Module):
    """A layer on int8 activations of a fixed scale; ``apply`` gets x, the weight and the bias in float."""

    def __init__(self, weight: torch.Tensor, apply, axis: int = 0, relu: bool = False, requantize: bool = True) -> None:
        super().__init__()
        outputs = weight.shape[axis]
        self.register_buffer("weight", weight)
        self.register_buffer("scale", scales(outputs) / 4)
        self.register_buffer("zero", torch.zeros(outputs, dtype=INT32))
        self.bias = nn.Parameter(values(outputs))
        self.call, self.axis, self.relu, self.requantize = apply, axis, relu, requantize

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = qd.dequantize_per_tensor(qd.quantize_per_tensor(x, 0.02, 5, -128, 127, INT8), 0.02, 5, -128, 127, INT8)
        weight = qd.dequantize_per_channel(self.weight, self.scale, self.zero, self.axis, -127, 127, INT8)
        x = self.call(x, weight, self.bias)
        if self.relu:
            x = x.relu()
        if not self.requantize:
            return x
        return qd.dequantize_per_tensor(qd.quantize_per_tensor(x, 0.1, -3, -128, 127, INT8), 0.1, -3, -128, 127, INT8)


def conv(name: str, operator: str, module: Static8, *shape: int, dynamic: bool = True) -> Case:
    """A convolution whose height varies; one step of the output's scale may differ."""
    size = Dim("h", min=3, max=shape[2])
    return Case(
        name,
        module,
        (values(*shape),),
        operators=(f"{VK}{operator}.default",),
        dynamic_shapes=({2: size},) if dynamic else None,
        extra_inputs=[(values(shape[0], shape[1], n, shape[3]),) for n in (5, 3)] if dynamic else [],
        atol=0.101,
    )


def rows(name: str, module: nn.Module, columns: int, *operators: str, force: bool = False, **more) -> Case:
    """A layer whose number of rows varies."""
    return Case(
        name,
        module,
        (values(1, 13, columns),),
        operators=operators,
        dynamic_shapes=({1: M},),
        extra_inputs=[(values(1, n, columns),) for n in (5, 2)],
        supported=operators if force else (),
        **more,
    )


def linear(x, weight, bias):
    """A linear layer."""
    return F.linear(x, weight, bias)


def elementwise(x, y):
    """The three elementwise operators on int8."""
    return (
        et_vk.q8ta_add(x, y, 0.03, 2, 0.04, -3, 0.05, 7, 2.0),
        et_vk.q8ta_relu(x, 0.03, 2, 0.02, -5),
        et_vk.q8ta_pixel_shuffle(x, 0.03, 2, 25.0, -5, 2),
    )


TOKENS = torch.tensor([0, 10, 4, 7, 7, 1, 3, 2, 10, 0, 9, 8, 5], dtype=INT32)
TABLE = (codes(11, 24), scales(11, 3))
HEIGHT = Dim("h", min=2, max=7)
CASES = [
    Case("q4gsw_matvec", Biased(45, 96, 32), (values(1, 96),), operators=(Q4,), supported=(Q4,)),
    rows("q4gsw", q4gsw(28, 64, 32), 64, Q4, force=True),
    Case("q4gsw_tile", q4gsw(70, 96, 32), (values(37, 96),), operators=(Q4,), supported=(Q4,)),
    Case("q4gsw_small_groups", q4gsw(11, 48, 8), (values(3, 48),), operators=(Q4,), supported=(Q4,)),
    Case("q4gsw_half", Biased(12, 64, 32), (values(3, 64),), (Q4,), force_fp16=True, supported=(Q4,), atol=1e-2),
    rows("linear_qcs4w", Channels4(20, 64), 64, f"{VK}linear_qcs4w.default"),
    Case("8da4w_one_row", Dynamic8(24, 64, 32, bias=True), (values(1, 64),), operators=(CHOOSE, DQ8), atol=1e-4),
    rows("8da4w", Dynamic8(20, 64, 32, bias=False), 64, CHOOSE, DQ8, atol=1e-4),
    Case(
        "embedding",
        lambda t, w, s: (et_vk.embedding_q4gsw(w, s, 8, t, True), et_vk.embedding_q4gsw(w, s, 8, t, False)),
        (TOKENS, codes(11, 12), scales(11, 3)),
        operators=(EMBED,),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(TOKENS[:n], codes(11, 12), scales(11, 3)) for n in (5, 2)],
    ),
    Case(
        "embedding_4bit",
        lambda t, w, s: qd.embedding_4bit.dtype(w, s, None, -8, 7, t, dtype=torch.float32),
        (TOKENS, *TABLE),
        operators=(EMBED4,),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(TOKENS[:n], *TABLE) for n in (5, 2)],
        supported=(EMBED4,),
    ),
    rows(
        "int8pack_mm",
        Layer(
            lambda x, w, s: torch.ops.aten._weight_int8pack_mm(x.reshape(-1, 44), w, s), (bytes8(21, 44), scales(21))
        ),
        44,
        "aten._weight_int8pack_mm.default",
        force=True,
        atol=1e-4,
    ),
    rows("q8ta_linear", Static8(bytes8(12, 44), linear, relu=True), 44, f"{VK}q8ta_linear.default", atol=0.101),
    Case(
        "q8ta_linear_gemv",
        Static8(bytes8(10, 92), linear),
        (values(1, 92),),
        operators=(f"{VK}q8ta_linear_gemv.default",),
        atol=0.101,
    ),
    rows(
        "linear_q8ta_q8csw",
        Static8(bytes8(12, 44), linear, requantize=False),
        44,
        f"{VK}linear_q8ta_q8csw.default",
        atol=1e-4,
    ),
    conv(
        "q8ta_conv2d",
        "q8ta_conv2d",
        Static8(bytes8(6, 3, 3, 2), lambda x, w, b: F.conv2d(x, w, b, [2, 1], [1, 0])),
        1,
        3,
        7,
        5,
    ),
    conv(
        "q8ta_conv2d_groups",
        "q8ta_conv2d",
        Static8(bytes8(8, 4, 3, 3), lambda x, w, b: F.conv2d(x, w, b, 1, 2, 2, 2), relu=True),
        1,
        8,
        7,
        5,
    ),
    conv(
        "q8ta_conv2d_pw", "q8ta_conv2d_pw", Static8(bytes8(12, 8, 1, 1), lambda x, w, b: F.conv2d(x, w, b)), 1, 8, 5, 7
    ),
    conv(
        "q8ta_conv2d_dw",
        "q8ta_conv2d_dw",
        Static8(bytes8(8, 1, 3, 3), lambda x, w, b: F.conv2d(x, w, b, 1, 1, 1, 8), relu=True),
        1,
        8,
        7,
        5,
    ),
    conv(
        "q8ta_conv2d_transposed",
        "q8ta_conv2d_transposed",
        Static8(bytes8(4, 6, 3, 3), lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1), axis=1),
        1,
        4,
        5,
        4,
    ),
    Case(
        "q8ta_elementwise",
        elementwise,
        (bytes8(1, 8, 7, 5), bytes8(1, 8, 7, 5, seed=1)),
        operators=tuple(f"{VK}q8ta_{name}.default" for name in ("add", "relu", "pixel_shuffle")),
        dynamic_shapes=({2: HEIGHT}, {2: HEIGHT}),
        extra_inputs=[(bytes8(1, 8, n, 5), bytes8(1, 8, n, 5, seed=1)) for n in (3, 2)],
        supported=tuple(f"{VK}q8ta_{name}.default" for name in ("add", "relu", "pixel_shuffle")),
        atol_int=1,
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
