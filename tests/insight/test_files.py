"""What is said of files, those included that cannot be run."""

from __future__ import annotations

import pytest

from executorch_webgpu.insight.files import describe_file
from tests.hostile.patching import external_patch, named, program_patch, value


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
