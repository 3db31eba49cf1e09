"""PyTorch's promotion table, and casts that wrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from executorch_webgpu.ops.promotion import cast, compute_type, promoted, result_type


def dims(dtype: str) -> Any:
    return np.zeros(3, dtype)


def point(dtype: str) -> Any:
    return np.zeros((), dtype)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ((dims("int64"), dims("float32")), "float32"),
        ((dims("int64"), dims("float16")), "float16"),
        ((dims("float16"), dims("float32")), "float32"),
        ((dims("uint8"), dims("int8")), "int16"),
        ((dims("bool"), dims("uint8")), "uint8"),
        ((dims("float64"), dims("int32")), "float64"),
        # A 0-d tensor counts only where its category is higher.
        ((dims("float16"), point("float64")), "float16"),
        ((dims("int8"), point("int64")), "int8"),
        ((dims("int32"), point("float16")), "float16"),
        ((dims("bool"), point("int32")), "int32"),
        # So does a Python number, below 0-d tensors.
        ((dims("float16"), 0.1), "float16"),
        ((dims("uint8"), 300), "uint8"),
        ((dims("int32"), 0.5), "float32"),
        ((dims("bool"), 1), "int64"),
        ((dims("bool"), True), "bool"),
        ((point("int32"), 7), "int32"),
        ((point("int32"), 0.5), "float32"),
        ((point("float64"), 0.5), "float64"),
        ((dims("int32"), point("bool"), 2.0), "float32"),
        ((dims("float64"), dims("complex64")), "complex128"),
        ((dims("float32"), 1j), "complex64"),
        ((3, 0.5), "float32"),
    ],
)
def test_result_type(values: tuple[Any, ...], dtype: str) -> None:
    assert result_type(*values) == dtype


def test_nothing_has_no_type() -> None:
    with pytest.raises(ValueError, match="no values"):
        result_type()


def test_halves_are_computed_in_float32() -> None:
    assert compute_type(np.dtype("float16")) == "float32"
    assert [x.dtype.name for x in promoted(dims("float16"), 2)] == ["float32", "float32"]


def test_numbers_beside_halves_are_rounded_first_or_not() -> None:
    assert promoted(dims("float16"), 0.1)[1] == np.float32(np.float16(0.1))
    assert promoted(dims("float16"), 0.1, rounded=False)[1] == np.float32(0.1)


def test_numbers_out_of_range_widen_the_computation() -> None:
    small, large = promoted(dims("int32"), 2**40)
    assert (small.dtype, large.dtype, int(large)) == ("int64", "int64", 2**40)


def test_integers_stay_integers_unless_the_output_floats() -> None:
    assert [x.dtype.name for x in promoted(dims("int32"), 2)] == ["int32", "int32"]
    assert [x.dtype.name for x in promoted(dims("int32"), 2, like=np.dtype("float16"))] == ["float32", "float32"]
    assert [x.dtype.name for x in promoted(dims("int32"), 2, floating=True)] == ["float32", "float32"]


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [(300, "uint8", 44), (-1, "uint8", 255), (200, "int8", -56), (2**63, "int64", -(2**63)), (2**40 + 7, "int32", 7)],
)
def test_casts_of_numbers_wrap(value: int, dtype: str, result: int) -> None:
    assert cast(value, np.dtype(dtype)) == result


def test_casts_overflow_to_infinity_without_a_warning() -> None:
    assert np.isinf(cast(1e300, np.dtype("float32")))
    assert np.isinf(cast(np.array([70000.0], "float32"), np.dtype("float16"))).all()
