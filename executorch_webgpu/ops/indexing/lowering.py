"""Lowerings of the operators that read elements where an index tensor says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from executorch_webgpu.errors import InvalidProgram, NotSupported
from executorch_webgpu.ops.broadcasting import align_right, contiguous_strides, wrap_dim
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import ALL, lowering
from executorch_webgpu.ops.shape.strided import same_dtype

INDEX_DTYPES = ("int32", "int64")


def _check_index(index: Tensor) -> None:
    if index.dtype.name not in INDEX_DTYPES:
        raise NotSupported(f"an index tensor of {index.dtype}; int32 and int64 are supported")


def select_slices(ctx: Lowering, x: Tensor, dim: int, index: Tensor, out: Tensor) -> None:
    """Record ``out``: the slices of ``x`` along ``dim`` that the elements of ``index`` name, in order."""
    _check_index(index)
    same_dtype(x, out)
    if out.numel == 0:
        return
    if x.shape[dim] == 0:
        raise InvalidProgram(f"nothing can be chosen from a dim of size 0 of {list(x.shape)}")
    inner = math.prod(x.shape[dim + 1 :])
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "indexing/select.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "index": index, "out": out},
        params={"quads": quads, "count": out.numel, "chosen": index.numel, "inner": inner, "size": x.shape[dim]},
        defines={
            "BYTES": str(x.dtype.itemsize),
            "INDEX": index.dtype.name,
            "INNER": "1" if inner % 4 == 0 else "",
        },
    )


@lowering("aten.index_select.default", dtypes=ALL)
def index_select(ctx: Lowering, x: Tensor, dim: int, index: Tensor) -> None:
    """The slices of ``x`` along ``dim`` that ``index`` (0-d or 1-d) names; a scalar ``x`` counts as one slice."""
    if x.rank == 0:
        x = Tensor((1,), x.dtype, x.storage, x.constant)
        out = ctx.out(())
        select_slices(ctx, x, 0, index, out)
        return
    at = wrap_dim(dim, x.rank)
    out = ctx.out((*x.shape[:at], index.numel, *x.shape[at + 1 :]))
    select_slices(ctx, x, at, index, out)


@lowering("aten.index.Tensor", dtypes=ALL)
def index_tensor(ctx: Lowering, x: Tensor, indices: Sequence[Tensor | None]) -> None:
    """``x[..., index, ...]`` with one index tensor of any rank; the other dims are taken whole."""
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if len(given) != 1:
        raise NotSupported(f"index.Tensor with {len(given)} index tensors; one is supported")
    at, index = given[0]
    if at >= x.rank:
        raise InvalidProgram(f"an index of dim {at} into a tensor of rank {x.rank}")
    out = ctx.out((*x.shape[:at], *index.shape, *x.shape[at + 1 :]))
    select_slices(ctx, x, at, index, out)


@lowering("aten.embedding.default", dtypes=ALL)
def embedding(
    ctx: Lowering,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> None:
    """The rows of ``weight`` that ``indices`` name. The other arguments matter in training only."""
    out = ctx.out((*indices.shape, weight.shape[1]))
    select_slices(ctx, weight, 0, indices, out)


@lowering("aten.gather.default", dtypes=ALL)
def gather(ctx: Lowering, x: Tensor, dim: int, index: Tensor, sparse_grad: bool = False) -> None:
    """``out[i][j] = x[index[i][j]][j]`` along ``dim``; the result has the shape of ``index``."""
    _check_index(index)
    out = ctx.out(index.shape)
    same_dtype(x, out)
    if out.numel == 0:
        return
    at = wrap_dim(dim, x.rank)
    strides = contiguous_strides(x.shape)
    stride, size = (strides[at], x.shape[at]) if x.rank else (1, 1)
    if size == 0:
        raise InvalidProgram(f"nothing can be gathered from a dim of size 0 of {list(x.shape)}")
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "indexing/gather.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "index": index, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            "rank": out.rank,
            "size": size,
            "stride": stride,
            "dims": align_right(out.shape, 1),
            "strides": align_right([0 if axis == at else step for axis, step in enumerate(strides)], 0),
        },
        defines={"BYTES": str(x.dtype.itemsize), "INDEX": index.dtype.name},
    )
