"""Golden cases of quantize, dequantize and the choice of scales and zero points."""

from __future__ import annotations

import math

import torch
import torchao  # noqa: F401
from framework import Case, Dim, values, write_family
from torch.ao.quantization.fx import _decomposed  # noqa: F401

qd, ao = torch.ops.quantized_decomposed, torch.ops.torchao
INT8, UINT8, INT32 = torch.int8, torch.uint8, torch.int32
M = Dim("m", min=2, max=13)
QD, AO = "quantized_decomposed.", "torchao."
ROWS = (values(13, 44, low=-9, high=9),)
FEWER = [(values(n, 44, low=-9, high=9),) for n in (5, 2)]
CODES = (values(13, 44, dtype=INT8, low=-128, high=128),)
FEWER_CODES = [(values(n, 44, dtype=INT8, low=-128, high=128),) for n in (5, 2)]
DYNAMIC = ({0: M},)


def scales(*shape: int) -> torch.Tensor:
    """Positive scales."""
    return values(*shape, low=0.02, high=0.2)


def zeros(*shape: int, dtype: torch.dtype = INT32) -> torch.Tensor:
    """Zero points."""
    return values(*shape, dtype=dtype, low=-9, high=9)


def rows(name: str, function, *operators: str, supported: bool = False) -> Case:
    """A case on rows of floats whose number varies."""
    kept = operators if supported else ()
    return Case(name, function, ROWS, operators, DYNAMIC, FEWER, supported=kept)


def codes(name: str, function, *operators: str, supported: bool = False) -> Case:
    """A case on rows of int8 whose number varies."""
    kept = operators if supported else ()
    return Case(name, function, CODES, operators, DYNAMIC, FEWER_CODES, supported=kept)


def affine(name: str, block: list[int], mapping: str = "ASYMMETRIC") -> Case:
    """The choice for each block of a tensor of fixed shape."""

    def run(x):
        return ao.choose_qparams_affine(x, mapping, block, INT8, -128, 127, None, None, INT8, True)

    return Case(name, run, (values(6, 44),), operators=(f"{AO}choose_qparams_affine.default",))


def choose_rows(x):
    """The choice for each row."""
    return ao.choose_qparams_affine(x, "ASYMMETRIC", [1, x.shape[1]], INT8, -128, 127, None, None, INT8, False)


