"""Lowerings of the fused operators for one token; each answers False where its kernel does not suit."""

from __future__ import annotations

from collections.abc import Sequence

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


def matvec_shape(columns: int, teams: int, facts: DeviceFacts) -> tuple[int, int]:
    """Return (lanes of a team, teams of a workgroup) for rows of ``columns`` 4-bit weights, ``teams`` in all."""
    if facts.software:
        # A software adapter runs invocations in turn: more of them only add reductions.
        return max(facts.subgroup_size or 8, 8), 4
    chunks = columns // COLUMNS
    # Few rows are bound by latency: more lanes to a row. Many rows hide it, and wider teams only add reductions.
    lanes = 128 if chunks > 64 else 64 if chunks > 32 and teams < 1024 else 32
    together = 128 // lanes
    while together > 1 and teams < ENOUGH_WORKGROUPS * together:
        together //= 2
    return lanes, together


def matvec_rows(outputs: int, facts: DeviceFacts) -> int:
    """Return the rows of a team: fewer where no other team hides how long one takes."""
    return ROWS if facts.software or outputs > FEW_OUTPUTS else ROWS // 2


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
    """Record one launch of decode/matvec_q4.wgsl."""
    columns = x.shape[-1]
    weight = span(weights, "uint32")
    scale = ctx.repack(scales, "quads of rows", pack_scales)
    sizes = [w.shape[0] for w in weights]
    team_rows = ROWS if epilogue == "swiglu" else matvec_rows(sum(sizes), ctx.facts)
    rows = ROWS // 2 if epilogue == "swiglu" else team_rows
    teams_of = [-(-size // rows) for size in sizes[:1] if epilogue == "swiglu"] or [-(-s // rows) for s in sizes]
    lanes, teams = matvec_shape(columns, sum(teams_of), ctx.facts)
    quads = [-(-s.shape[1] // 4) * s.shape[0] for s in scales]
    bindings = {"x": x, "weight": weight, "scale": scale, "out0": outs[0]}
    bindings |= {f"out{i}": out for i, out in enumerate(outs)}
    if norm:
        bindings["gamma"] = norm[0]
    if residual is not None:
        bindings["residual"] = residual
    subgroup = ctx.facts.subgroup_size if ctx.facts.subgroup_size and lanes % ctx.facts.subgroup_size == 0 else None

    def padded(values: Sequence[int]) -> tuple[int, ...]:
        return (*values, *([0] * (4 - len(values))))

    ctx.dispatch(
        "decode/matvec_q4.wgsl",
        grid=(-(-sum(teams_of) // teams), 1, 1),
        bindings=bindings,
        params={
            "chunks": columns // COLUMNS,
            "groups": columns // group,
            "chunks_per_group": group // COLUMNS,
            "eps": norm[1] if norm else 0.0,
            "inverse_k": 1.0 / columns,
            "rows": padded(sizes),
            "first_team": padded([sum(teams_of[:i]) for i in range(len(teams_of))]),
            "weight_base": padded([(w.offset - weight.offset) // 16 for w in weights]),
            "scale_base": padded([sum(quads[:i]) for i in range(len(quads))]),
        },
        defines={
            "T": x.dtype.name,
            "LANES": str(lanes),
            "TEAMS": str(teams),
            "ROWS": str(team_rows),
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
    """Rotary embedding, cache update and attention of one token: split over positions, then joined."""
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
    max_splits = -(-context // SPLIT)
    partial = ctx.scratch((heads * max_splits * (quads + 1) * 4,))
    splits = ceil_div(start + 1, SPLIT)
    group = heads // kv_heads
    # Workgroup memory holds a quad of every invocation for each head.
    threads = max(quads, 128 if group <= 4 else 64)
    subgroup = ctx.facts.subgroup_size or 0
    usable = quads <= subgroup <= threads and quads & (quads - 1) == 0
    ctx.dispatch(
        "decode/attention_split.wgsl",
        grid=(kv_heads, splits, 1),
        bindings={
            "q": q,
            "k": k,
            "v": v,
            "cosine": cosine,
            "sine": sine,
            "k_cache": k_cache,
            "v_cache": v_cache,
            "partial": partial,
        },
        params={
            "start": start,
            "kv_heads": kv_heads,
            "max_splits": max_splits,
            "scale": scale if scale is not None else size**-0.5,
        },
        defines={
            "T": q.dtype.name,
            "HEADS": str(group),
            "QUADS": str(quads),
            "SPLIT": str(SPLIT),
            "THREADS": str(threads),
            "SUBGROUP": str(subgroup) if usable else "",
        },
    )
    ctx.dispatch(
        "decode/attention_combine.wgsl",
        grid=(heads, 1, 1),
        bindings={"partial": partial, "out": out},
        params={"splits": splits, "max_splits": max_splits},
        defines={"T": q.dtype.name, "QUADS": str(quads), "SLICES": str(max(1, 128 // quads))},
    )
    return True
