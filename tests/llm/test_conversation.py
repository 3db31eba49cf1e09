"""Conversations: only the new turn is given to the model, whatever the template does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import EOS, Bytes, cached_program

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm import ChatTemplate, Conversation, GenerationConfig, TextLLMRunner

SIMPLE = (
    "{% for m in messages %}{{ m.role[0] }}:{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}a:{% endif %}"
)
CHANGED = SIMPLE.replace("m.content", "'~' ~ m.content")
CONFIG = GenerationConfig(temperature=1.5, top_p=1.0, seed=1, max_new_tokens=6)


def conversation_of(template: str = SIMPLE, system: str | None = None, context: int = 400) -> Conversation:
    program = cached_program(500, get_max_context_len=context, get_max_seq_len=context)
    return Conversation(TextLLMRunner(program, Bytes()), ChatTemplate(template, "test"), system)


def ask(conversation: Conversation, text: str) -> str:
    return "".join(chunk.text for chunk in conversation.send(text, CONFIG))


def fed(conversation: Conversation) -> list[tuple[int, int]]:
    calls: list[tuple[int, int]] = conversation.runner.program.load_method("forward").calls  # type: ignore[attr-defined]
    return calls


def test_only_the_new_turn_is_prefilled() -> None:
    conversation = conversation_of()
    answer = ask(conversation, "hello")
    position = conversation.runner.position
    before = len(fed(conversation))
    ask(conversation, "again")
    # The answer's last token has not been fed yet; then "</s>u:again</s>a:".
    assert fed(conversation)[before] == (1 + 1 + 2 + 5 + 1 + 2, position - 1)
    assert conversation.runner.stats.num_prompt_tokens == 11
    assert [message["role"] for message in conversation.messages] == ["user", "assistant"] * 2
    assert conversation.messages[1]["content"] == answer


def test_the_text_is_what_the_template_says() -> None:
    conversation = conversation_of(system="be brief")
    for text in ("one", "two", "three"):
        ask(conversation, text)
    tokenizer = conversation.runner.tokenizer
    seen = tokenizer.decode(conversation.runner.decoder.tokens, skip_special=False)
    whole = conversation.template.render(conversation.messages, add_generation_prompt=False)
    assert whole.startswith("s:be brief</s>u:one</s>a:")
    assert seen.removesuffix("</s>") == whole.removesuffix("</s>")


def test_an_answer_that_the_template_changes_is_read_again() -> None:
    conversation = conversation_of(CHANGED)
    ask(conversation, "one")
    ask(conversation, "two")
    text = conversation.template.render(conversation.messages[:3])
    tokens = conversation.runner.tokenizer.encode_plain(text)
    assert list(conversation.runner.decoder.tokens)[: len(tokens)] == tokens


def test_an_answer_cut_short_stays_in_the_history() -> None:
    conversation = conversation_of()
    chunks = conversation.send("hello", CONFIG)
    first = next(chunks).text + next(chunks).text
    conversation.end_answer()
    assert conversation.messages[-1] == {"role": "assistant", "content": first}
    ask(conversation, "more")
    text = conversation.runner.tokenizer.decode(conversation.runner.decoder.tokens, skip_special=False)
    assert text.startswith("u:hello</s>a:")


def test_a_full_context_is_told_and_leaves_the_history() -> None:
    conversation = conversation_of(context=60)
    ask(conversation, "hello")
    messages = list(conversation.messages)
    with pytest.raises(InvalidArgument, match="the context holds 60"):
        conversation.send("x" * 60, CONFIG)
    assert conversation.messages == messages
    ask(conversation, "short")


def test_reset_and_system() -> None:
    conversation = conversation_of()
    first = ask(conversation, "hello")
    ask(conversation, "more")
    conversation.reset()
    assert conversation.messages == [] and conversation.runner.position == 0
    assert ask(conversation, "hello") == first
    conversation.set_system("Be kind.")
    assert conversation.messages == [{"role": "system", "content": "Be kind."}]


def test_save(tmp_path: Path) -> None:
    conversation = conversation_of()
    ask(conversation, "é")
    conversation.save(tmp_path / "talk.json")
    assert json.loads((tmp_path / "talk.json").read_text("utf-8")) == {"messages": conversation.messages}
    with pytest.raises(InvalidArgument, match="cannot write"):
        conversation.save(tmp_path / "missing" / "talk.json")


def test_end_of_text_is_not_doubled() -> None:
    conversation = conversation_of()
    config = GenerationConfig(temperature=9.0, top_p=1.0, seed=2, max_new_tokens=60)
    for turn in range(30):
        conversation.reset()
        chunks = list(conversation.send(f"turn {turn}", config))
        if chunks[-1].finish_reason == "eos":
            break
    else:
        pytest.fail("no answer ended by itself")
    assert chunks[-1].token == EOS
    ask(conversation, "next")
    text = conversation.runner.tokenizer.decode(conversation.runner.decoder.tokens, skip_special=False)
    assert text.count("</s>u:next") == 1 and "</s></s>" not in text
