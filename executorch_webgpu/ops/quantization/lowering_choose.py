"""Lowerings of the choice of scales and zero points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from executorch_webgpu.ops.broadcasting import align_right, contiguous_strides
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.quantization.blocks import block_counts, per_token, reduced_shape, whole
from executorch_webgpu.ops.quantization.reference import SMALLEST_NORMAL, TOKEN_EPS
from executorch_webgpu.ops.registry import Shape, lowering

MODES = {"ASYMMETRIC": "asymmetric", "SYMMETRIC": "symmetric", "SYMMETRIC_NO_CLIPPING_ERR": "no_clipping"}


def _choose(
    ctx: Lowering, x: Tensor, block: Sequence[int], mode: str, low: int, high: int, eps: float, shape: Shape
) -> None:
    """Record the choice for each block; both outputs have ``shape``."""
    scales, zeros = ctx.out(shape, 0), ctx.out(shape, 1)
    sizes, counts = whole(x.shape, block), block_counts(x.shape, block)
    blocks, size = math.prod(counts), math.prod(sizes)
    if blocks == 0:
        return
    # Blocks lie one after the other where only the outermost dims are split.
    split = [d for d, count in enumerate(counts) if count > 1]
    contiguous = all(sizes[d] == 1 for d in range(split[-1])) if split else True
    ctx.dispatch(
        "quantization/choose.wgsl",
        grid=threads_1d(math.ceil(blocks / 4), 1),
        bindings={"x": x, "scales": scales, "zeros": zeros},
        params={
            "blocks": blocks,
            "block_size": size,
            "rank": x.rank,
            "low": float(low),
            "high": float(high),
            "middle": float(int((low + high + 1) / 2)),
            "eps": float(eps),
            "counts": align_right(counts, 1),
            "block": align_right(sizes, 1),
            "strides": align_right(contiguous_strides(x.shape), 0),
        },
        defines={
            "MODE": mode,
            "X": x.dtype.name,
            "S": scales.dtype.name,
            "Z": zeros.dtype.name,
            "CONTIGUOUS": "1" if contiguous else "",
        },
    )


@lowering("torchao.choose_qparams_affine.default")
def choose_qparams_affine(
    ctx: Lowering,
    x: Tensor,
    mapping: str,
    block: Sequence[int],
    dtype: Any = None,
    low: int | None = None,
    high: int | None = None,
    eps: float | None = None,
    scale_dtype: Any = None,
    zero_dtype: Any = None,
    keepdim: bool = False,
) -> None:
    """Choose for each block."""
    bottom, top = -128 if low is None else int(low), 127 if high is None else int(high)
    floor = SMALLEST_NORMAL[x.dtype.name] if eps is None else eps
    _choose(ctx, x, block, MODES[mapping], bottom, top, floor, reduced_shape(x.shape, block, keepdim))


@lowering("quantized_decomposed.choose_qparams.tensor")
def choose_qparams(ctx: Lowering, x: Tensor, low: int, high: int, eps: float, dtype: Any = None) -> None:
    """Choose one scale and zero point for all of x."""
    _choose(ctx, x, x.shape, "asymmetric", int(low), int(high), eps, (1,))


@lowering("quantized_decomposed.choose_qparams_per_token_asymmetric.default")
def choose_qparams_per_token_asymmetric(ctx: Lowering, x: Tensor, dtype: Any = None) -> None:
    """Choose an int8 scale and zero point for each run along the last dim."""
    _choose(ctx, x, per_token(x.shape), "token", -128, 127, TOKEN_EPS, (*x.shape[:-1], 1))
