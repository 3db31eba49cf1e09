"""The command generate, on an exported program and on the CPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures" / "llm"
MODEL = [str(FIXTURES / "dynamic.pte"), "--tokenizer", str(FIXTURES / "byte_level.json"), "--device", "cpu"]
GREEDY = ["--temperature", "0", "--max-new-tokens", "8", "--ignore-eos"]


def start(arguments: Sequence[str], **more: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "executorch_webgpu", "generate", *arguments]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    process = start(arguments)
    output, errors = process.communicate(stdin, timeout=120)
    return process.returncode, output.decode("utf-8"), errors.decode("utf-8")


@pytest.fixture(scope="module")
def greedy() -> str:
    status, output, errors = run(*MODEL, *GREEDY, "--prompt", "Once upon")
    assert status == 0, errors
    assert output.endswith("\n") and "prompt: " in errors and "answer: 8 tokens" in errors
    return output


def test_nothing_but_text_on_stdout(greedy: str) -> None:
    status, output, errors = run(*MODEL, *GREEDY, "--prompt", "Once upon", "--stats", "none")
    assert (status, output, errors) == (0, greedy, "")


def test_executorch_s_spellings(greedy: str) -> None:
    status, output, _ = run(
        f"--model_path={FIXTURES / 'dynamic.pte'}",
        f"--tokenizer_path={FIXTURES / 'byte_level.json'}",
        "--prompt=Once upon",
        "--temperature=0",
        "--max_new_tokens=8",
        "--num_bos=0",
        "--ignore_eos=true",
        "--warmup=false",
        "--device=cpu",
        "--cpu_threads=4",
    )
    assert (status, output) == (0, greedy)


def test_prompt_from_a_file_or_stdin(greedy: str, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_bytes(b"Once upon\n")
    assert run(*MODEL, *GREEDY, "--prompt-file", str(tmp_path / "prompt.txt"))[:2] == (0, greedy)
    assert run(*MODEL, *GREEDY, "--prompt-file", "-", stdin=b"Once upon")[:2] == (0, greedy)


def test_seeds() -> None:
    def text(seed: int) -> str:
        arguments = [*MODEL, "--prompt-file", "-", "--seed", str(seed), "--max-new-tokens", "20", "--ignore-eos"]
        status, output, errors = run(*arguments, "--temperature", "2", "--top-p", "1", stdin=b"Once")
        assert status == 0 and f"seed {seed}" in errors
        return output

    assert text(7) == text(7) != text(8)


def test_echo_and_stop(greedy: str) -> None:
    assert run(*MODEL, *GREEDY, "--prompt", "Once upon", "--echo")[1] == "Once upon" + greedy
    stop = greedy[2:4]
    status, output, errors = run(*MODEL, *GREEDY, "--prompt", "Once upon", "--stop", stop, "--stop", "never")
    assert (
        status == 0 and output.rstrip("\n") == greedy[: greedy.index(stop)].rstrip("\n") and "ended by stop" in errors
    )


def test_statistics_as_json() -> None:
    status, _, errors = run(*MODEL, *GREEDY, "--prompt", "Once upon", "--stats", "json", "--warmup")
    told = json.loads(errors.strip().splitlines()[-1])
    assert status == 0 and told["generated_tokens"] == 8 and told["finish_reason"] == "length"
    assert told["device"] == "cpu" and told["load_seconds"] > 0 and told["peak_host_bytes"] > 0


def test_the_context_is_the_limit() -> None:
    status, _, errors = run(*MODEL, "--prompt", "Once", "--max-new-tokens", "1000", "--ignore-eos")
    assert status == 0 and "ended by context" in errors


def test_a_prompt_that_does_not_fit_is_one_line() -> None:
    status, output, errors = run(*MODEL, "--prompt", "Once upon a time " * 20)
    assert status == 1 and output == ""
    assert errors.count("\n") == 1 and "the context of 48" in errors


def test_chat_templates(tmp_path: Path) -> None:
    template = tmp_path / "t.jinja"
    template.write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    chat = ["--chat-template", str(template)]
    plain = run(*MODEL, *GREEDY, "--prompt", "Once upon")[1]
    assert run(*MODEL, *GREEDY, "--prompt", " upon", "--system", "Once", *chat)[1] == plain
    assert run(*MODEL, *GREEDY, "--prompt", "Once upon", "--no-chat", "--system", "x", *chat)[1] == plain
    status, _, errors = run(*MODEL, *GREEDY, "--prompt", "x", "--chat")
    assert status == 1 and "no chat template" in errors and "--chat-template" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "MODEL"),
        (MODEL, "--prompt TEXT or --prompt-file"),
        ([*MODEL, "--prompt", "a", "--prompt-file", "b"], "--prompt TEXT or --prompt-file"),
        ([*MODEL, "--prompt", "a", "--top-p", "2"], "top-p"),
        ([*MODEL, "--prompt", "a", "--temperature", "hot"], "temperature"),
        ([*MODEL, "--prompt", "a", "--temperature", "nan"], "temperature"),
        ([*MODEL, "--prompt", "a", "--repetition-penalty", "inf"], "repetition-penalty"),
        ([MODEL[0], "--prompt", "a"], "--tokenizer"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str) -> None:
    status, output, errors = run(*arguments)
    assert status == 2 and output == "" and message in errors and "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.pte", *MODEL[1:], "--prompt", "a"], "none.pte"),
        ([MODEL[0], "--tokenizer", "none.json", "--prompt", "a"], "none.json"),
        ([MODEL[0], "--tokenizer", MODEL[0], "--prompt", "a"], "no known kind of tokenizer"),
        ([*MODEL, "--prompt-file", "none.txt"], "none.txt"),
        ([*MODEL, "--prompt", ""], "prompt is empty"),
        ([*MODEL, "--prompt", "a", "--method", "nothing"], "no method 'nothing'"),
        ([*MODEL, "--prompt", "a", "--device", "no such card"], "no such card"),
    ],
)
def test_failures_are_one_line(arguments: list[str], message: str) -> None:
    status, output, errors = run(*arguments)
    assert status == 1 and output == "" and message in errors
    assert errors.count("\n") == 1 and "Traceback" not in errors


def test_assumptions_are_told() -> None:
    status, _, errors = run(MODEL[0], "--tokenizer", str(FIXTURES / "ranks.tiktoken"), "--device", "cpu", *GREEDY,
                            "--prompt", "Once")  # fmt: skip
    assert status == 0 and "note: a tiktoken file holds ranks only: assuming Llama 3's" in errors
    assert "--num-bos 1" in errors


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_the_text_with_statistics() -> None:
    arguments = [
        str(FIXTURES / "number.pte"),
        *MODEL[1:],
        "--max-context-len",
        "48",
        "--prompt",
        "Once",
        "--ignore-eos",
    ]
    process = start([*arguments, "--temperature", "3"], bufsize=0)
    assert process.stdout is not None
    process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    text = errors.decode()
    if "ended by context" in text:
        pytest.skip("the text was quicker than the signal")
    assert process.returncode == 130 and "ended by cancelled" in text and "Traceback" not in text


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_while_loading() -> None:
    process = start([*MODEL, "--prompt-file", "-"])
    time.sleep(1.0)  # it waits for its prompt
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in errors


def test_a_reader_that_leaves_is_no_error() -> None:
    with start([*MODEL, "--prompt", "Once", "--ignore-eos", "--temperature", "3"]) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(60) == 0
    assert b"Traceback" not in errors and b"Error" not in errors
