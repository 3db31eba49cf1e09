"""Max pooling as the exporter never writes it: without places, and with places that nobody wants."""

from __future__ import annotations

import numpy as np
import pytest
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import Device, select_device

X = np.random.default_rng(0).standard_normal((2, 3, 9, 7)).astype(np.float32)
X[0, 0, 2, 2], X[1, 1, 4, 4] = np.nan, np.inf
ARGS = [X, [3], [2], [1], [1], False]
OUT = ((2, 3, 5, 4), "float32")


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def test_values_alone(gpu: Device) -> None:
    (got,) = run_on_gpu(gpu, "aten.max_pool2d.default", ARGS, [OUT])
    (want,) = run_reference("aten.max_pool2d.default", ARGS, [OUT])
    np.testing.assert_array_equal(got, want)
    assert np.isnan(got).sum() > 0


def test_places_without_room_are_left_out(gpu: Device) -> None:
    got = run_on_gpu(gpu, "aten.max_pool2d_with_indices.default", ARGS, [OUT, ((0,), "int32")])
    (want,) = run_reference("aten.max_pool2d.default", ARGS, [OUT])
    np.testing.assert_array_equal(got[0], want)
    assert got[1].shape == (0,)
