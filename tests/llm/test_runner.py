"""The runner: finish reasons, stop strings, positions, limits, callbacks, statistics."""

from __future__ import annotations

import json

import pytest
from fakes import BOS, EOS, METADATA, Bytes, FakeMeta, FakeMethod, FakeProgram, cached_program, greedy, start_input
from fakes import tokens_input as tokens_of

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm import GenerationConfig, TextChunk, TextLLMRunner

PROMPT = "Once upon"


def config(**values: object) -> GenerationConfig:
    return GenerationConfig(**{"temperature": 0.0, "echo": False, **values})  # type: ignore[arg-type]


def runner_of(**constants: object) -> TextLLMRunner:
    return TextLLMRunner(cached_program(**constants), Bytes())


def expected(count: int, prompt: list[int] | None = None) -> list[int]:
    return greedy(list(PROMPT.encode()) if prompt is None else prompt, count)


def read(runner: TextLLMRunner, **values: object) -> list[TextChunk]:
    return list(runner.stream(PROMPT, config(**values)))


def test_greedy_stream() -> None:
    runner = runner_of()
    chunks = read(runner, max_new_tokens=12)
    assert [chunk.token for chunk in chunks] == expected(12)
    assert "".join(chunk.text for chunk in chunks) == bytes(token for token in expected(12) if token < 256).decode(
        "utf-8", "replace"
    )
    assert [chunk.finish_reason for chunk in chunks] == [None] * 11 + ["length"]
    assert [chunk.generated_tokens for chunk in chunks] == list(range(1, 13))
    assert {chunk.prompt_tokens for chunk in chunks} == {9}
    assert all(chunk.logprob is not None and chunk.logprob < 0 for chunk in chunks)
    assert chunks[-1].tokens_per_second > 0 and chunks[-1].prompt_tokens_per_second > 0


def test_reset_gives_the_same_bits() -> None:
    runner = runner_of()
    first = read(runner, max_new_tokens=9, temperature=1.0, seed=3)
    going_on = [chunk.token for chunk in runner.stream("!", config(max_new_tokens=3))]
    assert runner.position == 9 + 9 + 1 + 3
    text = [*PROMPT.encode(), *(chunk.token for chunk in first if chunk.token is not None), ord("!")]
    assert going_on == greedy(text, 3)
    runner.reset()
    assert runner.position == 0
    again = read(runner, max_new_tokens=9, temperature=1.0, seed=3)
    assert [(c.text, c.token, c.logprob) for c in again] == [(c.text, c.token, c.logprob) for c in first]


def test_seeds() -> None:
    def draw(seed: int | None) -> list[int | None]:
        return [chunk.token for chunk in read(runner_of(), max_new_tokens=12, temperature=2.0, top_p=1.0, seed=seed)]

    assert draw(7) == draw(7)
    assert draw(7) != draw(8)
    runner = runner_of()
    drawn = [chunk.token for chunk in read(runner, max_new_tokens=12, temperature=2.0, top_p=1.0)]
    assert runner.stats.seed is not None and draw(runner.stats.seed) == drawn


def eos_runner() -> tuple[TextLLMRunner, int]:
    """A runner whose program says that the fourth greedy token ends a text."""
    end = expected(4)[3]
    return runner_of(get_eos_ids=[end, EOS]), end


def test_end_of_text() -> None:
    runner, end = eos_runner()
    chunks = read(runner)
    assert chunks[-1].finish_reason == "eos" and chunks[-1].token == end
    assert end not in [chunk.token for chunk in chunks[:-1]]
    # What ends the text is not shown.
    shown = bytes(chunk.token for chunk in chunks[:-1] if chunk.token is not None)
    assert "".join(chunk.text for chunk in chunks) == shown.decode("utf-8", "replace")


def test_end_of_text_can_be_ignored() -> None:
    runner, _ = eos_runner()
    chunks = read(runner, ignore_eos=True, max_new_tokens=10)
    assert len(chunks) == 10 and chunks[-1].finish_reason == "length"


def test_context_is_the_limit() -> None:
    runner = runner_of()
    chunks = read(runner, ignore_eos=True, max_new_tokens=1000)
    assert chunks[-1].finish_reason == "context"
    assert runner.position == 40 and chunks[-1].generated_tokens == 40 - 9
    with pytest.raises(InvalidArgument, match="1 tokens after 40 earlier ones; the context of 40"):
        runner.stream("x", config())


