"""The command chat, spoken to through a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures" / "llm"
TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    (tmp_path / "t.jinja").write_text(TEMPLATE)
    return [
        *(str(FIXTURES / "dynamic.pte"), "--tokenizer_path", str(FIXTURES / "byte_level.json"), "--device", "cpu"),
        *("--chat-template", str(tmp_path / "t.jinja"), "--temperature", "0", "--max-new-tokens", "4", "--ignore-eos"),
    ]


def talk(arguments: list[str], *lines: str) -> tuple[int, list[str], str]:
    command = [sys.executable, "-m", "executorch_webgpu", "chat", *arguments]
    text = "".join(f"{line}\n" for line in lines).encode()
    done = subprocess.run(command, input=text, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout.decode("utf-8").splitlines(), done.stderr.decode("utf-8")


def test_a_conversation(arguments: list[str], tmp_path: Path) -> None:
    saved = tmp_path / "talk.json"
    status, answers, errors = talk(
        arguments, "Once", "", "upon", f"/save {saved}", "/reset", "Once", "/exit", "never read"
    )
    assert status == 0, errors
    assert len(answers) == 3 and answers[0] == answers[2]
    messages = json.loads(saved.read_text("utf-8"))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert [message["content"] for message in messages[1::2]] == answers[:2]
    assert "saved to" in errors and "begins anew" in errors


def test_commands(arguments: list[str]) -> None:
    status, answers, errors = talk(arguments, "/system Be kind.", "/system", "/what", "/help", "/save")
    assert status == 0 and answers == []
    assert errors.count("system: Be kind.") == 2 and "/what: not understood" in errors and "/reset" in errors


def test_a_turn_that_fails_does_not_end_it(arguments: list[str]) -> None:
    status, answers, errors = talk(arguments, "long " * 60, "Once")
    assert status == 0 and len(answers) == 1
    assert "error: the conversation has" in errors and "Traceback" not in errors


def test_statistics_where_asked_for(arguments: list[str]) -> None:
    status, _, errors = talk([*arguments, "--stats", "json"], "Once", "upon")
    told = [json.loads(line) for line in errors.splitlines()]
    assert status == 0 and [entry["generated_tokens"] for entry in told] == [4, 4]
    # Of the second turn only what is new is read.
    assert told[1]["prompt_tokens"] < 6


def test_no_template_is_one_line() -> None:
    status, answers, errors = talk(
        [str(FIXTURES / "dynamic.pte"), "--tokenizer", str(FIXTURES / "byte_level.json"), "--device", "cpu"], "hello"
    )
    assert status == 1 and answers == [] and errors.count("\n") == 1 and "no chat template" in errors
