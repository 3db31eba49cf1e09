"""Inputs from what a person writes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidArgument, NotFound, OutOfResources
from executorch_webgpu.format.plan import Dynamism
from executorch_webgpu.insight.inputs import make_inputs
from tests.insight.metas import meta, tensor


def test_ones_where_nothing_is_given():
    a, b = make_inputs(meta(tensor(2, 3), tensor(4, dtype="int64")))
    np.testing.assert_array_equal(a, np.ones((2, 3), np.float32), strict=True)
    np.testing.assert_array_equal(b, np.ones(4, np.int64), strict=True)


def test_zeros_and_shapes_by_position():
    a, b = make_inputs(meta(tensor(2, 3), tensor(4)), ["zeros"], [None, (2,)])
    assert a.shape == (2, 3) and not a.any()
    assert b.shape == (2,) and b.all()


def test_random_depends_on_its_seed_alone():
    given = meta(tensor(50), tensor(50), tensor(50), tensor(50, dtype="int32"))
    a, b, c, d = make_inputs(given, ["random", "random:0", "random:1", "random:3"])
    np.testing.assert_array_equal(a, b)
    assert (a != c).any() and a.dtype == np.float32
    assert a.min() >= 0 and a.max() < 1
    assert set(d.tolist()) == {0, 1} and d.dtype == np.int32


def test_random_fits_bool_and_half():
    a, b = make_inputs(meta(tensor(64, dtype="bool"), tensor(64, dtype="float16")), ["random", "random"])
    assert a.dtype == np.bool_ and 0 < a.sum() < 64
    assert b.dtype == np.float16


def test_a_name_leaves_the_places_of_the_others():
    a, b, c = make_inputs(meta(tensor(1), tensor(1), tensor(1)), ["in1=[5]", "[4]", "[6]"])
    assert [a[0], b[0], c[0]] == [4, 5, 6]


@pytest.mark.parametrize("texts", [["in1=ones"], ["ones", "ones"]])
def test_there_is_no_such_input(texts):
    with pytest.raises(InvalidArgument, match="there is no input 1"):
        make_inputs(meta(tensor(1)), texts)


def test_an_input_given_twice():
    with pytest.raises(InvalidArgument, match="input 0 is given twice"):
        make_inputs(meta(tensor(1), tensor(1)), ["in0=ones", "in0=zeros"])


def test_too_many_shapes():
    with pytest.raises(InvalidArgument, match="2 input shapes"):
        make_inputs(meta(tensor(1)), [], [(1,), (1,)])


# Literals.


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("[[1, 2]]", "float32", [[1.0, 2.0]]),
        ("[[0.1, 2]]", "float32", [[np.float32(0.1), 2.0]]),
        ("[[1, 2]]", "int64", [[1, 2]]),
        ("[[-128, 127]]", "int8", [[-128, 127]]),
        ("[[true, false]]", "bool", [[True, False]]),
        ("[[NaN, Infinity]]", "float32", [[np.nan, np.inf]]),
    ],
)
def test_literals(text, dtype, value):
    (got,) = make_inputs(meta(tensor(1, 2, dtype=dtype)), [text])
    np.testing.assert_array_equal(got, np.array(value, dtype), strict=True)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("[1.5]", "int64"),
        ("[1.0]", "int64"),
        ("[true]", "int32"),
        ("[1]", "bool"),
        ("[128]", "int8"),
        ("[-1]", "uint8"),
        ("[16777217]", "float32"),
        ("[true]", "float32"),
        ('["a"]', "float32"),
        ("[null]", "float32"),
    ],
)
def test_literals_that_do_not_convert_exactly(text, dtype):
    with pytest.raises(InvalidArgument, match=f"input 0 must be {dtype}"):
        make_inputs(meta(tensor(1, dtype=dtype)), [text])


def test_a_ragged_literal():
    with pytest.raises(InvalidArgument, match="not a tensor"):
        make_inputs(meta(tensor(2, 2)), ["[[1], [1, 2]]"])


def test_a_number_fills_a_tensor_of_one():
    (got,) = make_inputs(meta(tensor(1, 1, dtype="int64")), ["3"])
    np.testing.assert_array_equal(got, np.array([[3]]), strict=True)
    (got,) = make_inputs(meta(tensor()), ["3"])
    assert got.shape == () and got == 3


def test_an_empty_literal():
    (got,) = make_inputs(meta(tensor(0, dtype="int32")), ["[]"])
    assert got.shape == (0,) and got.dtype == np.int32


def test_scalars_of_the_plan():
    given = meta(7, 2.5, True, "sum", None)
    assert make_inputs(given) == [7, 2.5, True, "sum", 1]
    assert make_inputs(given, ["8", "1.5", "false", "mean", "3"]) == [8, 1.5, False, "mean", 3]
    assert make_inputs(given, ["random", "random", "zeros", "ones", "zeros"]) == [7, 2.5, True, "sum", 0]


def test_a_scalar_has_no_shape():
    with pytest.raises(InvalidArgument, match="input 0 is not a tensor"):
        make_inputs(meta(7), [], [(1,)])


# Files.


def test_npy_keeps_its_dtype(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.float64))
    (got,) = make_inputs(meta(tensor(3)), [str(tmp_path / "x.npy")])
    assert got.dtype == np.float64  # the method refuses it: nothing is cast silently


def test_npz_by_name_and_by_order(tmp_path):
    given = meta(tensor(1), tensor(1))
    np.savez(tmp_path / "named.npz", in1=np.float32([1]), in0=np.float32([0]))
    np.savez(tmp_path / "ordered.npz", b=np.float32([0]), a=np.float32([1]))
    np.savez(tmp_path / "partly.npz", in1=np.float32([5]))
    for name in ("named", "ordered"):
        a, b = make_inputs(given, [str(tmp_path / f"{name}.npz")])
        assert (a[0], b[0]) == (0, 1)
    a, b = make_inputs(given, [str(tmp_path / "partly.npz"), "[4]"])
    assert (a[0], b[0]) == (4, 5)


def test_npz_with_the_wrong_number_of_arrays(tmp_path):
    np.savez(tmp_path / "x.npz", a=np.float32([0]))
    with pytest.raises(InvalidArgument, match="1 array "):
        make_inputs(meta(tensor(1), tensor(1)), [str(tmp_path / "x.npz")])


def test_bin_takes_dtype_and_shape_from_the_method(tmp_path):
    np.arange(6, dtype=np.int32).tofile(tmp_path / "x.bin")
    (got,) = make_inputs(meta(tensor(2, 3, dtype="int32")), [str(tmp_path / "x.bin")])
    np.testing.assert_array_equal(got, np.arange(6, dtype=np.int32).reshape(2, 3), strict=True)


def test_bin_takes_another_shape(tmp_path):
    np.arange(4, dtype=np.float32).tofile(tmp_path / "x.bin")
    given = meta(tensor(8, 2, dynamism=Dynamism.DYNAMIC_BOUND))
    with pytest.raises(InvalidArgument, match=r"has 16 bytes; float32 \[8, 2\] needs 64 \(--input-shapes"):
        make_inputs(given, [str(tmp_path / "x.bin")])
    (got,) = make_inputs(given, [str(tmp_path / "x.bin")], [(2, 2)])
    assert got.tolist() == [[0, 1], [2, 3]]


def test_a_file_of_another_shape_than_asked_for(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3, np.float32))
    with pytest.raises(InvalidArgument, match=r"shape \[3\], not \[2\]"):
        make_inputs(meta(tensor(3)), [str(tmp_path / "x.npy")], [(2,)])


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.bin", "x.png"])
def test_a_missing_file(name):
    with pytest.raises(NotFound, match=f"{name}: no such file"):
        make_inputs(meta(tensor(3)), [name])


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY\x01\x00", b"PK\x03\x04abc"])
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_a_damaged_file(tmp_path, content, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(content)
    with pytest.raises(InvalidArgument, match=f"x.{suffix} is not a"):
        make_inputs(meta(tensor(3)), [str(path)])


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".png"])
def test_whatever_is_damaged_the_file_is_blamed(tmp_path, suffix):
    good, path = tmp_path / f"good{suffix}", tmp_path / f"bad{suffix}"
    if suffix == ".npy":
        np.save(good, np.arange(6.0).reshape(2, 3))
    elif suffix == ".npz":
        np.savez_compressed(good, in0=np.arange(6.0).reshape(2, 3))
    else:
        pytest.importorskip("PIL.Image").new("L", (3, 2)).save(good)
    original, chance, refused = good.read_bytes(), random.Random(suffix), 0
    for at in range(len(original)):
        for byte in (0, 0xFF, original[at] ^ 1 << chance.randrange(8)):
            path.write_bytes(original[:at] + bytes([byte]) + original[at + 1 :])
            try:
                make_inputs(meta(tensor(2, 3)), [str(path)])
            except (InvalidArgument, OutOfResources) as error:
                assert str(path) in str(error)
                refused += 1
    assert refused > len(original) // 10


def test_a_header_that_asks_for_more_memory_than_there_is(tmp_path):
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (1 << 43,)})
    with pytest.raises(OutOfResources, match=r"x\.npy: Unable to allocate"):
        make_inputs(meta(tensor(3)), [str(path)])


@pytest.mark.parametrize("text", ["ones", "random"])
@pytest.mark.parametrize("shape", [(1 << 45,), (1 << 62, 1 << 62), (1 << 70,)])
def test_inputs_larger_than_memory(text, shape):
    with pytest.raises(OutOfResources, match=r"input 0: float32 \[\d.*--input-shapes"):
        make_inputs(meta(tensor(1)), [text], [shape])


def test_pickles_are_not_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(InvalidArgument, match=r"not a \.npy file of numbers"):
        make_inputs(meta(tensor(1)), [str(tmp_path / "x.npy")])


def test_a_text_that_is_nothing():
    with pytest.raises(InvalidArgument, match="'foo' is no literal"):
        make_inputs(meta(tensor(1)), ["foo"])
