"""What is said of files, those included that cannot be run."""

from __future__ import annotations

import time

import pytest

from executorch_webgpu.errors import InvalidArgument, InvalidProgram, NotFound
from executorch_webgpu.format.plan import Delegate, ExecutionPlan, KernelCall, Operator, Program
from executorch_webgpu.insight.contents import describe_program
from executorch_webgpu.insight.files import describe_file
from tests.hostile.patching import FIXTURES, external_patch, named, program_patch, value
from tests.insight.metas import tensor


@pytest.fixture
def bfloat16_weight(tmp_path):
    patch, plan = program_patch("segment.pte")
    path = tmp_path / "half.pte"
    path.write_bytes(patch.field(value(plan, 0), 0, 15, 1))
    return path


def test_a_dtype_that_cannot_be_computed_with_is_shown(bfloat16_weight):
    described = describe_file(str(bfloat16_weight))
    (method,) = described.methods
    assert method.name == "forward"
    permute, addmm = sorted(method.kernels, key=lambda kernel: kernel.name, reverse=True)
    assert permute.dtypes == ["bfloat16", "float32"]
    assert not permute.supported
    assert addmm.supported
    (problem,) = described.problems
    assert f"{bfloat16_weight}: method 'forward': value 0 is bfloat16" in problem
    described.as_json()


def test_dtypes_of_external_tensors_have_names(tmp_path):
    patch = external_patch()
    path = tmp_path / "half.ptd"
    path.write_bytes(patch.field(named(patch.root, b"weight").TensorLayout(), 0, 15, 1))
    details = describe_file(str(path)).details
    assert "weight: bfloat16 [2, 3], 24 bytes" in details
    assert "bias: float32 [2], 8 bytes" in details


def test_constants_are_counted_once_each():
    (method,) = describe_file(str(FIXTURES / "segment.pte")).methods
    assert method.constants == 24 + 8


def test_describing_many_operators_takes_linear_time():
    value = tensor(2)
    calls = tuple(KernelCall(index, (0, 0)) for index in range(4000))
    operators = tuple(Operator(f"my::number{index}", "out") for index in range(4000))
    delegates = (Delegate("OtherBackend", memoryview(b""), ()),)
    plan = ExecutionPlan("forward", (value,), (0,), (0,), (calls,), operators, delegates, (0,))
    start = time.process_time()
    (method,) = describe_program(Program(0, (plan,), {}, "test.pte"))
    assert len(method.kernels) == 4000
    assert time.process_time() - start < 0.8


def test_a_path_through_a_file(tmp_path):
    (tmp_path / "a.pte").write_bytes(b"x")
    with pytest.raises(NotFound, match="no such file"):
        describe_file(str(tmp_path / "a.pte" / "b.pte"))


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidProgram, match="the file cannot be read: File name too long"):
        describe_file(str(tmp_path / ("a" * 300)))


def test_what_is_no_file(tmp_path):
    with pytest.raises(InvalidArgument, match="is a folder"):
        describe_file(str(tmp_path))
    with pytest.raises(InvalidArgument, match="is no path"):
        describe_file("a\0b")
