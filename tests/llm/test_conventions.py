"""Exported programs of every calling convention draw the tokens that eager PyTorch draws, on the CPU and on a GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import executorch_webgpu
from executorch_webgpu.errors import DeviceNotFound, InvalidArgument
from executorch_webgpu.llm import GenerationConfig, TextLLMRunner, load_tokenizer

FIXTURES = Path(__file__).parent.parent / "fixtures" / "llm"
GOLDEN = json.loads((FIXTURES / "golden.json").read_text("utf-8"))["texts"]
# Program and the context it says, or that is assumed.
PROGRAMS = {
    "static": 48,
    "dynamic": 48,
    "every_row": 48,
    "number": 128,
    "vector": 48,
    "two_methods": 48,
    "shared_cache": 48,
    "no_cache": 32,
    "no_cache_fixed": 16,
}
LOGITS_TOLERANCE = 2e-3  # of the range of the logits


def has_gpu() -> bool:
    try:
        with executorch_webgpu.load(FIXTURES / "static.pte", device="gpu") as program:
            return bool(program.device)
    except DeviceNotFound:
        return False


@pytest.fixture(scope="module", params=["cpu", "gpu"])
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "gpu" and not has_gpu():
        pytest.skip("no adapter")
    return str(request.param)


@pytest.fixture(scope="module", params=PROGRAMS)
def runner(request: pytest.FixtureRequest, device: str) -> Iterator[TextLLMRunner]:
    tokenizer = load_tokenizer(FIXTURES / "llama2c.bin")
    with TextLLMRunner(FIXTURES / f"{request.param}.pte", tokenizer, device=device) as runner:
        assert runner.context_length == PROGRAMS[request.param]
        yield runner


def draw(runner: TextLLMRunner, prompt: list[int], count: int) -> list[int | None]:
    config = GenerationConfig(temperature=0, max_new_tokens=count, ignore_eos=True)
    return [chunk.token for chunk in runner.stream(prompt, config)]


@pytest.mark.parametrize("index", range(len(GOLDEN)))
def test_greedy_tokens_and_logits(runner: TextLLMRunner, index: int) -> None:
    text = GOLDEN[index]
    runner.reset()
    room = runner.context_length - len(text["prompt"])
    if room <= 0:
        with pytest.raises(InvalidArgument, match="the context of 16"):
            draw(runner, text["prompt"], 1)
        return
    assert draw(runner, text["prompt"], len(text["greedy"])) == text["greedy"][:room]
    if room >= len(text["greedy"]):
        # The logits that the last token was drawn from.
        runner.rewind(runner.position - 1)
        logits = runner.decoder.logits()  # type: ignore[attr-defined]
        expected = np.array(text["last_logits"], np.float32)
        assert np.abs(logits - expected).max() < LOGITS_TOLERANCE * np.ptp(expected)


def test_reset_gives_the_same_bits(runner: TextLLMRunner) -> None:
    def bits() -> list[tuple[int | None, float | None]]:
        runner.reset()
        config = GenerationConfig(seed=4, max_new_tokens=8, ignore_eos=True)
        return [(chunk.token, chunk.logprob) for chunk in runner.stream(GOLDEN[0]["prompt"], config)]

    assert bits() == bits()


def test_a_text_goes_on_in_pieces(runner: TextLLMRunner) -> None:
    text = GOLDEN[0]
    whole = text["prompt"] + text["greedy"][:6]
    runner.reset()
    runner.prefill(whole[:3])
    runner.prefill(whole[3:4])
    runner.prefill(whole[4:])
    assert draw(runner, [text["greedy"][6]], 2) == text["greedy"][7:9]


def test_surplus_steps_do_not_count(runner: TextLLMRunner) -> None:
    text = GOLDEN[0]
    runner.reset()
    stream = runner.stream(text["prompt"], GenerationConfig(temperature=0, ignore_eos=True))
    drawn = [next(stream).token for _ in range(4)]
    runner.end_stream()
    assert drawn == text["greedy"][:4] and runner.position == len(text["prompt"]) + 4
    # Another token than the one that would have come: the rows that surplus steps wrote must not be seen.
    whole = [*text["prompt"], *drawn, 77]
    going_on = draw(runner, [77], 4)
    runner.reset()
    assert draw(runner, whole, 4) == going_on


def test_log_probabilities_agree_between_devices(device: str) -> None:
    def told(name: str, where: str) -> list[float | None]:
        with TextLLMRunner(FIXTURES / name, load_tokenizer(FIXTURES / "llama2c.bin"), device=where) as runner:
            config = GenerationConfig(temperature=0, max_new_tokens=8, ignore_eos=True)
            return [chunk.logprob for chunk in runner.stream(GOLDEN[0]["prompt"], config)]

    assert told("dynamic.pte", device) == pytest.approx(told("no_cache.pte", "cpu"), abs=1e-3)
