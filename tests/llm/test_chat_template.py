"""Chat templates: where they come from, what they may do."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from executorch_webgpu.errors import InvalidArgument, MissingExtra, NotFound
from executorch_webgpu.llm import ChatTemplate, load_chat_template, load_tokenizer

FIXTURES = Path(__file__).parent.parent / "fixtures" / "llm"
CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
USER = [{"role": "user", "content": "Hi"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(FIXTURES / "byte_level.json", tmp_path / "tokenizer.json")
    return tmp_path


def render(path: Path, template: Path | None = None) -> str:
    return load_chat_template(load_tokenizer(path), path, template).render(USER)


def test_chatml() -> None:
    template = ChatTemplate(CHATML, "test")
    assert template.render(USER) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert template.render(USER, add_generation_prompt=False) == "<|im_start|>user\nHi<|im_end|>\n"


def test_file_beside_the_tokenizer(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("A {{ messages[0].content }}")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "B"}))
    assert render(folder / "tokenizer.json") == render(folder) == "A Hi"


def test_prefixed_file(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "small.tokenizer.json")
    (folder / "small.chat_template.jinja").write_text("C {{ messages[0].content }}")
    assert render(folder / "small.tokenizer.json") == "C Hi"


def test_entry_of_the_config(folder: Path) -> None:
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": "{{ bos_token }}D{{ eos_token }}", "bos_token": "<|user|>"}))
    assert render(folder) == "<|user|>D</s>"
    named = [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "E"}]
    config.write_text(json.dumps({"chat_template": named}))
    assert render(folder) == "E"


def test_given_file(folder: Path) -> None:
    (folder / "mine.jinja").write_text("F")
    assert render(folder, folder / "mine.jinja") == "F"
    (folder / "mine.json").write_text(json.dumps({"chat_template": "G"}))
    assert render(folder, folder / "mine.json") == "G"
    (folder / "mine.json").write_text("{}")
    with pytest.raises(NotFound, match="no chat_template in it"):
        render(folder, folder / "mine.json")
    with pytest.raises(NotFound, match="cannot read the chat template"):
        render(folder, folder / "none.jinja")


def test_none_says_where_it_was_looked_for(folder: Path) -> None:
    with pytest.raises(NotFound, match=r"chat_template.jinja, tokenizer_config.json beside the tokenizer"):
        render(folder)


def test_llama3_is_built_in_for_tiktoken() -> None:
    path = FIXTURES / "ranks.tiktoken"
    assert render(path) == (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_blocks_leave_no_blank_lines() -> None:
    text = "{% for message in messages %}\n    {% if true %}\nx{{ message.content }}\n    {% endif %}\n{% endfor %}\n"
    assert ChatTemplate(text, "test").render(USER) == "xHi\n"


def test_helpers_of_hugging_face() -> None:
    assert ChatTemplate("{{ {'a': '<é>'} | tojson }}", "test").render(USER) == '{"a": "<é>"}'
    assert ChatTemplate("{{ strftime_now('%Y') | length }}", "test").render(USER) == "4"
    assert ChatTemplate("{% for m in messages %}{% break %}{% endfor %}ok", "test").render(USER) == "ok"
    with pytest.raises(InvalidArgument, match="the chat template refuses: only one turn"):
        ChatTemplate("{{ raise_exception('only one turn') }}", "test").render(USER)


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__.__mro__ }}{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{% for i in range(10**9) %}{% endfor %}",
        "{{ messages[7].content.x }}",
    ],
)
def test_the_sandbox_holds(source: str) -> None:
    with pytest.raises(InvalidArgument, match=r"my.jinja: the chat template fails"):
        ChatTemplate(source, "my.jinja").render(USER)


def test_a_broken_template_is_told() -> None:
    with pytest.raises(InvalidArgument, match=r"my.jinja: not a Jinja template"):
        ChatTemplate("{% if %}", "my.jinja")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2.sandbox", None)
    with pytest.raises(MissingExtra, match="needed for chat templates"):
        ChatTemplate("x", "test")
