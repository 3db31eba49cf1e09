"""What all commands have in common."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from executorch_webgpu.cli import app
from executorch_webgpu.version import __version__


def cli(root, *arguments, **options):
    return subprocess.run(
        [sys.executable, str(root / "cli.py"), *arguments], capture_output=True, text=True, timeout=120, **options
    )


def test_help_lists_every_command(command):
    done = command("--help")
    assert done.status == 0 and done.err == ""
    for name, text in app.COMMANDS.items():
        assert f"{name} " in done.out and text in done.out


@pytest.mark.parametrize("name", app.COMMANDS)
def test_every_command_has_help(command, name):
    done = command(name, "--help")
    assert done.status == 0
    assert done.out.startswith(f"Usage: executorch-webgpu {name} ") and "--verbose" in done.out


def test_help_imports_nothing_heavy(root):
    code = (
        "import sys; from executorch_webgpu.cli import main; main(['--help']); "
        "print([m for m in ('numpy', 'wgpu', 'flatbuffers') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stderr.strip() == "[]"


def test_help_is_fast(root):
    def cpu_seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert cli(root, "--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cpu_seconds() for _ in range(5)) < 0.3


@pytest.mark.parametrize("start", [["cli.py"], ["-m", "executorch_webgpu"]])
def test_ways_to_start(root, start):
    done = subprocess.run([sys.executable, *start, "--version"], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout == f"executorch-webgpu, version {__version__}\n"


def test_without_a_command_help_is_shown_and_the_usage_wrong(command):
    done = command()
    assert done.status == 2 and "Commands:" in done.err and done.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["run"],
        ["run", "x.pte", "--nonsense"],
        ["run", "x.pte", "--repeat", "0"],
        ["run", "x.pte", "--repeat", "many"],
        ["run", "x.pte", "--input-shapes", "1x"],
        ["run", "x.pte", "y.pte"],
        ["ops", "--kind", "gpu"],
        ["bench", "x.pte", "-p", "many"],
        ["bench-op", "relu"],
        ["bench-op", "relu", "--shape", "3", "--arg", "x"],
        ["bench-op", "relu", "--shape", "3", "--watch"],
        ["generate"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_status_2(command, arguments):
    done = command(*arguments)
    assert done.status == 2 and done.out == ""
    assert done.err.count("\n") == 1 and done.err.startswith("error: ")
    assert "--help" in done.err


def test_dashes_and_underscores_are_alike(command, digits):
    model = digits / "model.pte"
    for flag in ("--input-shapes", "--input_shapes"):
        done = command("run", model, flag, "1x1x16x16", "--device", "cpu")
        assert done.status == 0, done.err
    assert command("bench_op", "relu", "--shape", "3", "--device", "cpu", "-r", "1").status == 0


def test_verbose_adds_the_traceback(command):
    for arguments in (["--verbose", "run", "missing.pte"], ["run", "missing.pte", "--verbose"]):
        done = command(*arguments)
        assert done.status == 1
        assert "Traceback" in done.err and done.err.rstrip().endswith("error: missing.pte: no such file")


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (MemoryError(), 1, "error: out of memory\n"),
        (PermissionError(13, "Permission denied", "x.npz"), 1, "error: x.npz: Permission denied\n"),
        (ZeroDivisionError("two\nlines"), 1, "error: internal error: ZeroDivisionError: two lines; --verbose"),
    ],
    ids=["interrupt", "memory", "permission", "bug"],
)
def test_failures_are_one_line(command, monkeypatch, error, status, text):
    def fail():
        raise error

    monkeypatch.setattr("executorch_webgpu.insight.operators.operator_rows", fail)
    done = command("ops")
    assert done.status == status and done.out == ""
    line = done.err.removeprefix("\n")  # after Ctrl-C the terminal shows ^C
    assert line.startswith(text) and line.count("\n") == 1


def test_a_closed_pipe_is_quiet(root):
    process = subprocess.Popen(
        [sys.executable, str(root / "cli.py"), "ops"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=120)
    assert "Traceback" not in error and "BrokenPipe" not in error


def test_results_alone_are_on_stdout(root, digits):
    done = cli(root, "run", str(digits / "model.pte"), "--device", "cpu", "--json")
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout)["device"].startswith("cpu")


def test_a_closed_stdout_is_no_failure(root):
    done = subprocess.run(f"{sys.executable} {root / 'cli.py'} ops >&-", shell=True, capture_output=True, text=True)
    assert done.returncode == 0 and "error" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="writes to /dev/full")
def test_a_full_stdout_is_one_line(root):
    command = f"{sys.executable} {root / 'cli.py'} ops > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: standard output cannot be written")
