"""Lowerings of the fused operators for one token; each answers False where its kernel does not suit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from executorch_webgpu.ops.context import HostArray, Lowering
from executorch_webgpu.ops.dispatch import DeviceFacts, Tensor
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.symbols import IntLike, ceil_div

COLUMNS = 32  # of a row that a lane takes at a time: one vec4<u32>
ROWS = 8  # of a team, at most
FEW_OUTPUTS = 4096  # up to here a team takes half as many rows: there is one for each scheduler at most
ENOUGH_WORKGROUPS = 128  # for the processors of a large card
SPLIT = 32  # positions of the cache that a workgroup attends to
WHOLE_THREADS = 512  # of a workgroup that attends to the whole cache, at most
WHOLE_CONTEXT = 1024  # positions up to which that many keep up with a split
WHOLE_BATCH = 4  # positions that an invocation has in flight


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


@lowering("fused.rope_sdpa")
def rope_sdpa(
    ctx: Lowering,
    q: Tensor,
    k: Tensor,
    cosine: Tensor,
    sine: Tensor,
    v: Tensor,
    k_cache: Tensor,
    v_cache: Tensor,
    start: IntLike,
    _sequence: int,
    mask: None = None,
    dropout: float = 0.0,
    causal: bool = True,
    scale: float | None = None,
) -> bool:
    """Rotary embedding, cache update and attention of one token."""
    _, sequence, heads, size = q.shape
    kv_heads = k.shape[2]
    quads = size // 4
    suits = (
        sequence == 1
        and q.shape[0] == 1
        and size % 4 == 0
        and quads >= 4
        and 64 % quads == 0
        and heads % kv_heads == 0
        and heads // kv_heads <= 8
        and mask is None
        and causal
        and k_cache.dtype == q.dtype
    )
    if not suits:
        return False
    context = k_cache.shape[1]
    ctx.guard(start, 0, context - 1, "the position")
    out = ctx.out(q.shape)
    bindings = {"q": q, "k": k, "v": v, "cosine": cosine, "sine": sine, "k_cache": k_cache, "v_cache": v_cache}
    defines = {"T": q.dtype.name, "HEADS": str(heads // kv_heads), "QUADS": str(quads)}
    scale = scale if scale is not None else size**-0.5
    threads, short = whole_attention(quads, ctx.facts)
    # A short cache takes one launch. The kernels that a position has no use for get an empty grid.
    is_long: IntLike = 1 if not threads else 0 if short >= context else -((short - 1 - start) // context)
    if is_long != 1:
        ctx.dispatch(
            "decode/attention_whole.wgsl",
            grid=(heads * (1 - is_long), 1, 1),
            bindings={**bindings, "out": out},
            params={"start": start, "kv_heads": kv_heads, "scale": scale},
            defines={
                **defines,
                "THREADS": str(threads),
                "BATCH": str(WHOLE_BATCH),
                "SUBGROUP": str(ctx.facts.subgroup_size),
            },
        )
    if is_long != 0:
        _split_attention(ctx, bindings, defines, out, start, scale, context, is_long)
    return True


def whole_attention(quads: int, facts: DeviceFacts) -> tuple[int, int]:
    """Return the invocations that attend to a whole cache for heads of ``quads`` quads, and up to which context.

    0 invocations mean that they cannot: a subgroup must hold a head.
    """
    subgroup = facts.subgroup_size or 0
    if not quads <= subgroup <= facts.max_invocations or quads & (quads - 1):
        return 0, 0
    threads = subgroup
    while threads * 2 <= min(64 if facts.software else WHOLE_THREADS, facts.max_invocations):
        threads *= 2
    return threads, WHOLE_CONTEXT if facts.software else WHOLE_CONTEXT * threads // WHOLE_THREADS


def _split_attention(
    ctx: Lowering,
    bindings: dict[str, Tensor],
    defines: dict[str, str],
    out: Tensor,
    start: IntLike,
    scale: float,
    context: int,
    is_long: IntLike,
) -> None:
    """Attention split over positions, then joined."""
    _, _, heads, size = bindings["q"].shape
    kv_heads, quads = bindings["k"].shape[2], size // 4
    max_splits = -(-context // SPLIT)
    partial = ctx.scratch((heads * max_splits * (quads + 1) * 4,))
    splits = ceil_div(start + 1, SPLIT)
    # Workgroup memory holds a quad of every invocation for each head.
    threads = max(quads, 128 if heads // kv_heads <= 4 else 64)
    subgroup = ctx.facts.subgroup_size or 0
    usable = quads <= subgroup <= threads and quads & (quads - 1) == 0
    ctx.dispatch(
        "decode/attention_split.wgsl",
        grid=(kv_heads * is_long, splits, 1),
        bindings={**bindings, "partial": partial},
        params={"start": start, "kv_heads": kv_heads, "max_splits": max_splits, "scale": scale},
        defines={
            **defines,
            "SPLIT": str(SPLIT),
            "THREADS": str(threads),
            "SUBGROUP": str(subgroup) if usable else "",
        },
    )
    ctx.dispatch(
        "decode/attention_combine.wgsl",
        grid=(heads * is_long, 1, 1),
        bindings={"partial": partial, "out": out},
        params={"splits": splits, "max_splits": max_splits},
        defines={"T": defines["T"], "QUADS": str(quads), "SLICES": str(max(1, 128 // quads))},
    )
