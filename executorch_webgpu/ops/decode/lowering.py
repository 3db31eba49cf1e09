"""Lowerings of the fused operators for one token; each answers False where its kernel does not suit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from executorch_webgpu.ops.context import HostArray, Lowering
from executorch_webgpu.ops.dispatch import DeviceFacts, Tensor
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.shape.strided import select_axes, strided_copy
from executorch_webgpu.ops.symbols import IntLike

COLUMNS = 32  # of a row that a lane takes at a time: one vec4<u32>
ROWS = 8  # of a team, at most
FEW_OUTPUTS = 4096  # up to here a team takes half as many rows: there is one for each scheduler at most
ENOUGH_WORKGROUPS = 128  # for the processors of a large card


@dataclass(frozen=True)
class MatvecShape:
    """How the one-token product is cut: a workgroup is ``teams`` teams of ``lanes`` invocations, ``rows`` rows each."""

    digits: bool  # integer arithmetic (matvec_digits.wgsl) instead of floats
    lanes: int
    teams: int
    rows: int


def matvec_shape(columns: int, outputs: int, swiglu: bool, facts: DeviceFacts) -> MatvecShape:
    """Return the cut for ``outputs`` rows of ``columns`` 4-bit weights; with ``swiglu`` half of them are gates."""
    few = outputs <= FEW_OUTPUTS and not facts.software
    rows = ROWS // 2 if few and not swiglu else ROWS
    chunks = columns // COLUMNS
    subgroup = facts.subgroup_size or 0
    if facts.software:
        # A software adapter runs invocations in turn: more of them only add reductions.
        return MatvecShape(False, max(subgroup or 8, 8), 4, rows)
    if facts.packed_dot and 4 <= subgroup <= 128:
        # Few rows are bound by latency: more lanes to a row. Many rows hide it, and wider teams only add reductions.
        lanes = max(subgroup, 32 if not few or chunks <= 32 else 64 if chunks <= 64 else 128)
        # The conversion of x is shared by a workgroup.
        return MatvecShape(True, lanes, 2 if lanes == 128 else 128 // lanes, rows)
    teams = -(-outputs // rows)
    lanes = 128 if chunks > 64 else 64 if chunks > 32 and teams < 1024 else 32
    together = 128 // lanes
    while together > 1 and teams < ENOUGH_WORKGROUPS * together:
        together //= 2
    return MatvecShape(False, lanes, together, rows)


def pack_scales(*scales: HostArray) -> HostArray:
    """Return scales [K/group, N] of each matrix as [N/4, K/group, 4], one after the other."""
    packed = []
    for array in scales:
        groups, rows = array.shape
        full = np.zeros((groups, -(-rows // 4) * 4), np.float32)
        full[:, :rows] = array
        packed.append(full.reshape(groups, -1, 4).transpose(1, 0, 2).reshape(-1))
    return np.concatenate(packed)


def suits_matvec(x: Tensor, weights: Sequence[Tensor], scales: Sequence[Tensor], group: int) -> bool:
    """Return whether the matrix-vector kernel can take these operands: one row of x, whole groups of 32 columns."""
    columns = x.shape[-1] if x.rank else 1
    return (
        x.numel == columns
        and columns % COLUMNS == 0
        and group % COLUMNS == 0
        and all(w.shape[1] * 2 == columns and w.dtype == np.uint8 for w in weights)
        and all(s.dtype == np.float32 and s.shape[0] * group == columns for s in scales)
        and all(w.storage == weights[0].storage for w in weights)
        and all(s.constant for s in scales)
    )


def suits_digits(x: Tensor, weight: Tensor, scales: Tensor, group: int, facts: DeviceFacts) -> bool:
    """Return whether a lone product of one row is best made with integer arithmetic."""
    return (
        suits_matvec(x, [weight], [scales], group) and matvec_shape(x.shape[-1], weight.shape[0], False, facts).digits
    )


def span(tensors: Sequence[Tensor], dtype: str) -> Tensor:
    """Return one tensor over the memory of constants that lie in one buffer."""
    start = tensors[0].offset if len(tensors) == 1 else 0
    end = max(tensor.offset + tensor.nbytes for tensor in tensors)
    kind = np.dtype(dtype)
    return Tensor((-(-(end - start) // kind.itemsize),), kind, tensors[0].storage, True, start)


def matvec(
    ctx: Lowering,
    x: Tensor,
    weights: Sequence[Tensor],
    scales: Sequence[Tensor],
    group: int,
    outs: Sequence[Tensor],
    *,
    epilogue: str = "none",
    norm: tuple[Tensor, float] | None = None,
    residual: Tensor | None = None,
) -> None:
    """Record one launch of the one-token product."""
    columns = x.shape[-1]
    weight = span(weights, "uint32")
    scale = ctx.repack(scales, "quads of rows", pack_scales)
    sizes = [w.shape[0] for w in weights]
    swiglu = epilogue == "swiglu"
    shape = matvec_shape(columns, sum(sizes), swiglu, ctx.facts)
    rows = shape.rows // 2 if swiglu else shape.rows
    teams_of = [-(-size // rows) for size in (sizes[:1] if swiglu else sizes)]
    quads = [-(-s.shape[1] // 4) * s.shape[0] for s in scales]
    bindings = {"x": x, "weight": weight, "scale": scale, "out0": outs[0]}
    bindings |= {f"out{i}": out for i, out in enumerate(outs)}
    if norm:
        bindings["gamma"] = norm[0]
    if residual is not None:
        bindings["residual"] = residual
    subgroup = ctx.facts.subgroup_size
    if subgroup and shape.lanes % subgroup:
        subgroup = None

    def padded(values: Sequence[int]) -> tuple[int, ...]:
        return (*values, *([0] * (4 - len(values))))

    ctx.dispatch(
        "decode/matvec_digits.wgsl" if shape.digits else "decode/matvec_floats.wgsl",
        grid=(-(-sum(teams_of) // shape.teams), 1, 1),
        bindings=bindings,
        params={
            "eps": norm[1] if norm else 0.0,
            "inverse_k": 1.0 / columns,
            "rows": padded(sizes),
            "first_team": padded([sum(teams_of[:i]) for i in range(len(teams_of))]),
            "weight_base": padded([(w.offset - weight.offset) // 16 for w in weights]),
            "scale_base": padded([sum(quads[:i]) for i in range(len(quads))]),
        },
        defines={
            "T": x.dtype.name,
            "CHUNKS": str(columns // COLUMNS),
            "GROUPS": str(columns // group),
            "LANES": str(shape.lanes),
            "TEAMS": str(shape.teams),
            "ROWS": str(shape.rows),
            "SUBGROUP": str(subgroup or ""),
            "PARTS": str(len(outs)),
            "EPILOGUE": epilogue,
            "NORM": "1" if norm else "",
        },
    )


def _norm(gamma: Tensor | list[Tensor], eps: float | list[float]) -> tuple[Tensor, float] | None:
    return (gamma, float(eps)) if isinstance(gamma, Tensor) and not isinstance(eps, list) else None


@lowering("fused.norm_linears_q4")
def norm_linears(
    ctx: Lowering,
    x: Tensor,
    gamma: Tensor,
    eps: float,
    weights: list[Tensor],
    scales: list[Tensor],
    group: int,
) -> bool:
    """One or three products of ``rms_norm(x)`` with 4-bit weights."""
    if not suits_matvec(x, weights, scales, group):
        return False
    outs = [ctx.out((*x.shape[:-1], w.shape[0]), index) for index, w in enumerate(weights)]
    matvec(ctx, x, weights, scales, group, outs, norm=_norm(gamma, eps))
    return True


@lowering("fused.select_norm_linear_q4")
def select_norm_linear(
    ctx: Lowering,
    x: Tensor,
    dim: int,
    index: IntLike,
    gamma: Tensor,
    eps: float,
    weights: list[Tensor],
    scales: list[Tensor],
    group: int,
) -> bool:
    """The product of ``rms_norm(select(x, dim, index))`` with a 4-bit weight; an x of one row is that row already."""
    axes, offset = select_axes(ctx, x, dim, index)
    shape = tuple(kept.size for kept in axes)
    if x.shape[dim] == 1:
        row = replace(x, shape=shape)
    else:
        row = ctx.scratch(shape, x.dtype.name)
        strided_copy(ctx, x, row, axes, offset=offset)
    return norm_linears(ctx, row, gamma, eps, weights, scales, group)


@lowering("fused.gate_up_q4")
def gate_up(
    ctx: Lowering,
    x: Tensor,
    gamma: Tensor | list[Tensor],
    eps: float | list[float],
    weights: list[Tensor],
    scales: list[Tensor],
    group: int,
) -> bool:
    """``silu(gate(x)) * up(x)`` with 4-bit weights, x normalised first if ``gamma`` is given."""
    if not suits_matvec(x, weights, scales, group) or weights[0].shape != weights[1].shape:
        return False
    out = ctx.out((*x.shape[:-1], weights[0].shape[0]))
    matvec(ctx, x, weights, scales, group, [out], epilogue="swiglu", norm=_norm(gamma, eps))
    return True


@lowering("fused.linear_add_q4")
def linear_add(ctx: Lowering, x: Tensor, residual: Tensor, weight: Tensor, scales: Tensor, group: int) -> bool:
    """``residual + linear(x)`` with 4-bit weights."""
    if not suits_matvec(x, [weight], [scales], group) or residual.numel != weight.shape[0]:
        return False
    out = ctx.out(residual.shape)
    matvec(ctx, x, [weight], [scales], group, [out], epilogue="add", residual=residual)
    return True