CASES = [
    rows(
        "quantize_per_tensor",
        lambda x: (
            qd.quantize_per_tensor(x, 0.031, 3, -128, 127, INT8),
            qd.quantize_per_tensor(x, 0.031, 130, 0, 255, UINT8),
            qd.quantize_per_tensor(x, 0.00031, -7, -70000, 70000, INT32),
        ),
        f"{QD}quantize_per_tensor.default",
    ),
    Case(
        "quantize_ties_and_infinities",
        lambda x: qd.quantize_per_tensor(x, 0.5, 0, -128, 127, INT8),
        (torch.tensor([0.25, 0.75, -0.25, 1.25, 1e30, -1e30, math.inf, -math.inf]),),
        operators=(f"{QD}quantize_per_tensor.default",),
    ),
    Case(
        "quantize_half",
        lambda x: qd.quantize_per_tensor(x, 0.031, 3, -128, 127, INT8),
        (values(3, 37),),
        operators=(f"{QD}quantize_per_tensor.default",),
        force_fp16=True,
        atol_int=1,
    ),
    Case(
        "quantize_per_tensor_tensor",
        lambda x, s, z: qd.quantize_per_tensor.tensor(x, s, z, -128, 127, INT8),
        (*ROWS, torch.tensor(0.031), torch.tensor(3, dtype=INT32)),
        operators=(f"{QD}quantize_per_tensor.tensor",),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(*x, torch.tensor(0.131), torch.tensor(-3, dtype=INT32)) for x in FEWER],
        supported=(f"{QD}quantize_per_tensor.tensor",),
    ),
    Case(
        "quantize_per_channel",
        lambda x, s, z: qd.quantize_per_channel(x, s, z, 1, -128, 127, INT8),
        (*ROWS, scales(44), zeros(44)),
        operators=(f"{QD}quantize_per_channel.default",),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(*x, scales(44), zeros(44)) for x in FEWER],
    ),
    Case(
        "quantize_per_token",
        lambda x, s, z: qd.quantize_per_token(x, s, z, -128, 127, INT8),
        (*ROWS, scales(13, 1), zeros(13, 1)),
        operators=(f"{QD}quantize_per_token.default",),
        dynamic_shapes=({0: M}, {0: M}, {0: M}),
        extra_inputs=[(*x, scales(len(x[0]), 1), zeros(len(x[0]), 1)) for x in FEWER],
        supported=(f"{QD}quantize_per_token.default",),
    ),
    Case(
        "quantize_affine",
        lambda x, s, z: ao.quantize_affine(x, [1, 22], s, z, INT8, -128, 127),
        (*ROWS, scales(13, 2), zeros(13, 2)),
        operators=(f"{AO}quantize_affine.default",),
        dynamic_shapes=({0: M}, {0: M}, {0: M}),
        extra_inputs=[(*x, scales(len(x[0]), 2), zeros(len(x[0]), 2)) for x in FEWER],
        supported=(f"{AO}quantize_affine.default",),
    ),
    codes(
        "dequantize_per_tensor",
        lambda x: qd.dequantize_per_tensor(x, 0.031, 3, -128, 127, INT8),
        f"{QD}dequantize_per_tensor.default",
        supported=True,
    ),
    Case(
        "dequantize_per_tensor_tensor",
        lambda x, s, z: qd.dequantize_per_tensor.tensor(x, s, z, -128, 127, INT8),
        (*CODES, torch.tensor(0.031), torch.tensor(3, dtype=INT32)),
        operators=(f"{QD}dequantize_per_tensor.tensor",),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(*x, torch.tensor(0.131), torch.tensor(-3, dtype=INT32)) for x in FEWER_CODES],
        supported=(f"{QD}dequantize_per_tensor.tensor",),
    ),
    Case(
        "dequantize_per_channel",
        lambda x, s, z: qd.dequantize_per_channel(x, s, z, 1, -128, 127, INT8),
        (*CODES, scales(44), zeros(44)),
        operators=(f"{QD}dequantize_per_channel.default",),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(*x, scales(44), zeros(44)) for x in FEWER_CODES],
    ),
    Case(
        "dequantize_per_token",
        lambda x, s, z: qd.dequantize_per_token(x, s, z, -128, 127, INT8, torch.float32),
        (*CODES, scales(13, 1), zeros(13, 1)),
        operators=(f"{QD}dequantize_per_token.default",),
        dynamic_shapes=({0: M}, {0: M}, {0: M}),
        extra_inputs=[(*x, scales(len(x[0]), 1), zeros(len(x[0]), 1)) for x in FEWER_CODES],
        supported=(f"{QD}dequantize_per_token.default",),
    ),
    Case(
        "dequantize_affine",
        lambda x, s, z: ao.dequantize_affine(x, [1, 22], s, z, INT8, -128, 127),
        (*CODES, scales(13, 2), zeros(13, 2)),
        operators=(f"{AO}dequantize_affine.default",),
        dynamic_shapes=({0: M}, {0: M}, {0: M}),
        extra_inputs=[(*x, scales(len(x[0]), 2), zeros(len(x[0]), 2)) for x in FEWER_CODES],
        supported=(f"{AO}dequantize_affine.default",),
    ),
    rows(
        "choose_qparams",
        lambda x: qd.choose_qparams.tensor(x, -128, 127, 1e-5, INT8)[0].to(torch.float32),
        f"{QD}choose_qparams.tensor",
        supported=True,
    ),
    rows(
        "choose_qparams_per_token",
        lambda x: qd.choose_qparams_per_token_asymmetric(x, INT8)[0].to(torch.float32),
        f"{QD}choose_qparams_per_token_asymmetric.default",
        supported=True,
    ),
    rows("choose_rows", choose_rows, f"{AO}choose_qparams_affine.default"),
    affine("choose_blocks", [2, 4]),
    affine("choose_all", [6, 44]),
    affine("choose_symmetric", [1, 44], "SYMMETRIC"),
    affine("choose_no_clipping", [3, 11], "SYMMETRIC_NO_CLIPPING_ERR"),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
