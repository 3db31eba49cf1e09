"""What execute accepts, and how it refuses the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from executorch_webgpu import errors
from executorch_webgpu.runtime.arguments import check_inputs
from tests.executor.plans import plan
from tests.runtime.programs import open_fixture, path

ROOT = Path(__file__).resolve().parent.parent.parent
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def method():
    def load(name):
        program = open_fixture(name)
        opened.append(program)
        return program.load_method("forward")

    opened = []
    yield load
    for program in opened:
        program.close()


def test_any_strides(method):
    add = method("add")
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    strided, reversed_, transposed = wide[::2, ::2], wide[:2, 2::-1], np.ascontiguousarray(X.T).T
    assert np.array_equal(add.execute([strided, reversed_])[0], strided + reversed_)
    assert np.array_equal(add.execute([transposed, X])[0], X + X)


def test_inputs_are_never_written(method):
    x = np.ones(3, np.float32)
    x.flags.writeable = False
    for name in ("accumulator", "cache"):
        method(name).execute([x])
    assert x.tolist() == [1, 1, 1]


def test_outputs_do_not_follow_the_inputs(method):
    x = X.copy()
    outputs = method("outputs").execute([x])
    x[:] = -1
    assert np.array_equal(outputs[0], X)


@pytest.mark.parametrize(
    ("inputs", "kind", "parts"),
    [
        ([X], errors.InvalidArgument, ["takes 2 inputs", "given 1"]),
        ([X, X, X], errors.InvalidArgument, ["takes 2 inputs", "given 3"]),
        ([X, X.astype(np.float64)], errors.InvalidType, ["input 1", "float32", "float64"]),
        ([X, X.astype(">f4")], errors.InvalidType, ["input 1", ">f4"]),
        ([X, X.T], errors.InvalidArgument, ["input 1", "[2, 3]", "[3, 2]"]),
        ([X, X[0]], errors.InvalidArgument, ["input 1", "[2, 3]", "[3]"]),
        ([X, 1.0], errors.InvalidArgument, ["input 1", "[2, 3]", "1.0"]),
        ([X, 1], errors.InvalidArgument, ["input 1", "[2, 3]"]),
        ([X, None], errors.InvalidType, ["input 1", "float32", "None"]),
        ([X, "x"], errors.InvalidType, ["input 1", "'x'"]),
        ([X, X.tolist()], errors.InvalidType, ["input 1", "list"]),
        (X, errors.InvalidType, ["list", "ndarray"]),
        ("ab", errors.InvalidType, ["list", "str"]),
        (3, errors.InvalidType, ["list", "int"]),
    ],
)
def test_wrong_tensors(method, inputs, kind, parts):
    with pytest.raises(kind) as caught:
        method("add").execute(inputs)
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_dtype_errors_are_type_errors(method):
    with pytest.raises(TypeError):
        method("add").execute([X, X.astype(np.int64)])


def test_shapes_within_the_bound(method):
    dynamic = method("dynamic")
    for rows in (1, 4, 5, 2):
        assert dynamic.execute([np.zeros((rows, 2), np.float32)])[0].shape == (rows, 2)
    for shape in ((6, 2), (5, 3), (5,), (1, 5, 2)):
        with pytest.raises(errors.InvalidArgument, match=r"input 0 .*up to \[5, 2\]"):
            dynamic.execute([np.zeros(shape, np.float32)])


def test_numbers_for_rank_0(method):
    rank0 = method("rank0")
    assert rank0.execute([1.5, 3, True])[0] == 3.0
    assert rank0.execute([2, 3, False])[0] == -1.0
    assert rank0.execute([np.float32(2), np.int64(3), np.bool_(True)])[0] == 4.0


@pytest.mark.parametrize(
    "inputs",
    [
        [1.5, 3.0, True],
        [1.5, True, True],
        [True, 3, True],
        [1.5, 3, 1],
        [1.5, 2**63, True],
        [2**24 + 1, 3, True],
        [1e39, 3, True],
        [1.5, np.int32(3), True],
    ],
)
def test_numbers_that_do_not_convert(method, inputs):
    with pytest.raises(errors.InvalidArgument, match=r"input [012]"):
        method("rank0").execute(inputs)


def test_infinite_and_missing_numbers_convert(method):
    assert method("rank0").execute([float("inf"), 3, True])[0] == np.inf
    assert np.isnan(method("rank0").execute([float("nan"), 3, True])[0])


def test_scalars_must_equal_the_exported_ones(method):
    scalars = method("scalars")
    for good in ([X, 3, 0.5, True, None], [X, np.int64(3), np.float32(0.5), np.bool_(True), 0]):
        assert np.array_equal(scalars.execute(good)[0], X * 3 + 1.5)
    for inputs, kind, index in (
        ([X, 4, 0.5, True, None], errors.InvalidArgument, 1),
        ([X, 3, 0.25, True, None], errors.InvalidArgument, 2),
        ([X, 3, 0.5, False, None], errors.InvalidArgument, 3),
        ([X, 3.0, 0.5, True, None], errors.InvalidType, 1),
        ([X, True, 0.5, True, None], errors.InvalidType, 1),
        ([X, 3, 0.5, 1, None], errors.InvalidType, 3),
        ([X, 3, 0.5, True, "plus"], errors.InvalidType, 4),
    ):
        with pytest.raises(kind, match=f"input {index} "):
            scalars.execute(inputs)


def test_strings_must_equal_the_exported_ones():
    made = plan(["relu", float("nan")], (0, 1), (), [])
    assert check_inputs(made, ["relu", float("nan")], frozenset())[0] == "relu"
    with pytest.raises(errors.InvalidArgument, match=r"'relu'.*'none'"):
        check_inputs(made, ["none", float("nan")], frozenset())
    with pytest.raises(errors.InvalidType, match="'relu'"):
        check_inputs(made, [1, float("nan")], frozenset())


def test_dynamic_int_inputs(method):
    dynamic_int = method("dynamic_int")
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    assert dynamic_int.execute([x, np.int64(4)])[0].shape == (2, 4)
    for wrong in (None, 4.0, True, "4"):
        with pytest.raises(errors.InvalidType, match=r"input 1 .*int"):
            dynamic_int.execute([x, wrong])


class Foreign:
    """An array of another library."""

    def __init__(self, array):
        self.array = array


class Dlpack(Foreign):
    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Array(Foreign):
    def __array__(self, dtype=None, copy=None):
        return self.array


class Both(Array):
    def __dlpack__(self, **options):
        raise BufferError("not on this device")

    def __dlpack_device__(self):
        return (2, 0)


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError("broken")


@pytest.mark.parametrize("kind", [Dlpack, Array, Both])
def test_foreign_arrays(method, kind):
    assert np.array_equal(method("add").execute([kind(X), X])[0], X + X)
    with pytest.raises(errors.InvalidType, match="float64"):
        method("add").execute([kind(X.astype(np.float64)), X])


def test_broken_arrays_are_named(method):
    with pytest.raises(errors.InvalidType, match=r"input 1 .*Broken"):
        method("add").execute([X, Broken()])


def test_inputs_are_checked_before_a_device_is_opened():
    program = open_fixture("add", device="no such device")
    with program, pytest.raises(errors.InvalidArgument, match="takes 2 inputs"):
        program.load_method("forward").execute([X])


def test_cpu_never_imports_wgpu():
    code = f"""
import sys, numpy as np, executorch_webgpu
with executorch_webgpu.load({str(path("add"))!r}, device="cpu") as program:
    x = np.ones((2, 3), np.float32)
    print(program.load_method("forward").execute([x, x])[0].sum(), program.device, "wgpu" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == ["12.0", "cpu", "False"]


def test_torch_in_torch_out(monkeypatch, method):
    class Tensor:
        """As much of a torch tensor as is used."""

        def __init__(self, array):
            self.array = array

        def detach(self):
            return self

        cpu = resolve_conj = resolve_neg = detach

        def numpy(self):
            return self.array

    class Torch:
        Tensor = None
        from_numpy = staticmethod(lambda array: Tensor(array))

    Torch.Tensor = Tensor
    monkeypatch.setitem(sys.modules, "torch", Torch)
    outputs = method("outputs").execute([Tensor(X)])
    assert [type(o) for o in outputs] == [Tensor, Tensor, Tensor, type(None), Tensor]
    assert all(isinstance(o, np.ndarray) for o in method("add").execute([X, X]))
