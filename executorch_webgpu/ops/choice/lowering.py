"""Lowerings of token choices: logits to a token id that is the next step's input."""

from __future__ import annotations

from executorch_webgpu.ops.choice.uniform import seed_word
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import lowering
from executorch_webgpu.ops.symbols import IntLike

SLICE = 2048  # logits of a workgroup; the counters of a slice have room for no more
COUNTERS = 5 * 1024 + 1  # see choice/weights.wgsl
LEAST_TEMPERATURE = 1e-30


@lowering("choice.greedy")
def greedy(ctx: Lowering, logits: Tensor, token: Tensor, result: Tensor) -> None:
    """Choose the largest of the last row of ``logits`` [..., V], the lowest id of equals.

    ``token`` int32 gets the id; ``result`` [4] words get id, log-probability bits, a NaN flag and 0.
    """
    partial, slices = _slices(ctx, logits)
    ctx.dispatch(
        "choice/greedy_result.wgsl",
        grid=(1, 1, 1),
        bindings={"partial": partial, "token": token, "result": result},
        params={"slices": slices, "count": logits.shape[-1]},
    )


@lowering("choice.sample")
def sample(
    ctx: Lowering,
    logits: Tensor,
    token: Tensor,
    result: Tensor,
    position: IntLike,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    seed: int,
) -> None:
    """Draw from the last row of ``logits`` [..., V] as the reference says; ``token`` and ``result`` as in ``greedy``.

    ``position`` is the drawn token's place in the text and may be live.
    """
    count = logits.shape[-1]
    first = logits.numel - count
    tally = ctx.scratch((COUNTERS,), "uint32")
    partial, slices = _slices(ctx, logits, tally)
    bins = ctx.scratch((count,), "uint32")
    entries = ctx.scratch((count, 2), "uint32")
    part = {"first": first, "count": count, "slice": SLICE}
    temperature = max(temperature, LEAST_TEMPERATURE)
    ctx.dispatch(
        "choice/histogram.wgsl",
        grid=(slices, 1, 1),
        bindings={"logits": logits, "partial": partial, "tally": tally, "bins": bins},
        params={**part, "slices": slices, "temperature": temperature, "min_p": min_p},
        defines={"T": logits.dtype.name},
    )
    ctx.dispatch(
        "choice/scatter.wgsl",
        grid=(slices, 1, 1),
        bindings={"logits": logits, "bins": bins, "tally": tally, "candidates": entries},
        params=part,
        defines={"T": logits.dtype.name},
    )
    ctx.dispatch(
        "choice/draw.wgsl",
        grid=(1, 1, 1),
        bindings={"partial": partial, "tally": tally, "entries": entries, "token": token, "result": result},
        params={
            "count": count,
            "slices": slices,
            "top_k": min(top_k or count, count),
            # A fraction of 2^32; 0 is off.
            "top_p": min(max(round(top_p * 2**32), 1), 2**32 - 1) if top_p < 1 else 0,
            "min_p": int(min_p > 0),
            "seed": seed_word(seed),
            "position": position,
            "temperature": temperature,
        },
    )


def _slices(ctx: Lowering, logits: Tensor, tally: Tensor | None = None) -> tuple[Tensor, int]:
    """Record what finds each slice's largest logit; zero the counters ``tally``."""
    count = logits.shape[-1]
    slices = -(-count // SLICE)
    partial = ctx.scratch((slices * 4,), "uint32")
    ctx.dispatch(
        "choice/slices.wgsl",
        grid=(slices, 1, 1),
        bindings={"logits": logits, "partial": partial} | ({"tally": tally} if tally else {}),
        params={"first": logits.numel - count, "count": count, "slice": SLICE, "counters": COUNTERS},
        defines={"T": logits.dtype.name} | ({"CLEAR": "1"} if tally else {}),
    )
    return partial, slices