def test_a_prompt_that_does_not_fit_is_refused_before_any_work() -> None:
    program = cached_program()
    runner = TextLLMRunner(program, Bytes())
    with pytest.raises(InvalidArgument, match="41 tokens; the context of 40"):
        runner.stream("x" * 41, config())
    with pytest.raises(InvalidArgument, match="prompt is empty"):
        runner.stream("", config())
    assert not program.load_method("forward").calls
    assert [chunk.token for chunk in runner.stream("x" * 39, config())] == greedy(list(b"x" * 39), 1)


def test_foreign_tokens_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="token 260, the model knows 0 to 259"):
        runner_of().stream([1, 260], config())


def test_no_new_tokens() -> None:
    runner = runner_of()
    (chunk,) = read(runner, max_new_tokens=0)
    assert chunk.token is None and chunk.finish_reason == "length"
    assert runner.position == 9


def test_seq_len_counts_the_prompt() -> None:
    chunks = read(runner_of(), seq_len=12, ignore_eos=True)
    assert len(chunks) == 3 and chunks[-1].finish_reason == "length"
    assert GenerationConfig(seq_len=20, max_new_tokens=50).resolve_max_new_tokens(100, 5) == 15
    assert GenerationConfig(max_new_tokens=50).resolve_max_new_tokens(30, 5) == 25
    assert GenerationConfig().resolve_max_new_tokens(30, 31) == 0


def ascii_program(text: str) -> FakeProgram:
    """A program that says ``text`` whatever it is asked."""
    import numpy as np

    data = text.encode()

    class Says(FakeMethod):
        def execute(self, inputs: object) -> list[object]:
            tokens, start = inputs  # type: ignore[misc]
            self.calls.append((tokens.shape[1], int(start[0])))
            logits = np.zeros((1, 260), np.float32)
            spoken = int(start[0]) + tokens.shape[1] - self.length
            logits[0, data[spoken] if spoken < len(data) else EOS] = 9
            return [logits]

        length = 2

    method = Says(FakeMeta((tokens_of(0, 64), start_input())))
    return FakeProgram({"forward": method}, {**METADATA, "get_max_context_len": 64, "get_max_seq_len": 64})


def say(text: str, **values: object) -> tuple[list[TextChunk], TextLLMRunner]:
    runner = TextLLMRunner(ascii_program(text), Bytes())
    return list(runner.stream("hi", config(**values))), runner


def test_stop_strings_end_the_answer() -> None:
    chunks, runner = say("Hello there. User: more", stop=("User:", "zzz"))
    assert "".join(chunk.text for chunk in chunks) == "Hello there. "
    assert chunks[-1].finish_reason == "stop"
    assert runner.position == 2 + len("Hello there. User:")


def test_text_that_only_looks_like_a_stop_comes_out() -> None:
    chunks, _ = say("a Us b Use", stop=("User:",))
    assert "".join(chunk.text for chunk in chunks) == "a Us b Use"
    assert chunks[-1].finish_reason == "eos"


def test_whole_characters_only() -> None:
    chunks, _ = say("né 漢 🙂!")
    assert "".join(chunk.text for chunk in chunks) == "né 漢 🙂!"
    assert "\ufffd" not in "".join(chunk.text for chunk in chunks)
    assert [chunk.text for chunk in chunks if chunk.text] == ["n", "é", " ", "漢", " ", "🙂", "!"]


def test_an_unfinished_character_at_the_end() -> None:
    chunks, _ = say("a🙂", max_new_tokens=3)
    assert "".join(chunk.text for chunk in chunks) == "a\ufffd"


def test_special_tokens_can_be_shown() -> None:
    chunks, _ = say("ok", ignore_eos=True, max_new_tokens=3)
    assert "".join(chunk.text for chunk in chunks) == "ok"
    chunks, _ = say("ok", ignore_eos=True, max_new_tokens=3, skip_special_tokens=False)
    assert "".join(chunk.text for chunk in chunks) == "ok</s>"


def test_stop_from_outside() -> None:
    runner = runner_of()
    chunks = []
    for chunk in runner.stream(PROMPT, config(ignore_eos=True)):
        chunks.append(chunk)
        if len(chunks) == 3:
            runner.stop()
    assert len(chunks) == 4 and chunks[-1].finish_reason == "cancelled"
    assert runner.position == 9 + 4


