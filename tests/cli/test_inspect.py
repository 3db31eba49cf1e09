"""The command inspect."""

from __future__ import annotations

import json

import flatbuffers
import pytest


def test_a_program_in_text(command, digits):
    done = command("inspect", digits / "model.pte")
    assert done.status == 0 and done.err == ""
    for text in (
        "an ExecuTorch program (.pte)",
        "in0: float32 [1, 1, 16, 16]",
        "out0: float32 [1, 10]",
        "delegate 0: VulkanBackend",
        "et_vk.conv_with_clamp.default",
    ):
        assert text in done.out
    assert "would not run" not in done.out and "on the CPU" not in done.out


def test_a_language_model_in_json(command, storyteller):
    done = command("inspect", storyteller / "model.pte", "--json")
    told = json.loads(done.out)
    assert told["kind"] == "pte" and told["problems"] == []
    first, *others = told["methods"]
    assert first["name"] == "forward"
    assert first["inputs"][0] == {
        "kind": "tensor",
        "dtype": "int64",
        "shape": [1, 511],
        "bound": "upper",
        "value": None,
    }
    (delegate,) = first["delegates"]
    assert delegate["operators"]["sdpa_with_kv_cache.default"] == 6
    assert set(delegate["weights"]) == {"uint8", "float32"}
    assert delegate["state"] == 2 * 6 * 512 * 4 * 32 * 4  # keys and values, layers, context, heads, size, float32
    assert delegate["memory"] > 0
    assert {m["name"]: m["outputs"][0]["value"] for m in others}["get_vocab_size"] == 4096


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        (b"hello\n", "other", "a text file"),
        (b"", "other", "an empty file"),
        (b"GGUF" + bytes(64), "other", "a GGUF model"),
        (b"\x08\x07\x12\x07pytorch" + bytes(64), "other", "an ONNX model"),
        (b"PK\x03\x04" + bytes(64), "other", "PyTorch"),
    ],
    ids=["text", "empty", "gguf", "onnx", "zip"],
)
def test_what_a_file_is(command, tmp_path, content, kind, expected):
    path = tmp_path / "x"
    path.write_bytes(content)
    told = json.loads(command("inspect", path, "--json").out)
    assert told["kind"] == kind and expected in told["description"] and told["nbytes"] == len(content)
    assert expected in command("inspect", path).out


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("foreign", "needs the backend XnnpackBackend"),
        ("missing", "aten::special_zeta.out (float32)"),
        ("dropped_state", "alias_buffer_mutations"),
    ],
)
def test_what_would_not_run(command, root, name, expected):
    path = root / "tests" / "fixtures" / "plan" / f"{name}.pte"
    done = command("inspect", path)
    assert done.status == 0
    (line,) = [line for line in done.out.splitlines() if line.startswith("would not run: ")]
    assert expected in line
    assert expected in json.loads(command("inspect", path, "--json").out)["problems"][0]


def test_what_was_left_on_the_cpu(command, root):
    path = root / "tests" / "fixtures" / "plan" / "two_delegates.pte"
    (method,) = json.loads(command("inspect", path, "--json").out)["methods"]
    assert len(method["delegates"]) == 2
    (kernel,) = method["kernels"]
    assert (kernel["name"], kernel["calls"], kernel["supported"]) == ("aten::topk.values", 1, True)
    assert kernel["reason"] == "topk is not delegated"
    assert "topk is not delegated" in command("inspect", path).out


def test_inputs_that_are_no_tensors(command, root):
    out = command("inspect", root / "tests" / "fixtures" / "plan" / "scalars.pte").out
    for text in ("in1: int 3", "in2: float 0.5", "in3: bool True", "in4: int, any"):
        assert text in out


def test_a_bundled_program(command, digits, tmp_path):
    builder = flatbuffers.Builder()
    program = builder.CreateByteVector((digits / "model.pte").read_bytes())
    builder.StartObject(3)  # version, method_test_suites, program
    builder.PrependUOffsetTRelativeSlot(2, program, 0)
    builder.Finish(builder.EndObject(), b"BP08")
    path = tmp_path / "x.bpte"
    path.write_bytes(bytes(builder.Output()))
    told = json.loads(command("inspect", path, "--json").out)
    assert told["kind"] == "bpte" and [method["name"] for method in told["methods"]] == ["forward"]
    assert command("run", path, "--device", "cpu").status == 0


@pytest.mark.parametrize("size", [20, 1000, 100_000])
def test_a_truncated_program(command, digits, tmp_path, size):
    path = tmp_path / "x.pte"
    path.write_bytes((digits / "model.pte").read_bytes()[:size])
    done = command("inspect", path)
    assert done.status == 1 and done.out == "" and done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["missing.pte", "."])
def test_nothing_to_inspect(command, name):
    done = command("inspect", name)
    assert done.status == 1 and done.err.count("\n") == 1
