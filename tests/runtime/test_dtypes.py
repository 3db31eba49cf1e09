"""Programs with tensors that numpy has no dtype for: they can be looked at, their methods cannot be loaded."""

from __future__ import annotations

import pytest

from executorch_webgpu import load
from executorch_webgpu.errors import NotSupported
from executorch_webgpu.insight.inputs import make_inputs
from tests.hostile.patching import program_patch, value

BFLOAT16, FLOAT8 = 15, 23


def with_dtypes(**numbers: int) -> bytes:
    """Return addmm(bias, x, weight) with ScalarTypes of values (v0: the weight, v2: the input) replaced."""
    patch, plan = program_patch("segment.pte")
    for name, number in numbers.items():
        patch.field(value(plan, int(name[1:])), 0, number, 1)
    return bytes(patch.data)


@pytest.mark.parametrize(("number", "name", "size"), [(BFLOAT16, "bfloat16", 2), (FLOAT8, "float8_e5m2", 1)])
def test_metadata_can_be_read(number, name, size):
    with load(with_dtypes(v2=number), device="cpu") as program:
        info = program.metadata("forward").input_tensor_meta(0)
        assert info.dtype() == number
        assert info.sizes() == (2, 3)
        assert info.nbytes() == 6 * size
        assert f"dtype={name}" in repr(info)
        assert name in repr(program.metadata("forward"))


def test_there_is_no_numpy_dtype():
    with load(with_dtypes(v2=BFLOAT16), device="cpu") as program:
        meta = program.metadata("forward")
        with pytest.raises(NotSupported, match="input 0 of method 'forward' is bfloat16; supported are uint8, int8"):
            meta.input_tensor_meta(0).numpy_dtype()
        with pytest.raises(NotSupported, match="input 0 of method 'forward' is bfloat16"):
            make_inputs(meta, ["ones"])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_loading_the_method_names_tensors_dtypes_and_what_is_supported(device):
    expected = (
        r"^<program of \d+ bytes>: method 'forward': value 0 is bfloat16, value 2 is float8_e5m2; supported are uint8, "
        r".*float16, float32, float64, bool.*: convert the model"
    )
    with load(with_dtypes(v0=BFLOAT16, v2=FLOAT8), device=device) as program:
        with pytest.raises(NotSupported, match=expected) as caught:
            program.load_method("forward")
        assert "\n" not in str(caught.value)


def test_many_tensors_make_a_short_message():
    with load(with_dtypes(v0=15, v1=15, v2=15, v3=15, v7=15), device="cpu") as program:
        with pytest.raises(NotSupported, match="value 3 is bfloat16 and 1 more likewise; supported are") as caught:
            program.load_method("forward")
        assert "value 7" not in str(caught.value)