def test_a_stop_while_the_model_loads_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of()
    encode = runner.encode

    def slow(*args: object) -> list[int]:
        runner.stop()  # what a signal handler does meanwhile
        return encode(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "encode", slow)
    chunks = list(runner.stream(PROMPT, config(max_new_tokens=20)))
    assert chunks[-1].finish_reason == "cancelled"
    assert chunks[-1].generated_tokens == 1


def test_a_stream_left_early_keeps_what_was_read() -> None:
    runner = runner_of()
    stream = runner.stream(PROMPT, config(ignore_eos=True))
    next(stream), next(stream)
    runner.end_stream()
    assert runner.position == 11 and runner.stats.finish_reason == "cancelled"
    assert [chunk.token for chunk in runner.stream("?", config(max_new_tokens=2))] == greedy(
        [*PROMPT.encode(), *expected(2), ord("?")], 2
    )


def test_generate_is_called_as_executorch_s() -> None:
    runner = runner_of()
    pieces: list[str] = []
    told: list[object] = []
    text = runner.generate(PROMPT, config(max_new_tokens=5, echo=True), pieces.append, told.append)
    assert pieces[0] == PROMPT and "".join(pieces[1:]) == text
    assert told == [runner.stats]
    runner.reset()
    pieces.clear()
    runner.generate(PROMPT, config(max_new_tokens=5), pieces.append)
    assert "".join(pieces) == text


def test_begin_tokens() -> None:
    runner = runner_of()
    list(runner.stream("ab", config(num_bos=2, max_new_tokens=1)))
    assert list(runner.decoder.tokens)[:4] == [BOS, BOS, 97, 98]
    runner = TextLLMRunner(cached_program(), Bytes(), bos_id=5)
    list(runner.stream("ab", config(num_bos=1, max_new_tokens=1)))
    assert runner.decoder.tokens[0] == 5
    # A prompt of nothing but the begin token is a prompt.
    runner.reset()
    assert next(iter(runner.stream("", config(num_bos=1, max_new_tokens=1)))).token == greedy([5], 1)[0]


def test_prefill_and_rewind() -> None:
    runner = runner_of()
    runner.prefill(PROMPT)
    assert runner.position == 9
    runner.rewind(4)
    assert [chunk.token for chunk in runner.stream("x", config(max_new_tokens=2))] == greedy(list(b"Oncex"), 2)
    with pytest.raises(InvalidArgument, match="cannot rewind to 99"):
        runner.rewind(99)


def test_statistics() -> None:
    runner = runner_of()
    read(runner, max_new_tokens=4, seed=5)
    stats = runner.stats
    told = json.loads(stats.to_json_string())
    assert told["prompt_tokens"] == 9 and told["generated_tokens"] == 4
    assert told["finish_reason"] == "length" and told["seed"] == 5 and told["device"] == "numpy"
    assert told["peak_host_bytes"] > 2**20
    assert 0 < told["time_to_first_token_seconds"] <= told["inference_end_ms"] / 1000
    for name in ("model_load_start_ms", "model_load_end_ms", "inference_start_ms", "prompt_eval_end_ms"):
        assert told[name] > 0
    assert told["prompt_tokens_per_second"] > 0 and told["decode_tokens_per_second"] > 0
    text = stats.to_text()
    assert "prompt: 9 tokens" in text and "answer: 4 tokens" in text and "ended by length" in text and "seed 5" in text


def test_warm_up_leaves_no_trace() -> None:
    runner = runner_of()
    runner.warm_up(PROMPT, config())
    assert runner.position == 0
    assert [chunk.token for chunk in read(runner, max_new_tokens=3)] == expected(3)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": -1}, "temperature is -1"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_p": 0}, "top_p is 0"),
        ({"min_p": 2}, "min_p is 2"),
        ({"top_k": -3}, "top_k is -3"),
        ({"seed": -1}, "seed is -1"),
        ({"stop": ("",)}, "stop is"),
        ({"max_new_tokens": -2}, "max_new_tokens is -2"),
    ],
)
def test_settings_are_checked(values: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        GenerationConfig(**values)  # type: ignore[arg-type]


def test_metadata_can_be_given() -> None:
    program = FakeProgram({"forward": FakeMethod(FakeMeta((tokens_of(0, 7), start_input())))})
    runner = TextLLMRunner(program, Bytes(), max_context_len=12, eos_ids=[5])
    assert runner.context_length == 12 and runner.eos_ids == {5}
    assert TextLLMRunner(program, Bytes()).eos_ids == {EOS}
    with pytest.raises(InvalidArgument, match="unknown metadata 'bos'"):
        TextLLMRunner(program, Bytes(), bos=1)
