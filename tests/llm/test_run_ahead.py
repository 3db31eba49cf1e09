"""The decoder that runs ahead draws what the plain one draws, whatever the reader does with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import executorch_webgpu
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.llm.decoder import TokenStep
from executorch_webgpu.llm.host_decoder import HostDecoder
from executorch_webgpu.llm.metadata import read_metadata
from executorch_webgpu.llm.opening import context_length, decoder_of, find_callers
from executorch_webgpu.llm.run_ahead import IN_FLIGHT, RunAheadDecoder

MODEL = Path(__file__).resolve().parents[2] / "examples" / "storyteller" / "model.pte"
PROMPT = [1, 40, 41, 42, 300, 17, 60]
GREEDY = Sampling(temperature=0)
DRAWN = Sampling(temperature=1.1, top_k=60, top_p=0.95, min_p=0.01, seed=5)
SAMPLINGS = {
    "greedy": GREEDY,
    "plain": Sampling(temperature=1.0, top_p=1.0, seed=3),
    "nucleus": Sampling(temperature=0.8, top_p=0.9, seed=2**40),
    "all": DRAWN,
    "penalty": Sampling(temperature=0.9, repetition_penalty=1.3, seed=1),
}


@pytest.fixture(scope="module")
def decoders() -> Iterator[tuple[RunAheadDecoder, HostDecoder]]:
    with executorch_webgpu.load(MODEL, device="gpu") as program:
        metadata = read_metadata(program)
        callers = find_callers(program, metadata)
        ahead = decoder_of(callers, metadata)
        assert isinstance(ahead, RunAheadDecoder)
        yield ahead, HostDecoder(callers, context_length(callers, metadata), metadata.vocab_size)


@pytest.fixture
def ahead(decoders: tuple[RunAheadDecoder, HostDecoder]) -> RunAheadDecoder:
    decoders[0].reset()
    return decoders[0]


@pytest.fixture
def plain(decoders: tuple[RunAheadDecoder, HostDecoder]) -> HostDecoder:
    return decoders[1]


def text_of(decoder: HostDecoder, prompt: list[int], sampling: Sampling, count: int) -> list[TokenStep]:
    """Return what the plain decoder draws; both decoders feed the same caches, so it runs first or last."""
    decoder.reset()
    decoder.prefill(prompt)
    return list(decoder.generate_tokens(sampling, count))


def tokens_of(steps: list[TokenStep]) -> list[int]:
    return [step.token for step in steps]


@pytest.mark.parametrize("name", SAMPLINGS)
def test_same_text(name: str, ahead: RunAheadDecoder, plain: HostDecoder) -> None:
    ahead.prefill(PROMPT)
    found = list(ahead.generate_tokens(SAMPLINGS[name], 24))
    wanted = text_of(plain, PROMPT, SAMPLINGS[name], 24)
    assert tokens_of(found) == tokens_of(wanted)
    assert [step.position for step in found] == [step.position for step in wanted]
    assert [step.logprob for step in found] == pytest.approx([step.logprob for step in wanted], abs=1e-3)
    assert list(ahead.tokens) == [*PROMPT, *tokens_of(found)]


@pytest.mark.parametrize("sampling", [GREEDY, DRAWN], ids=["greedy", "drawn"])
@pytest.mark.parametrize("taken", [1, 2, 5])
def test_what_was_not_taken_does_not_count(
    taken: int, sampling: Sampling, ahead: RunAheadDecoder, plain: HostDecoder
) -> None:
    ahead.prefill(PROMPT)
    steps = ahead.generate_tokens(sampling, 30)
    first = [next(steps) for _ in range(taken)]
    assert ahead._linked.in_flight == (0 if taken == 1 else IN_FLIGHT - 1)
    steps.close()
    assert ahead._linked.in_flight == 0
    assert list(ahead.tokens) == [*PROMPT, *tokens_of(first)]
    # Surplus rows of the caches are written again before they are read.
    ahead.prefill([77, 5])
    found = tokens_of(list(ahead.generate_tokens(sampling, 6)))
    wanted = text_of(plain, PROMPT, sampling, taken)
    assert tokens_of(first) == tokens_of(wanted)
    assert found == tokens_of(text_of(plain, [*PROMPT, *tokens_of(wanted), 77, 5], sampling, 6))


@pytest.mark.parametrize("keep", [3, len(PROMPT), len(PROMPT) + 4])
def test_rewind(keep: int, ahead: RunAheadDecoder, plain: HostDecoder) -> None:
    ahead.prefill(PROMPT)
    list(ahead.generate_tokens(DRAWN, 8))
    kept = list(ahead.tokens)[:keep]
    ahead.rewind(keep)
    found = tokens_of(list(ahead.generate_tokens(DRAWN, 6)))
    assert found == tokens_of(text_of(plain, kept, DRAWN, 6))


def test_settings_may_change_within_a_text(ahead: RunAheadDecoder, plain: HostDecoder) -> None:
    samplings = [GREEDY, DRAWN, SAMPLINGS["penalty"], SAMPLINGS["plain"], GREEDY, DRAWN, SAMPLINGS["nucleus"]]
    samplings += [Sampling(seed=seed) for seed in range(5)]
    ahead.prefill(PROMPT)
    found = [tokens_of(list(ahead.generate_tokens(sampling, 3))) for sampling in samplings]
    plain.reset()
    plain.prefill(PROMPT)
    assert found == [tokens_of(list(plain.generate_tokens(sampling, 3))) for sampling in samplings]


def test_reset_gives_the_same_bits_again(ahead: RunAheadDecoder) -> None:
    def once() -> list[TokenStep]:
        ahead.reset()
        ahead.prefill(PROMPT)
        return list(ahead.generate_tokens(DRAWN, 12))

    assert once() == once()
    other = Sampling(temperature=1.1, top_k=60, top_p=0.95, min_p=0.01, seed=6)
    ahead.reset()
    ahead.prefill(PROMPT)
    assert tokens_of(list(ahead.generate_tokens(other, 12))) != tokens_of(once())


def test_up_to_the_end_of_the_context(ahead: RunAheadDecoder, plain: HostDecoder) -> None:
    # The last steps may not run past the caches.
    length = ahead.context_length
    prompt = [1, *(20 + i % 50 for i in range(length - 6))]
    ahead.prefill(prompt)
    found = tokens_of(list(ahead.generate_tokens(DRAWN, length - len(prompt))))
    assert ahead.position == length
    assert found == tokens_of(text_of(plain, prompt, DRAWN, length - len(prompt)))


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_short_limits(limit: int, ahead: RunAheadDecoder) -> None:
    ahead.prefill(PROMPT)
    assert len(list(ahead.generate_tokens(DRAWN, limit))) == limit
    assert ahead.position == len(PROMPT) + limit


def test_logits_after_a_text(ahead: RunAheadDecoder, plain: HostDecoder) -> None:
    ahead.prefill(PROMPT)
    list(ahead.generate_tokens(GREEDY, 5))
    found, text = ahead.logits(), list(ahead.tokens)
    plain.reset()
    plain.prefill(text)
    wanted = plain.logits()
    assert found is not None and wanted is not None
    assert found == pytest.approx(wanted, abs=1e-3)
