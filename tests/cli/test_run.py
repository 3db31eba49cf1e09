"""The command run."""

from __future__ import annotations

import json

import numpy as np
import pytest

DIGITS = (0, 2, 3, 7, 9)


@pytest.fixture
def model(digits):
    return digits / "model.pte"


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_the_digits_are_read(command, digits, model, device):
    for index, digit in enumerate(DIGITS):
        done = command("run", model, "--input", digits / f"digit_{digit}.npy", "--json", "--device", device)
        assert done.status == 0, done.err
        (output,) = json.loads(done.out)["outputs"]
        assert output["argmax"] == [digit]
        assert (output["name"], output["dtype"], output["shape"]) == ("out0", "float32", [1, 10])
        with np.load(digits / "golden.npz") as golden:
            expected = golden[f"logits_{index}"].reshape(-1)
        np.testing.assert_allclose(output["values"], expected, atol=1e-4)
        assert output["min"] == min(output["values"]) and output["max"] == max(output["values"])
        assert output["mean"] == pytest.approx(np.mean(output["values"]), rel=1e-5)


def test_an_image_is_an_input(command, digits, model):
    done = command("run", model, "--input", digits / "digit_7.png", "--json", "--device", "cpu")
    assert json.loads(done.out)["outputs"][0]["argmax"] == [7]


def test_text_output(command, digits, model):
    done = command("run", model, "--input", f"in0={digits / 'digit_3.npy'}", "--device", "cpu")
    assert done.status == 0
    (first,) = done.out.splitlines()
    device, time = done.err.splitlines()
    assert first.startswith("out0: float32 [1, 10]  ") and "argmax 3" in first and first.endswith(" ...]")
    assert device == "device: cpu"
    assert time.startswith("time: ") and time.endswith("with loading")


def test_repeat(command, model):
    done = command("run", model, "--repeat", "3", "--json", "--device", "cpu")
    assert len(json.loads(done.out)["seconds"]) == 3
    assert "median of 2" in command("run", model, "--repeat", "3", "--device", "cpu").err


def test_outputs_are_saved(command, digits, model, tmp_path):
    image = digits / "digit_2.npy"
    for target in (tmp_path / "x.npz", tmp_path / "folder"):
        assert command("run", model, "--input", image, "--device", "cpu", "--output", target).status == 0
    with np.load(tmp_path / "x.npz") as saved:
        archived = saved["out0"]
    np.testing.assert_array_equal(archived, np.load(tmp_path / "folder" / "out0.npy"), strict=True)
    assert archived.shape == (1, 10) and archived.argmax() == 2


def test_a_constant_method(command, storyteller):
    done = command("run", storyteller / "model.pte", "--method", "get_vocab_size", "--json", "--device", "cpu")
    assert json.loads(done.out)["outputs"] == [{"name": "out0", "kind": "int", "value": 4096}]


def test_several_inputs_and_a_dynamic_shape(command, storyteller):
    tokens = [1, 400, 500]
    done = command(
        "run", storyteller / "model.pte", "--input", json.dumps([tokens]), "--input", "[0]", "--json", "--device", "cpu"
    )
    (output,) = json.loads(done.out)["outputs"]
    assert output["shape"] == [1, 4096] and len(output["values"]) == 1000
    shaped = command("run", storyteller / "model.pte", "--input-shapes", "1x3", "--input", "in1=0", "--device", "cpu")
    assert shaped.status == 0, shaped.err


def failing(command, *arguments, status=1):
    done = command("run", *arguments)
    assert done.status == status and done.out == ""
    assert done.err.startswith("error: ") and done.err.count("\n") == 1, done.err
    return done.err


@pytest.mark.parametrize("device", ["cpu", "auto"])
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a text\n", "is a text file; expected an ExecuTorch program"),
        (b"", "is empty"),
        (b"\x20\0\0\0FT01" + bytes(64), "pass it as external data (--data)"),
        (b"GGUF" + bytes(64), "is a GGUF model"),
        (b"PK\x03\x04" + bytes(64), "zip"),
        (bytes(range(256)), "of no known format"),
    ],
    ids=["text", "empty", "ptd", "gguf", "zip", "bytes"],
)
def test_something_else_than_a_program(command, tmp_path, content, expected, device):
    path = tmp_path / "model.pte"
    path.write_bytes(content)
    error = failing(command, path, "--device", device)
    assert str(path) in error and expected in error


@pytest.mark.parametrize("part", [9, 40, 1000, 100_000, 159_015])
def test_a_truncated_program(command, tmp_path, model, part):
    path = tmp_path / "model.pte"
    path.write_bytes(model.read_bytes()[:part])
    assert str(path) in failing(command, path)


def test_a_missing_file(command):
    assert "nowhere.pte: no such file" in failing(command, "nowhere.pte")


def test_a_folder(command, digits):
    assert "folder" in failing(command, digits)


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("--input", "image=ones"), 1, "no input 'image' (image=ones): inputs are named in0, in1"),
        (("--input", "ones", "--input", "ones"), 1, "takes 1 input"),
        (("--input-shapes", " "), 2, "--input-shapes"),
        (("--output", ""), 1, "the empty path"),
        (("--output", "x.txt"), 1, "x.txt: outputs are written to an .npz file or a folder"),
    ],
)
def test_wrong_options(command, model, arguments, status, expected):
    assert expected in failing(command, model, *arguments, status=status)


def test_an_output_of_nans(command, model, tmp_path):
    np.save(tmp_path / "x.npy", np.full((1, 1, 16, 16), np.nan, np.float32))
    done = command("run", model, "--input", tmp_path / "x.npy", "--device", "cpu")
    assert "all NaN" in done.out and "argmax" not in done.out


def test_a_wrong_shape(command, model):
    error = failing(command, model, "--input", "ones", "--input-shapes", "1x1x16x15")
    assert "input 0" in error and "[1, 1, 16, 15]" in error and "[1, 1, 16, 16]" in error


def test_a_wrong_dtype(command, model, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 1, 16, 16)))
    error = failing(command, model, "--input", tmp_path / "x.npy")
    assert "input 0" in error and "float32" in error and "float64" in error


def test_an_unknown_method(command, model):
    error = failing(command, model, "--method", "backward")
    assert "'backward'" in error and "forward" in error


def test_an_unknown_device(command, model):
    assert "device" in failing(command, model, "--device", "no such adapter")


def test_too_many_inputs(command, model):
    assert "there is no input 1" in failing(command, model, "--input", "ones", "--input", "ones")


def test_an_output_that_cannot_be_written(command, model, tmp_path):
    (tmp_path / "file").write_text("")
    assert "file" in failing(command, model, "--device", "cpu", "--output", tmp_path / "file" / "x.npz")


def test_external_weights_of_another_kind(command, model, digits):
    assert "golden.npz" in failing(command, model, "--data", digits / "golden.npz")
