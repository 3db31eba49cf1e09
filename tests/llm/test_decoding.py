"""Calling conventions, chunks, positions, rewinding: every way of feeding a model gives the same greedy text."""

from __future__ import annotations

import pytest
from fakes import (
    METADATA,
    VOCABULARY,
    FakeInfo,
    FakeMeta,
    FakeMethod,
    FakeProgram,
    cached_program,
    expected_logits,
    greedy,
    start_input,
    tokens_input,
)

from executorch_webgpu.errors import ExecuTorchError, InvalidArgument, NotFound, NotSupported
from executorch_webgpu.llm.calls import Position, read_signature
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.llm.host_decoder import HostDecoder
from executorch_webgpu.llm.metadata import ModelMetadata, read_metadata
from executorch_webgpu.llm.opening import open_decoder

GREEDY = Sampling(temperature=0)
PROMPT = [256, 4, 99, 31, 4, 200, 17, 80, 2, 3, 5]


def program_of(*inputs: FakeInfo | None, rows: str = "last", tokens_at: int = 0, **constants: object) -> FakeProgram:
    return FakeProgram({"forward": FakeMethod(FakeMeta(inputs), rows, tokens_at=tokens_at)}, {**METADATA, **constants})


def pair(prefill: FakeMethod, decode: FakeMethod) -> FakeProgram:
    return FakeProgram({"prefill": prefill, "decode": decode}, METADATA)


def shared_pair() -> FakeProgram:
    cache: dict[int, int] = {}
    prefill = FakeMethod(FakeMeta((tokens_input(4, 4), start_input())), cache=cache, has_delegate_state=False)
    decode = FakeMethod(FakeMeta((tokens_input(1, 1), start_input())), cache=cache, has_delegate_state=False)
    return pair(prefill, decode)


def separate_pair() -> FakeProgram:
    return pair(
        FakeMethod(FakeMeta((tokens_input(0, 7), start_input()))),
        FakeMethod(FakeMeta((tokens_input(1, 1), start_input()))),
    )


CONVENTIONS = {
    "one token a call": lambda: program_of(tokens_input(1, 1), start_input()),
    "dynamic": lambda: program_of(tokens_input(0, 7), start_input()),
    "dynamic, all rows": lambda: program_of(tokens_input(0, 7), start_input(), rows="all"),
    "position first": lambda: program_of(start_input(), tokens_input(0, 7), tokens_at=1),
    "0-d position": lambda: program_of(tokens_input(0, 7), FakeInfo(())),
    "plain int position": lambda: program_of(tokens_input(0, 7), None),
    "position vector": lambda: program_of(tokens_input(0, 7), FakeInfo(((0, 7),))),
    "int32": lambda: program_of(FakeInfo(((1, 1), (0, 7)), 3), FakeInfo(((1, 1),), 3)),
    "tokens of rank 1": lambda: program_of(FakeInfo(((0, 7),)), start_input()),
    "fixed length, all rows": lambda: program_of(tokens_input(4, 4), start_input(), rows="all"),
    "fixed vector": lambda: program_of(tokens_input(4, 4), FakeInfo(((4, 4),)), rows="all"),
    "no cache": lambda: program_of(tokens_input(0, 40), rows="all", use_kv_cache=False),
    "no cache, last row": lambda: program_of(tokens_input(0, 40), use_kv_cache=False),
    "no cache, fixed": lambda: program_of(tokens_input(40, 40), rows="all", use_kv_cache=False),
    "two methods, one cache": shared_pair,
    "two methods, a cache each": separate_pair,
}


def decoder_of(program: FakeProgram) -> HostDecoder:
    decoder = open_decoder(program, read_metadata(program))
    assert isinstance(decoder, HostDecoder)
    return decoder


def draw(decoder: HostDecoder, count: int) -> list[int]:
    return [step.token for step in decoder.generate_tokens(GREEDY, count)]


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("length", [1, 3, 4, 11])
def test_greedy_text(name: str, length: int) -> None:
    decoder = decoder_of(CONVENTIONS[name]())
    prompt = PROMPT[:length]
    decoder.prefill(prompt)
    assert draw(decoder, 9) == greedy(prompt, 9)
    assert list(decoder.tokens) == prompt + greedy(prompt, 9)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_text_goes_on_after_what_was_drawn(name: str) -> None:
    decoder = decoder_of(CONVENTIONS[name]())
    decoder.prefill(PROMPT[:5])
    first = draw(decoder, 3)
    decoder.prefill([9, 8])
    text = [*PROMPT[:5], *first, 9, 8]
    assert draw(decoder, 4) == greedy(text, 4)


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("keep", [1, 5, 7, 12])
def test_rewind(name: str, keep: int) -> None:
    decoder = decoder_of(CONVENTIONS[name]())
    decoder.prefill(PROMPT)
    draw(decoder, 4)
    text = list(decoder.tokens)[:keep]
    decoder.rewind(keep)
    assert list(decoder.tokens) == text
    assert draw(decoder, 3) == greedy(text, 3)


def test_reset_begins_anew() -> None:
    decoder = decoder_of(cached_program())
    decoder.prefill(PROMPT)
    first = draw(decoder, 5)
    decoder.reset()
    assert decoder.position == 0 and decoder.logits() is None
    decoder.prefill(PROMPT)
    assert draw(decoder, 5) == first


def test_prompts_longer_than_a_call_are_cut() -> None:
    program = cached_program(4)
    decoder = decoder_of(program)
    decoder.prefill(PROMPT)
    assert program.load_method("forward").calls == [(4, 0), (4, 4), (3, 8)]


