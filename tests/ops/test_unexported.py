"""Operators that no golden case can have: copies that the exporter takes out again, and others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import select_device

X = np.arange(15, dtype=np.float32).reshape(3, 5) - 7
OTHER = np.full((3, 5), 9, np.float32)
CALLS: dict[str, list[Any]] = {
    "aten.alias_copy.default": [X],
    "aten.copy.default": [OTHER, X, False],
    "dim_order_ops._clone_dim_order.default": [X, False, [0, 1]],
}


@pytest.mark.parametrize("name", CALLS)
def test_copy(name: str, device: str) -> None:
    outs = [(X.shape, "float32")]
    if device == "cpu":
        (got,) = run_reference(name, CALLS[name], outs)
    else:
        gpu = select_device(device)
        assert gpu is not None
        (got,) = run_on_gpu(gpu, name, CALLS[name], outs)
    assert got.tolist() == X.tolist()


@pytest.mark.parametrize("name", ["aten._to_copy.default", "dim_order_ops._to_dim_order_copy.default"])
def test_copy_to_another_dtype_rounds_as_pytorch(name: str, device: str) -> None:
    if device == "cpu":
        pytest.skip("numpy's own conversion")
    gpu = select_device(device)
    assert gpu is not None
    # Ties go to even, what a half cannot hold becomes infinite, subnormal halves stay.
    values = np.array([2049, 2051, 65519, 65520, -65520, 1e-7, 6e-8, np.inf, np.nan, -0.0], np.float32)
    with np.errstate(over="ignore"):
        want = values.astype(np.float16)
    (got,) = run_on_gpu(gpu, name, [values, None], [(values.shape, "float16")])
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize(("value", "dtype"), [(2.5, "float32"), (1, "float32"), (-7, "int32"), (1e300, "float32")])
def test_scalar_tensor(value: float, dtype: str, device: str) -> None:
    outs = [((), dtype)]
    if device == "cpu":
        (got,) = run_reference("aten.scalar_tensor.default", [value], outs)
    else:
        gpu = select_device(device)
        assert gpu is not None
        (got,) = run_on_gpu(gpu, "aten.scalar_tensor.default", [value], outs)
    with np.errstate(over="ignore"):
        assert got == np.asarray(value).astype(dtype)


def test_hardshrink(device: str) -> None:
    values = np.array([-2, -0.5, -0.25, -0.0, 0.0, 0.5, 0.75, np.inf, -np.inf, np.nan], np.float32)
    outs = [(values.shape, "float32")]
    if device == "cpu":
        (got,) = run_reference("aten.hardshrink.default", [values, 0.5], outs)
    else:
        gpu = select_device(device)
        assert gpu is not None
        (got,) = run_on_gpu(gpu, "aten.hardshrink.default", [values, 0.5], outs)
    np.testing.assert_array_equal(got, [-2, 0, 0, 0, 0, 0, 0.75, np.inf, -np.inf, np.nan])
