"""The sampler: each step's meaning, exactness of the shortcuts, and what a GPU must be able to repeat."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidState
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.llm.sampler import choose, log_probability, penalised
from executorch_webgpu.ops.choice.uniform import hash32, uniform

PLAIN = Sampling(temperature=1.0, top_p=1.0)


def plainly(logits: np.ndarray, sampling: Sampling, position: int) -> int:
    """The definition, written down without shortcuts."""
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    if sampling.top_k:
        order = order[: sampling.top_k]
    weights = [float(np.exp((logits[token] - logits[order[0]]) / np.float32(sampling.temperature))) for token in order]
    total = sum(weights)
    kept, before = [], 0.0
    for token, weight in zip(order, weights, strict=True):
        if (not kept or before < sampling.top_p * total) and weight >= np.float32(sampling.min_p):
            kept.append((token, weight))
        before += weight
    target = uniform(sampling.seed, position) * sum(weight for _, weight in kept)
    running = 0.0
    for token, weight in kept:
        running += weight
        if running > target:
            return token
    return kept[-1][0]


@pytest.mark.parametrize(
    "sampling",
    [
        PLAIN,
        Sampling(temperature=0.7, top_k=5, top_p=1.0),
        Sampling(temperature=0.7, top_k=1500, top_p=1.0),
        Sampling(temperature=1.3, top_p=0.9),
        Sampling(temperature=3.0, top_p=0.99),
        Sampling(temperature=1.0, top_p=1.0, min_p=0.05),
        Sampling(temperature=30.0, top_p=0.95, min_p=0.001),
        Sampling(temperature=1.0, top_k=50, top_p=0.5, min_p=0.1),
        Sampling(temperature=1000.0, top_p=1.0),
    ],
)
@pytest.mark.parametrize("size", [3, 37, 3001])
def test_draws_follow_the_definition(sampling: Sampling, size: int) -> None:
    # Rounded logits: many ties, also across the border of the candidates looked at first.
    logits = np.round(np.random.default_rng(size).normal(scale=2, size=size), 1).astype(np.float32)
    for position in range(25 if size < 1000 else 5):
        assert choose(logits, sampling, position)[0] == plainly(logits, sampling, position)


def test_greedy_takes_the_lowest_of_equals() -> None:
    logits = np.array([1, 5, 5, 2], np.float32)
    assert choose(logits, Sampling(temperature=0), 3)[0] == 1
    assert choose(logits, Sampling(temperature=9, top_k=1), 3)[0] == 1


def test_draws_have_the_distribution() -> None:
    probabilities = np.array([0.5, 0.3, 0.15, 0.05])
    logits = np.log(probabilities).astype(np.float32)
    counts = np.zeros(4)
    for position in range(8000):
        counts[choose(logits, Sampling(temperature=1, top_p=1, seed=11), position)[0]] += 1
    assert np.abs(counts / 8000 - probabilities).max() < 0.02


def test_top_p_keeps_the_token_that_passes_the_share() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2])).astype(np.float32)
    drawn = {choose(logits, Sampling(temperature=1, top_p=0.6), position)[0] for position in range(300)}
    assert drawn == {0, 1}
    assert {choose(logits, Sampling(temperature=1, top_p=0.4), position)[0] for position in range(100)} == {0}


def test_min_p_is_relative_to_the_best() -> None:
    logits = np.log(np.array([0.6, 0.25, 0.15])).astype(np.float32)
    drawn = {choose(logits, Sampling(temperature=1, top_p=1, min_p=0.3), position)[0] for position in range(300)}
    assert drawn == {0, 1}


def test_seed_and_position_decide() -> None:
    logits = np.zeros(1000, np.float32)
    one = [choose(logits, Sampling(temperature=1, top_p=1, seed=7), position)[0] for position in range(20)]
    again = [choose(logits, Sampling(temperature=1, top_p=1, seed=7), position)[0] for position in range(20)]
    other = [choose(logits, Sampling(temperature=1, top_p=1, seed=8), position)[0] for position in range(20)]
    high = [choose(logits, Sampling(temperature=1, top_p=1, seed=7 + 2**40), position)[0] for position in range(20)]
    assert one == again
    assert len({tuple(one), tuple(other), tuple(high)}) == 3


def test_hash_is_pinned() -> None:
    # A shader repeats these: they must never change.
    assert [hash32(value) for value in (0, 1, 2, 0xFFFFFFFF)] == [129708002, 2831084092, 2055130248, 3861530882]
    assert uniform(0, 0) == uniform(0, 2**32)
    values = np.array([uniform(5, position) for position in range(4000)])
    assert values.min() >= 0 and values.max() < 1
    assert abs(values.mean() - 0.5) < 0.02 and abs(values.var() - 1 / 12) < 0.005
    assert all((value * 2**24).is_integer() for value in values[:50].tolist())


def test_repetition_penalty_moves_away_from_seen_tokens() -> None:
    logits = np.array([2.0, -1.0, 0.5], np.float32)
    changed = penalised(logits, np.array([0, 1]), 2.0)
    assert changed.tolist() == [1.0, -2.0, 0.5]
    assert logits.tolist() == [2.0, -1.0, 0.5]
    assert (
        choose(np.array([1.0, 0.9], np.float32), Sampling(temperature=0, repetition_penalty=2.0), 0, np.array([0]))[0]
        == 1
    )


def test_log_probability_is_of_the_raw_distribution() -> None:
    logits = np.array([1.0, 2.0, 3.0], np.float32)
    expected = 2.0 - np.log(np.exp([1.0, 2.0, 3.0]).sum())
    assert log_probability(logits, 1) == pytest.approx(expected, abs=1e-6)
    token, logprob = choose(logits, Sampling(temperature=0, repetition_penalty=9.0), 0, np.array([2]))
    assert token == 1 and logprob == pytest.approx(expected, abs=1e-6)
    assert choose(logits, Sampling(temperature=0, logprobs=False), 0)[1] is None


def test_infinite_logits() -> None:
    logits = np.array([-np.inf, 0.0, -np.inf, 1.0], np.float32)
    assert {choose(logits, PLAIN, position)[0] for position in range(200)} == {1, 3}
    logits[2] = np.inf
    assert {choose(logits, PLAIN, position)[0] for position in range(50)} == {2}


def test_tiny_temperature_is_greedy() -> None:
    logits = np.array([0.0, 1.0, 0.999], np.float32)
    assert {choose(logits, Sampling(temperature=1e-40, top_p=1), position)[0] for position in range(50)} == {1}


def test_nan_is_an_error() -> None:
    with pytest.raises(InvalidState, match=r"position 4.*NaN"):
        choose(np.array([0, np.nan], np.float32), PLAIN, 4)
