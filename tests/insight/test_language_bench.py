"""What is timed for a language model."""

from __future__ import annotations

import pytest

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.insight import language_bench
from executorch_webgpu.insight.language_bench import SpeedResult, SpeedTest, plan_tests, time_test


class Clock:
    """Time that passes only when the decoder works: 1 s a token taken, 10 s a token drawn."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


class Decoder:
    context_length = 1000
    vocab_size = 7

    def __init__(self, clock):
        self.clock = clock
        self.log = []

    def reset(self):
        self.log.append("reset")

    def prefill(self, tokens):
        assert all(0 <= token < 7 for token in tokens)
        self.log.append(len(tokens))
        self.clock.now += len(tokens)

    def draw(self, limit):
        for _ in range(limit):
            self.clock.now += 10
            self.log.append("draw")
            yield


@pytest.fixture
def decoder(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(language_bench, "time", clock)
    return Decoder(clock)


def test_prompt_processing_ends_with_the_first_token(decoder):
    result = time_test(decoder, decoder.draw, SpeedTest(5, 0, 0), 2)
    assert result.seconds == [15, 15]
    assert decoder.log == ["reset", 5, "draw"] * 3


def test_depth_is_not_timed(decoder):
    result = time_test(decoder, decoder.draw, SpeedTest(5, 0, 3), 1)
    assert result.seconds == [15]
    assert decoder.log == ["reset", 3, "draw", 5, "draw"] * 2


def test_generation_counts_the_steps_after_the_first_token(decoder):
    result = time_test(decoder, decoder.draw, SpeedTest(0, 6, 0), 1)
    assert result.seconds == [60] and result.speeds == [pytest.approx(0.1)]
    warm_up = ["reset", 1] + ["draw"] * 5
    assert decoder.log == [*warm_up, "reset", 1] + ["draw"] * 7


def test_plan():
    tests = plan_tests([512, 0], [128], [0, 64], 1024)
    assert [test.name for test in tests] == ["pp512", "tg128", "pp512 @ d64", "tg128 @ d64"]
    assert plan_tests([0], [0], [0], 10) == []


@pytest.mark.parametrize(
    ("arguments", "context", "fits"),
    [
        (([10], [], [0]), 10, True),
        (([10], [], [0]), 9, False),
        (([], [8], [0]), 10, True),
        (([], [9], [0]), 10, False),
        (([10], [], [5]), 15, False),
    ],
)
def test_the_context_is_a_limit(arguments, context, fits):
    if fits:
        assert len(plan_tests(*arguments, context)) == 1
    else:
        with pytest.raises(InvalidArgument, match=f"the model has {context}"):
            plan_tests(*arguments, context)


def test_mean_and_deviation():
    result = SpeedResult(SpeedTest(10, 0, 0), [1.0, 2.0])
    assert result.speeds == [10, 5] and result.mean == 7.5
    assert result.deviation == pytest.approx(3.5355, abs=1e-4)
    assert SpeedResult(SpeedTest(10, 0, 0), [1.0]).deviation == 0
