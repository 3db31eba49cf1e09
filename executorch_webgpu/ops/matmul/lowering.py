"""Lowerings of linear layers and matrix products."""

from __future__ import annotations

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.broadcasting import contiguous_strides
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.matmul.product import Epilogue, Product, Shape, record
from executorch_webgpu.ops.registry import lowering


def _same_depth(left: int, right: int, x: Tensor, y: Tensor) -> None:
    if left != right:
        raise InvalidProgram(f"{list(x.shape)} and {list(y.shape)} cannot be multiplied: {left} is not {right}")


@lowering("aten.linear.default")
def linear(ctx: Lowering, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:
    """``x[..., k] x weight[n, k] + bias[n]``."""
    depth = x.shape[-1]
    _same_depth(depth, weight.shape[-1], x, weight)
    columns = weight.shape[:-1]  # a weight of rank 1 gives one value a row, without a dim
    out = ctx.out((*x.shape[:-1], *columns))
    n = columns[0] if columns else 1
    shape = Shape(1, x.numel // depth if depth else out.numel // n, n, depth, "nk")
    epilogue = Epilogue(bias=bias, bias_strides=(0, 0, 1))
    record(ctx, Product(shape, x, weight, out, period=1, b_batch=0, epilogue=epilogue))


@lowering("aten.mm.default")
def mm(ctx: Lowering, x: Tensor, y: Tensor) -> None:
    """``x[m, k] x y[k, n]``."""
    _same_depth(x.shape[1], y.shape[0], x, y)
    out = ctx.out((x.shape[0], y.shape[1]))
    shape = Shape(1, x.shape[0], y.shape[1], x.shape[1])
    record(ctx, Product(shape, x, y, out, period=1, b_batch=0))


@lowering("aten.bmm.default")
def bmm(ctx: Lowering, x: Tensor, y: Tensor) -> None:
    """``x[z, m, k] x y[z, k, n]`` for each z."""
    _same_depth(x.shape[2], y.shape[1], x, y)
    batch, m, k = x.shape
    n = y.shape[2]
    out = ctx.out((batch, m, n))
    record(ctx, Product(Shape(batch, m, n, k), x, y, out, period=batch, b_batch=k * n))


@lowering("aten.addmm.default")
def addmm(ctx: Lowering, bias: Tensor, x: Tensor, y: Tensor, beta: float = 1, alpha: float = 1) -> None:
    """``beta * bias + alpha * x[m, k] x y[k, n]``; with ``beta`` 0 the bias is not read."""
    _same_depth(x.shape[1], y.shape[0], x, y)
    out = ctx.out((x.shape[0], y.shape[1]))
    shape = Shape(1, x.shape[0], y.shape[1], x.shape[1])
    aligned = (*[1] * (2 - bias.rank), *bias.shape)
    rows, columns = (
        0 if size == 1 else stride for size, stride in zip(aligned, contiguous_strides(aligned), strict=True)
    )
    epilogue = Epilogue(
        bias=bias if beta != 0 else None, bias_strides=(0, rows, columns), alpha=float(alpha), beta=float(beta)
    )
    record(ctx, Product(shape, x, y, out, period=1, b_batch=0, epilogue=epilogue))
