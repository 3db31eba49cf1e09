"""Chooses a token from logits: a pure function of logits, settings, seed and position, so that a GPU can repeat it.

In this order, on float32 logits ``l``:

1. Repetition penalty r: for each token that the text (prompt included) has already, ``l / r`` if ``l > 0``, else
   ``l * r``.
2. Temperature 0: the largest logit, the lowest id of equals. That is all.
3. Candidates are ordered by descending logit, equals by ascending id. Top-k keeps the first k.
4. Weights are ``w = exp((l - l_max) / temperature)``; they need no normalisation.
5. Top-p keeps candidate i while the weights before it sum to less than ``top_p`` times the sum of all candidates that
   top-k left; the first is always kept.
6. Min-p keeps candidates with ``w >= min_p`` (the largest w is 1).
7. The draw: ``u = uniform(seed, position)`` in [0, 1) with 24 bits; the first candidate whose running sum of weights
   exceeds ``u`` times the sum of the weights kept.

``position`` is the place of the drawn token in the whole text (the first token of the text has 0): one seed gives other
numbers at each place, and the same ones however the prompt was cut into calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.errors import Internal, InvalidState
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.ops.choice.uniform import uniform

FloatArray = np.ndarray[Any, np.dtype[np.float32]]

_HEAD = 1024  # candidates sorted at first; more only where they do not decide


def penalised(logits: FloatArray, seen: np.ndarray[Any, np.dtype[np.intp]], penalty: float) -> FloatArray:
    """Return the logits with the repetition penalty applied to the token ids ``seen`` (each once)."""
    if penalty == 1 or not len(seen):
        return logits
    result = logits.copy()
    values = result[seen]
    factor = np.float32(penalty)
    result[seen] = np.where(values > 0, values / factor, values * factor)
    return result


def choose(
    logits: FloatArray, sampling: Sampling, position: int, seen: np.ndarray[Any, np.dtype[np.intp]] | None = None
) -> tuple[int, float | None]:
    """Return the token for ``position`` and the log of its probability in the model's own distribution.

    The log-probability is that of the raw logits (no penalty, temperature 1, nothing filtered); None if not asked for.
    ``logits`` has the shape [vocabulary].

    Raises:
        InvalidState: The logits are not numbers.
    """
    if np.isnan(np.max(logits)):
        raise InvalidState(f"the model's logits for position {position} are not numbers (NaN)")
    changed = logits if seen is None else penalised(logits, seen, sampling.repetition_penalty)
    token = int(np.argmax(changed)) if sampling.greedy else _draw(changed, sampling, uniform(sampling.seed, position))
    return token, log_probability(logits, token) if sampling.logprobs else None


def log_probability(logits: FloatArray, token: int) -> float:
    """Return log softmax(logits)[token]."""
    largest = logits.max()
    if np.isinf(largest):
        return 0.0 if logits[token] == largest else -np.inf
    return float(logits[token] - largest) - float(np.log(np.exp(logits - largest).sum(dtype=np.float64)))


def _draw(logits: FloatArray, sampling: Sampling, u: float) -> int:
    count = len(logits)
    limit = min(sampling.top_k or count, count)
    head = min(limit, _HEAD)
    while True:
        order = _largest(logits, head)
        token = _draw_from(logits, order, limit, sampling, u)
        if token is not None:
            return token
        if head == limit:
            raise Internal("no token could be drawn")
        head = min(8 * head, limit)


def _weights(logits: FloatArray, largest: np.float32, temperature: float) -> FloatArray:
    if np.isinf(largest):
        return np.equal(logits, largest).astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        weights: FloatArray = np.exp((logits - largest) / np.float32(max(temperature, 1e-30)))
    return weights


def _draw_from(
    logits: FloatArray, order: np.ndarray[Any, np.dtype[np.intp]], limit: int, sampling: Sampling, u: float
) -> int | None:
    """Draw from the candidates ``order``; None where a candidate that is not among them may be the answer."""
    largest = logits[order[0]]
    weights = _weights(logits[order], largest, sampling.temperature)
    running = np.cumsum(weights, dtype=np.float64)
    complete = len(order) == limit
    if complete:
        total = running[-1]
    else:
        # Only an uncut vocabulary comes here (top-k cuts are complete or beyond the head).
        total = _weights(_candidates(logits, limit), largest, sampling.temperature).sum(dtype=np.float64)
    kept = len(order)
    filtered = sampling.top_p < 1 or sampling.min_p > 0
    decided = complete
    if sampling.top_p < 1:
        # The weights before candidate i sum to running[i - 1].
        cut = 1 + int(np.searchsorted(running, sampling.top_p * total, side="left"))
        decided = decided or cut <= len(order)
        kept = min(kept, cut)
    if sampling.min_p > 0:
        above = int(np.count_nonzero(weights >= np.float32(sampling.min_p)))
        decided = decided or above < len(order)
        kept = min(kept, above)
    if filtered and not decided:
        return None
    kept = max(kept, 1)
    target = u * (running[kept - 1] if decided else total)
    index = int(np.searchsorted(running[:kept], target, side="right"))
    if index < kept:
        return int(order[index])
    # Rounding can put the target at the very end.
    return int(order[kept - 1]) if decided else None


def _candidates(logits: FloatArray, limit: int) -> FloatArray:
    return logits if limit == len(logits) else np.partition(logits, len(logits) - limit)[len(logits) - limit :]


def _largest(logits: FloatArray, count: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the ids of the ``count`` largest logits, descending, equals by ascending id."""
    if count < len(logits):
        threshold = np.partition(logits, len(logits) - count)[len(logits) - count]
        above = np.flatnonzero(logits > threshold)
        equal = np.flatnonzero(logits == threshold)[: count - len(above)]
        chosen = np.concatenate([above, equal])
    else:
        chosen = np.arange(len(logits))
    # Equals are in ascending order already, and a stable sort keeps them so.
    return chosen[np.argsort(-logits[chosen], kind="stable")]