def test_max_seq_len_bounds_a_call() -> None:
    program = cached_program(7, get_max_seq_len=5)
    decoder_of(program).prefill(PROMPT)
    assert [length for length, _ in program.load_method("forward").calls] == [5, 5, 1]


def test_a_shared_cache_uses_both_methods() -> None:
    program = shared_pair()
    decoder = decoder_of(program)
    decoder.prefill(PROMPT[:10])
    draw(decoder, 2)
    assert program.load_method("prefill").calls == [(4, 0), (4, 4)]
    assert program.load_method("decode").calls == [(1, 8), (1, 9), (1, 10)]


def test_separate_caches_use_one_method() -> None:
    program = separate_pair()
    decoder = decoder_of(program)
    decoder.prefill(PROMPT[:10])
    draw(decoder, 2)
    assert not program.load_method("decode").calls
    assert len(program.load_method("prefill").calls) == 3


def test_separate_caches_run_through_decode_where_prefill_cannot() -> None:
    program = pair(
        FakeMethod(FakeMeta((tokens_input(4, 4), start_input()))),
        FakeMethod(FakeMeta((tokens_input(1, 1), start_input()))),
    )
    decoder = decoder_of(program)
    decoder.prefill(PROMPT)
    assert draw(decoder, 2) == greedy(PROMPT, 2)
    assert not program.load_method("prefill").calls


def test_separate_caches_are_refused_where_neither_can_do_both() -> None:
    program = pair(
        FakeMethod(FakeMeta((tokens_input(4, 4), start_input()))),
        FakeMethod(FakeMeta((tokens_input(2, 2), start_input()))),
    )
    with pytest.raises(NotSupported, match="prefill and decode each keep a cache"):
        decoder_of(program)


def test_logits_are_those_of_the_last_token() -> None:
    decoder = decoder_of(cached_program(3))
    decoder.prefill(PROMPT)
    logits = decoder.logits()
    assert logits is not None and logits.shape == (VOCABULARY,)
    assert (logits == expected_logits(PROMPT)).all()


def test_a_failed_call_can_be_repeated() -> None:
    program = cached_program(4)
    method = program.load_method("forward")
    decoder = decoder_of(program)

    def fail_once() -> None:
        if len(method.calls) == 1:
            method.before = lambda: None
            raise ExecuTorchError("the device went away")

    method.before = fail_once
    with pytest.raises(ExecuTorchError):
        decoder.prefill(PROMPT)
    assert draw(decoder, 3) == greedy(PROMPT, 3)


def test_repetition_penalty_sees_the_whole_text() -> None:
    decoder = decoder_of(cached_program())
    decoder.prefill(PROMPT)
    drawn = [step.token for step in decoder.generate_tokens(Sampling(temperature=0, repetition_penalty=1e9), 20)]
    # Nearly all positive logits of seen tokens vanish, so nothing repeats.
    assert len({*PROMPT, *drawn}) == len(set(PROMPT)) + 20


def test_a_short_text_of_fixed_length_needs_all_rows() -> None:
    decoder = decoder_of(program_of(tokens_input(4, 4), start_input()))
    with pytest.raises(NotSupported, match="exactly 4 tokens"):
        decoder.prefill(PROMPT[:3])


def test_preparing_happens_at_opening() -> None:
    program = cached_program()
    decoder_of(program)
    assert program.load_method("forward").prepared


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((), r"takes \(nothing\)"),
        ((tokens_input(1, 1), start_input(), start_input()), "a language model takes tokens"),
        ((FakeInfo(((1, 1), (1, 9)), 6),), r"float32 \[1, 1..9\]"),
        ((FakeInfo(((2, 2), (1, 9))),), "a batch of 2"),
        ((tokens_input(0, 9), FakeInfo(((5, 5),))), "a language model takes tokens"),
    ],
)
def test_unknown_conventions_are_described(inputs: tuple[FakeInfo, ...], message: str) -> None:
    with pytest.raises(NotSupported, match=message):
        read_signature("forward", FakeMeta(inputs))


def test_signature() -> None:
    signature = read_signature("forward", FakeMeta((tokens_input(0, 9), FakeInfo(((0, 9),)))))
    assert (signature.shortest, signature.longest, signature.position) == (1, 9, Position.EACH)
    assert read_signature("forward", FakeMeta((tokens_input(1, 1), start_input()))).position is Position.START


def test_context_length() -> None:
    def context(program: FakeProgram) -> int:
        return decoder_of(program).context_length

    assert context(cached_program()) == 40
    assert context(cached_program(get_max_context_len=99)) == 99
    bare = FakeProgram({"forward": FakeMethod(FakeMeta((tokens_input(0, 7), start_input())))})
    assert context(bare) == 128
    assert context(program_of(tokens_input(0, 30), rows="all", use_kv_cache=False)) == 30


def test_methods_are_found_or_listed() -> None:
    method = FakeMethod(FakeMeta((tokens_input(0, 7), start_input())))
    assert open_decoder(FakeProgram({"lm": method}, METADATA), ModelMetadata()).context_length == 128
    with pytest.raises(NotFound, match="a, b"):
        open_decoder(FakeProgram({"a": method, "b": method}), ModelMetadata())
    with pytest.raises(NotFound, match="no method 'c'; it has a, b"):
        open_decoder(FakeProgram({"a": method, "b": method}), ModelMetadata(), "c")
    with pytest.raises(NotSupported, match="takes no position"):
        open_decoder(program_of(tokens_input(0, 7), rows="all"), read_metadata(cached_program()))
    with pytest.raises(InvalidArgument, match="at most 3 tokens a call"):
        open_decoder(program_of(tokens_input(4, 4), start_input()), ModelMetadata(max_seq_len=3))
