"""The commands bench and bench-op."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import executorch_webgpu


def test_a_program(command, digits):
    done = command("bench", digits / "model.pte", "-r", "4", "--device", "cpu", "--output", "json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["method"] == "forward" and told["device"] == "cpu" and len(told["later_seconds"]) == 4
    assert told["p50_seconds"] <= told["p90_seconds"] <= told["p99_seconds"] <= max(told["later_seconds"])
    assert told["read_seconds"] > 0 and told["first_call_seconds"] > 0
    assert told["weight_bytes"] == {"float32": 153128}
    assert told["weight_bytes_per_second"]["float32"] == pytest.approx(153128 / told["p50_seconds"])


def test_a_program_as_markdown(command, digits):
    done = command("bench", digits / "model.pte", "-r", "2", "--device", "cpu")
    lines = done.out.splitlines()
    assert lines[0] == "| figure | forward, 2 calls |" and lines[1] == "| --- | --- |"
    assert all(line.startswith("| ") and line.endswith(" |") for line in lines)


def test_a_language_model(command, storyteller):
    done = command(
        "bench", storyteller / "model.pte", "-p", "4,6", "-n", "3", "-d", "0,2", "-r", "2", "--device", "cpu",
        "--output", "json",
    )  # fmt: skip
    assert done.status == 0, done.err
    told = json.loads(done.out)
    names = ["pp4", "pp6", "tg3", "pp4 @ d2", "pp6 @ d2", "tg3 @ d2"]
    assert [row["test"] for row in told] == names
    assert [(row["n_prompt"], row["n_gen"], row["n_depth"]) for row in told][-2:] == [(6, 0, 2), (0, 3, 2)]
    for row in told:
        assert len(row["samples_ts"]) == 2
        assert row["avg_ts"] == pytest.approx(sum(row["samples_ts"]) / 2)
        tokens = row["n_prompt"] or row["n_gen"]
        assert row["samples_ts"][0] == pytest.approx(tokens / (row["samples_ns"][0] * 1e-9), rel=1e-3)


def test_a_language_model_as_markdown(command, storyteller):
    done = command("bench", storyteller / "model.pte", "-p", "2", "-n", "0", "-r", "1", "--device", "cpu")
    header, rule, row = done.out.splitlines()
    assert header == "| model | size | device | test | t/s |" and rule.startswith("| ---")
    assert " | pp2 | " in row and "± 0.00" in row


def test_a_test_that_does_not_fit_the_context(command, storyteller):
    done = command("bench", storyteller / "model.pte", "-p", "500", "-d", "100", "--device", "cpu")
    assert done.status == 1 and "pp500 @ d100 needs a context of 601 tokens; the model has 512" in done.err


def op(command, *arguments):
    done = command("bench-op", *arguments, "-r", "2", "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize(
    ("name", "shape", "error"),
    [
        ("linear_q4gsw", "2x64x24", 1e-5),
        ("linear_dq8ca_q4gsw", "2x64x24", 2e-3),
        ("embedding_q4gsw", "5x100x64", 1e-6),
        ("sdpa_with_kv_cache", "3x4x2x8x16", 1e-5),
        ("et_vk.apply_rotary_emb.default", "3x4x2x8", 1e-6),
        ("rms_norm", "3x40", 1e-5),
        ("aten.linear.default", "3x20x7", 1e-5),
        ("aten.mm.default", "3x20x7", 1e-5),
        ("aten.bmm.default", "2x3x20x7", 1e-5),
        ("aten.add.Tensor", "3x7,7", 1e-6),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_an_operator(command, name, shape, error, device):
    told = op(command, name, "--shape", shape, "--device", device)
    assert len(told["seconds"]) == 2 and told["median"] > 0
    assert told["largest_error"] <= error and told["largest_value"] > 0
    assert told["bytes_per_second"] == pytest.approx(told["bytes"] / told["median"])


def test_operations_are_counted(command):
    told = op(command, "linear_q4gsw", "--shape", "2x64x24", "--device", "cpu")
    assert told["operations"] == 2 * 2 * 64 * 24
    assert told["bytes"] == 4 * 2 * 64 + 24 * 32 + 4 * 2 * 24 + 4 * 2 * 24


def test_arguments_by_name(command):
    told = op(command, "aten._softmax.default", "--shape", "3x5", "--arg", "dim=-1", "--device", "cpu")
    assert told["largest_value"] < 1


def test_text(command):
    done = command("bench-op", "relu", "--shape", "8", "-r", "1", "--device", "cpu", "--dtype", "float16")
    assert done.out.startswith("aten.relu.default on cpu") and "error    0 at most" in done.out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense", "--shape", "3"], "no delegated operator is named 'nonsense'"),
        (["linear_q4", "--shape", "3"], "did you mean et_vk.linear"),
        (["linear_q4gsw", "--shape", "3x4"], "does not have the form MxKxN"),
        (["linear_q4gsw", "--shape", "3x40x8"], "not a multiple of the group size 32"),
        (["relu", "--shape", "3,3"], "takes 1 tensor; given 2 shapes"),
        (["relu", "--shape", "3", "--dtype", "float8"], "dtype 'float8' is not one of"),
        (["relu", "--shape", "3", "--arg", "y=1"], "has no argument y"),
        (["aten._softmax.default", "--shape", "3"], "--arg dim=VALUE"),
        (["aten._softmax.default", "--shape", "3", "--arg", "dim=[1"], "is not a literal"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_operators_that_cannot_be_timed(command, arguments, expected):
    done = command("bench-op", *arguments, "--device", "cpu")
    assert done.status == 1 and done.err.count("\n") == 1 and expected in done.err


@pytest.fixture
def shaders(tmp_path, monkeypatch):
    """A copy of the package's shaders that is read instead."""
    package = Path(executorch_webgpu.__file__).parent / "ops"
    for path in package.rglob("*.wgsl"):
        target = tmp_path / path.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    monkeypatch.setenv("EXECUTORCH_WEBGPU_SHADERS", str(tmp_path))
    return tmp_path


def test_shaders_are_read_from_a_folder(command, shaders):
    arguments = ("aten.add.Tensor", "--shape", "16,16", "--device", "auto")
    told = op(command, *arguments)
    if not told["kernels"]:
        pytest.skip("no adapter")
    (kernel,) = told["kernels"]
    (shaders / kernel).write_text("not a shader")
    done = command("bench-op", *arguments)
    assert done.status == 1 and done.err.count("\n") == 1


def test_watch_measures_again_after_a_change(root, shaders):
    arguments = ["bench-op", "relu", "--shape", "8", "-r", "1", "--device", "cpu", "--watch"]
    process = subprocess.Popen(
        [sys.executable, "-u", str(root / "cli.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        for turn in range(2):
            for line in process.stdout:
                if line.startswith("  error"):
                    break
            assert process.stderr.readline().startswith("waiting for a change")
            os.utime(shaders / "common" / "grid.wgsl", (turn, turn))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.communicate()
