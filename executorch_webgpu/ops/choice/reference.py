"""The meaning of token choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.choice.uniform import uniform
from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


@reference("choice.greedy", outputs=2)
def greedy(out: tuple[Out, Out], logits: Array) -> tuple[Array, Array]:
    """Return the id of the largest of the last row of ``logits`` [..., V] and the log of its softmax."""
    row = _last_row(logits)
    token = int(np.argmax(row))
    return np.array(token, np.int32), _log_probability(row, token)


@reference("choice.sample", outputs=2)
def sample(
    out: tuple[Out, Out],
    logits: Array,
    position: int,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    seed: int,
) -> tuple[Array, Array]:
    """Return a token drawn from the last row of ``logits`` [..., V], and the log of its softmax there.

    Candidates by descending logit, equals by ascending id; the first ``top_k`` (0: all); those before which there is
    less than the share ``top_p`` of the weight left so far; those of at least ``min_p`` times the largest weight.
    Weights are exp((l - largest) / temperature). The first whose running weight passes ``uniform(seed, position)``
    times the weight kept is drawn.
    """
    row = _last_row(logits)
    order = np.lexsort((np.arange(len(row)), -row))[: top_k or len(row)]
    largest = row[order[0]]
    if np.isinf(largest):
        weights = (row[order] == largest).astype(np.float32)
    else:
        with np.errstate(over="ignore", under="ignore"):
            weights = np.exp((row[order] - largest) / np.float32(max(temperature, 1e-30)))
    running = np.cumsum(weights, dtype=np.float64)
    kept = len(order)
    if top_p < 1:
        kept = min(kept, 1 + int(np.searchsorted(running, top_p * running[-1], side="left")))
    kept = max(1, min(kept, int(np.count_nonzero(weights >= np.float32(min_p)))))
    target = uniform(seed, position) * running[kept - 1]
    drawn = int(order[min(int(np.searchsorted(running[:kept], target, side="right")), kept - 1)])
    return np.array(drawn, np.int32), _log_probability(row, drawn)


def _last_row(logits: Array) -> Array:
    row: Array = np.asarray(logits, np.float32).reshape(-1, logits.shape[-1])[-1]
    return row


def _log_probability(row: Array, token: int) -> Array:
    largest = row.max()
    if np.isinf(largest):
        return np.array(0 if row[token] == largest else -np.inf, np.float32)
    rest = np.exp(row - largest).sum(dtype=np.float64)
    return np.asarray(row[token] - largest - np.log(rest), np.float32)
