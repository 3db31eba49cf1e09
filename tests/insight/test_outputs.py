"""What is said of outputs, and saving them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.insight.outputs import describe_output, output_path, save_outputs


def test_a_tensor():
    got = describe_output(2, np.float32([[1, 5, 3], [9, 7, 8]]))
    assert got == {
        "name": "out2",
        "kind": "tensor",
        "dtype": "float32",
        "shape": [2, 3],
        "min": 1.0,
        "max": 9.0,
        "mean": 5.5,
        "argmax": [1, 0],
        "values": [1.0, 5.0, 3.0, 9.0, 7.0, 8.0],
    }


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float16", "int8"])
def test_every_dtype_fits_json(dtype):
    got = describe_output(0, np.array([0, 1, 1], dtype))
    assert json.loads(json.dumps(got, allow_nan=False))["argmax"] == 1
    assert got["mean"] == pytest.approx(2 / 3)


def test_what_json_has_no_number_for():
    got = describe_output(0, np.float32([np.nan, np.inf, 1]))
    json.dumps(got, allow_nan=False)
    assert got["values"] == ["nan", "inf", 1.0]
    assert (got["min"], got["max"], got["mean"]) == (1.0, "inf", "inf")
    assert describe_output(0, np.float32([np.nan]))["min"] is None


def test_values_end_at_a_thousand():
    got = describe_output(0, np.arange(2000))
    assert len(got["values"]) == 1000 and got["argmax"] == 1999


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_empty(shape):
    got = describe_output(0, np.empty(shape, np.float32))
    assert got["shape"] == list(shape) and got["values"] == [] and got["min"] is None


def test_rank_0_has_no_axis():
    got = describe_output(0, np.array(3.0))
    assert got["argmax"] is None and got["values"] == [3.0]


def test_scalars():
    assert describe_output(0, 3) == {"name": "out0", "kind": "int", "value": 3}
    assert describe_output(0, None) == {"name": "out0", "kind": "none", "value": None}
    assert describe_output(0, float("inf"))["value"] == "inf"


def test_saving(tmp_path):
    outputs = [np.float32([1, 2]), None, 5]
    save_outputs(tmp_path / "new" / "x.npz", outputs)
    with np.load(tmp_path / "new" / "x.npz") as saved:
        assert saved.files == ["out0", "out2"]
        np.testing.assert_array_equal(saved["out0"], outputs[0], strict=True)
    save_outputs(tmp_path / "folder", outputs)
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["out0.npy", "out2.npy"]
    assert np.load(tmp_path / "folder" / "out2.npy") == 5


def test_where_outputs_go(tmp_path):
    assert output_path("a/b.NPZ").name == "b.NPZ" and output_path("a/b").name == "b"
    (tmp_path / "folder.v2").mkdir()
    assert output_path(str(tmp_path / "folder.v2")) == tmp_path / "folder.v2"
    for text in ("x.txt", ""):
        with pytest.raises(InvalidArgument, match=r"(x\.txt|the empty path): outputs are written to"):
            output_path(text)


def test_lists(tmp_path):
    ragged = [np.float32([1, np.inf]), np.float32([2])]
    assert describe_output(0, ragged) == {"name": "out0", "kind": "list", "value": [[1.0, "inf"], [2.0]]}
    assert describe_output(0, [1.5, float("nan")])["value"] == [1.5, "nan"]
    with pytest.raises(InvalidArgument, match="out0 is a list of tensors of several shapes"):
        save_outputs(tmp_path / "x.npz", [ragged])
