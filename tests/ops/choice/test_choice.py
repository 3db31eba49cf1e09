"""Token choices on the device and by their references, against the sampler that the host uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chooser import Chooser
from hypothesis import given, settings
from hypothesis import strategies as st

from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.llm.sampler import choose, log_probability
from executorch_webgpu.ops.registry import Out, references

Settings = tuple[float, int, float, float, int]
Array = np.ndarray[Any, Any]
INF = np.float32(np.inf)
OUTS = (Out((), np.dtype(np.int32)), Out((), np.dtype(np.float32)))

SETTINGS: list[Settings] = [
    (1.0, 0, 1.0, 0.0, 7),
    (0.8, 0, 0.9, 0.0, 2**63 + 5),
    (0.7, 50, 1.0, 0.0, 3),
    (1.5, 40, 0.95, 0.05, 9),
    (10.0, 0, 1.0, 1e-4, 2),
    (1000.0, 0, 0.99, 0.0, 5),
    (0.001, 50, 0.9, 0.1, 1),
]


def sampling(values: Settings) -> Sampling:
    temperature, top_k, top_p, min_p, seed = values
    return Sampling(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, seed=seed)


def chooser(device: str, logits: Array, values: Settings | tuple[()]) -> Chooser:
    gpu = select_device(device)
    assert gpu is not None
    return Chooser(gpu, logits.shape, logits.dtype.name, values)


def draws(device: str, logits: Array, values: Settings, count: int) -> list[tuple[int, float]]:
    """Return (token, log-probability) at the first positions."""
    if device == "cpu":
        function = references()["choice.sample"].function
        results = [function(OUTS, logits, position, *values) for position in range(count)]
        return [(int(token), float(logprob)) for token, logprob in results]
    made = chooser(device, logits, values)
    found = [made.choose(logits), *(made.again(position) for position in range(1, count))]
    made.close()
    assert not any(nan for _, _, nan in found)
    return [(token, logprob) for token, logprob, _ in found]


@pytest.mark.parametrize("values", SETTINGS)
@pytest.mark.parametrize("size", [1, 257, 5000])
def test_draws_as_the_host_does(values: Settings, size: int, device: str) -> None:
    # Rounded logits have many ties.
    row = np.round(np.random.default_rng(size).normal(scale=2.5, size=size), 1).astype(np.float32)
    logits = np.stack([row[::-1], row])[None]
    for position, (token, logprob) in enumerate(draws(device, logits, values, 8)):
        want, want_logprob = choose(row, sampling(values), position)
        assert token == want
        assert logprob == pytest.approx(want_logprob, abs=1e-4)


def test_agrees_in_all_but_a_thousandth_of_draws(device: str) -> None:
    row = np.random.default_rng(3).normal(scale=3, size=6001).astype(np.float32)
    values: Settings = (1.4, 3000, 0.97, 1e-5, 11)
    found = [token for token, _ in draws(device, row[None], values, 1000)]
    wanted = [choose(row, sampling(values), position)[0] for position in range(1000)]
    rank = np.empty(len(row), np.int64)
    rank[np.lexsort((np.arange(len(row)), -row))] = np.arange(len(row))
    apart = [abs(int(rank[a]) - int(rank[b])) for a, b in zip(found, wanted, strict=True)]
    assert max(apart) <= 1
    assert sum(map(bool, apart)) <= 1
    assert len(set(found)) > 100


def test_agrees_on_a_large_vocabulary(device: str) -> None:
    row = np.random.default_rng(8).normal(scale=2, size=128256).astype(np.float32)
    for values in SETTINGS[:4]:
        for position, (token, _) in enumerate(draws(device, row[None], values, 3)):
            assert token == choose(row, sampling(values), position)[0]


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**64 - 1),
    scale=st.sampled_from([1e-6, 0.1, 1, 10, 1e4, 1e30]),
    rounding=st.integers(0, 3),
    temperature=st.sampled_from([1e-40, 0.05, 0.7, 1, 3, 1e6]),
    top_k=st.integers(0, 600),
    top_p=st.floats(1e-6, 1),
    min_p=st.sampled_from([0.0, 1e-20, 1e-3, 0.3, 1.0]),
)
def test_any_settings(
    seed: int, scale: float, rounding: int, temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    random = np.random.default_rng(seed)
    row = (np.round(random.normal(size=500), rounding) * scale).astype(np.float32)
    row[random.integers(0, 500, 5)] = random.choice([-INF, np.float32(0), np.float32(-0.0)], 5)
    values: Settings = (temperature, top_k, top_p, min_p, seed)
    order = np.lexsort((np.arange(500), -row)).tolist()
    for position, (token, _) in enumerate(draws("gpu", row[None], values, 3)):
        want = choose(row, sampling(values), position)[0]
        assert abs(order.index(token) - order.index(want)) <= 1


@pytest.mark.parametrize(
    "row",
    [
        np.zeros(3000, np.float32),
        np.full(300, -INF, np.float32),
        np.where(np.arange(300) % 7 == 0, INF, np.float32(1)).astype(np.float32),
        np.where(np.arange(300) % 2 == 0, np.float32(0), np.float32(-0.0)).astype(np.float32),
        np.where(np.arange(300) < 290, -INF, np.float32(2)).astype(np.float32),
    ],
    ids=["equal", "all -inf", "some inf", "zeros of both signs", "mostly -inf"],
)
@pytest.mark.parametrize("values", SETTINGS[:4])
def test_strange_logits(row: Array, values: Settings, device: str) -> None:
    for position, (token, logprob) in enumerate(draws(device, row[None], values, 4)):
        want, want_logprob = choose(row, sampling(values), position)
        assert token == want
        assert logprob == pytest.approx(want_logprob, abs=1e-4)


def test_float16_logits(device: str) -> None:
    row = np.random.default_rng(1).normal(scale=3, size=1001).astype(np.float16)
    values: Settings = (0.9, 200, 0.95, 0.0, 4)
    for position, (token, _) in enumerate(draws(device, row[None], values, 8)):
        assert token == choose(row.astype(np.float32), sampling(values), position)[0]


def test_a_nan_is_flagged(device: str) -> None:
    if device == "cpu":
        pytest.skip("the caller of a reference looks itself")
    row = np.zeros((1, 700), np.float32)
    for values in ((), SETTINGS[3]):
        made = chooser(device, row, values)
        for place in (0, 699):
            row[0, place] = np.nan
            token, _, nan = made.choose(row)
            assert nan and token < 700
            row[0, place] = 0
        assert not made.choose(row)[2]
        made.close()


@pytest.mark.parametrize("size", [1, 300, 5000])
def test_greedy(size: int, device: str) -> None:
    row = np.round(np.random.default_rng(size).normal(size=size), 1).astype(np.float32)
    if device == "cpu":
        token, logprob = map(float, references()["choice.greedy"].function(OUTS, row[None]))
    else:
        made = chooser(device, row[None], ())
        token, logprob, _ = made.choose(row)
        made.close()
    assert token == np.argmax(row)
    assert logprob == pytest.approx(log_probability(row, int(token)), abs=1e-5)


def test_few_dispatches_and_the_same_bits_again(device: str) -> None:
    if device == "cpu":
        pytest.skip("no dispatches")
    row = np.random.default_rng(2).normal(scale=2, size=(1, 4000)).astype(np.float32)
    made = chooser(device, row, SETTINGS[3])
    assert len(made.dispatches) == 4
    first = [made.choose(row, position) for position in range(20)]
    assert [made.choose(row, position) for position in range(20)] == first
    made.close()
