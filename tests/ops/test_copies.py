"""Copies that the exporter takes out of graphs by itself, so that no golden case has them."""

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
