"""Lowerings of operators that make a tensor from nothing: fills and ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import ALL, NUMBERS, lowering
from executorch_webgpu.ops.symbols import IntLike, Sym

Scalar = int | float | Sym


def fill(ctx: Lowering, shape: Sequence[IntLike], value: Scalar) -> None:
    """Record ``out = value`` at ``shape``; a live value stays live where the output holds ints."""
    out = ctx.out([ctx.pin(size) for size in shape])
    if out.numel == 0:
        return
    floating = out.dtype.kind == "f"
    if isinstance(value, Sym):
        number: Scalar = float(ctx.pin(value)) if floating else value
    else:
        number = float(value) if floating else int(value)
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "creation/fill.wgsl",
        grid=threads_1d(quads),
        bindings={"out": out},
        params={"quads": quads, "value": number},
        defines={"OUT": out.dtype.name, "VALUE": "f32" if floating else "i32"},
    )


@lowering("aten.full.default", dtypes=ALL)
def full(ctx: Lowering, size: Sequence[IntLike], value: Scalar, *options: object) -> None:
    """A tensor of one value."""
    fill(ctx, size, value)


@lowering("aten.zeros.default", dtypes=ALL)
def zeros(ctx: Lowering, size: Sequence[IntLike], *options: object) -> None:
    """A tensor of zeros."""
    fill(ctx, size, 0)


@lowering("aten.ones.default", dtypes=ALL)
def ones(ctx: Lowering, size: Sequence[IntLike], *options: object) -> None:
    """A tensor of ones."""
    fill(ctx, size, 1)


@lowering("aten.full_like.default", dtypes=ALL)
def full_like(ctx: Lowering, x: Tensor, value: Scalar, *options: object) -> None:
    """One value in the shape of ``x``."""
    fill(ctx, x.shape, value)


@lowering("aten.zeros_like.default", dtypes=ALL)
def zeros_like(ctx: Lowering, x: Tensor, *options: object) -> None:
    """Zeros in the shape of ``x``."""
    fill(ctx, x.shape, 0)


@lowering("aten.ones_like.default", dtypes=ALL)
def ones_like(ctx: Lowering, x: Tensor, *options: object) -> None:
    """Ones in the shape of ``x``."""
    fill(ctx, x.shape, 1)


@lowering("aten.scalar_tensor.default", dtypes=ALL)
def scalar_tensor(ctx: Lowering, value: Scalar, *options: object) -> None:
    """A tensor of rank 0."""
    fill(ctx, (), value)


@lowering("aten.arange.start_step", dtypes=NUMBERS)
def arange(ctx: Lowering, start: Scalar, end: Scalar, step: Scalar = 1, *options: object) -> None:
    """``start, start + step, ...`` below (above, for a negative step) ``end``."""
    first, last, stride = (ctx.pin(v) if isinstance(v, Sym) else v for v in (start, end, step))
    if stride == 0:
        raise InvalidProgram("aten.arange.start_step has a step of 0")
    length = math.ceil((last - first) / stride)
    if length < 0:
        raise InvalidProgram(f"aten.arange.start_step goes from {first} to {last} in steps of {stride}")
    out = ctx.out((length,))
    if length == 0:
        return
    floating = out.dtype.kind == "f"
    quads = -(-length // 4)
    params: dict[str, int | float]
    if floating:
        params = {
            "start": float(first),
            "step": float(stride),
            "start_rest": first - float(np.float32(first)),
            "step_rest": stride - float(np.float32(stride)),
        }
    else:
        params = {"start": int(first), "step": int(stride)}
    ctx.dispatch(
        "creation/arange.wgsl",
        grid=threads_1d(quads),
        bindings={"out": out},
        params={"quads": quads, **params},
        defines={"OUT": out.dtype.name, "VALUE": "f32" if floating else "i32"},
    )
