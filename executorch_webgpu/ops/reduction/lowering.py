"""Lowerings of reductions over any dims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from executorch_webgpu.ops.broadcasting import align_right
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import MAX_GRID, Grid, Tensor, threads_1d
from executorch_webgpu.ops.reduction.layout import Axes, reduced_dims, reduced_shape, split_axes
from executorch_webgpu.ops.registry import ALL, FLOATS, NUMBERS, lowering
from executorch_webgpu.ops.workgroups import lanes_for

Dims = int | Sequence[int] | None
LONG = 16384  # elements of one output from which several workgroups share it
FEW = 64  # outputs that leave a GPU idle, one workgroup each


@dataclass(frozen=True)
class Kernel:
    """What to do with the elements of an output: see reduction/reduce.wgsl for the names."""

    operation: str
    finish: str = ""
    divisor: float = 1.0
    eps: float = 0.0
    center: Tensor | None = None  # float32, one value an output


def reduce(ctx: Lowering, x: Tensor, out: Tensor, dims: frozenset[int], kernel: Kernel) -> None:
    """Record the reduction of ``x`` over ``dims`` into ``out``, which is not empty."""
    kept, reduced = split_axes(x.shape, dims)
    splits = 1
    if reduced.count >= LONG and kept.count <= FEW and not kernel.operation.startswith("arg"):
        splits = min(FEW, -(-reduced.count // 4096))
    if splits == 1:
        _record(ctx, x, out, kept, reduced, 1, kernel)
        return
    # Partial results have the type that the kernel computes in.
    partial = ctx.scratch((kept.count, splits), "float32" if _floats(x, out, kernel) else "int32")
    _record(ctx, x, partial, kept, reduced, splits, Kernel(kernel.operation, center=kernel.center))
    joins = "sum" if kernel.operation in ("sqdiff", "sumexp") else kernel.operation
    rows = Axes((kept.count,), (splits,)), Axes((splits,), (1,))
    _record(ctx, partial, out, *rows, 1, replace(kernel, operation=joins, center=None))


def _floats(x: Tensor, out: Tensor, kernel: Kernel) -> bool:
    return kernel.operation != "any" and "f" in (x.dtype.kind, out.dtype.kind)


def _record(ctx: Lowering, x: Tensor, out: Tensor, kept: Axes, reduced: Axes, splits: int, kernel: Kernel) -> None:
    outputs, n = kept.count, reduced.count
    per = 1 if out.dtype.itemsize >= 4 else 4
    # Alone, an invocation reads well where neighbours read neighbouring elements.
    strided = bool(reduced.strides) and reduced.strides[-1] != 1
    alone = splits == 1 and (n < 32 or (strided and (outputs >= 1024 or n <= 64)))
    lanes = 64 if alone else lanes_for(-(-n // splits), ctx.facts)
    bindings = {"x": x, "out": out}
    if kernel.center is not None:
        bindings["center"] = kernel.center
    ctx.dispatch(
        "reduction/reduce.wgsl",
        grid=threads_1d(-(-outputs // per), lanes) if alone else workgroups(-(-outputs * splits // per)),
        bindings=bindings,
        params={
            "outputs": outputs,
            "n": n,
            "splits": splits,
            "chunk": -(-n // splits),
            "divisor": float(kernel.divisor),
            "eps": float(kernel.eps),
            "kept_rank": len(kept.dims),
            "reduced_rank": len(reduced.dims),
            "kept_dims": align_right(kept.dims, 1),
            "kept_strides": align_right(kept.strides, 0),
            "reduced_dims": align_right(reduced.dims, 1),
            "reduced_strides": align_right(reduced.strides, 0),
        },
        defines={
            "OP": kernel.operation,
            "FINISH": kernel.finish,
            "CENTER": "1" if kernel.center is not None else "",
            "X": x.dtype.name,
            "X_FLOAT": "1" if x.dtype.kind == "f" else "",
            "OUT": out.dtype.name,
            "VALUE": "f32" if _floats(x, out, kernel) else "i32",
            "COOPERATIVE": "" if alone else "1",
            "LANES": str(lanes),
            "PER": str(per),
        },
    )


def workgroups(count: int) -> Grid:
    """Return a grid of at least ``count`` workgroups, folded into y where x would pass the limit."""
    if count <= MAX_GRID:
        return (max(count, 1), 1, 1)
    rows = -(-count // MAX_GRID)
    return (-(-count // rows), rows, 1)


def _plain(name: str, operation: str, dtypes: tuple[str, ...], finish: str = "") -> None:
    @lowering(name, dtypes=dtypes)
    def lower(ctx: Lowering, x: Tensor, dims: Dims = None, keepdim: bool = False, *options: object) -> None:
        joined = reduced_dims(dims, x.rank)
        out = ctx.out(reduced_shape(x.shape, joined, bool(keepdim)))
        if out.numel:
            count = math.prod(x.shape[dim] for dim in joined)
            reduce(ctx, x, out, joined, Kernel(operation, finish, count))


_plain("aten.sum.dim_IntList", "sum", ALL)
_plain("aten.mean.dim", "sum", FLOATS, "mean")
_plain("aten.any.dim", "any", ALL)
for _operation in ("amax", "amin", "argmax", "argmin"):
    _plain(f"aten.{_operation}.default", _operation, NUMBERS)


@lowering("aten.var.dim")
def var(ctx: Lowering, x: Tensor, dims: Dims = None, unbiased: bool = True, keepdim: bool = False) -> None:
    """The variance over ``dims``, by the mean first and the squared differences from it then."""
    joined = reduced_dims(dims, x.rank)
    out = ctx.out(reduced_shape(x.shape, joined, bool(keepdim)))
    if out.numel == 0:
        return
    count = math.prod(x.shape[dim] for dim in joined)
    mean = ctx.scratch((out.numel,))
    reduce(ctx, x, mean, joined, Kernel("sum", "mean", count))
    reduce(ctx, x, out, joined, Kernel("sqdiff", "mean", count - bool(unbiased), center=mean))
