"""Names that today's exporter does not write but runtimes know: kernel variants and older spellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from goldens import difference
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import Device, select_device

rng = np.random.default_rng(0)


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def bytes8(*shape: int) -> np.ndarray[Any, Any]:
    return rng.integers(-127, 128, shape).astype(np.int8)


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.asarray(rng.uniform(-1, 1, shape), np.float32)


def scales(*shape: int) -> np.ndarray[Any, Any]:
    return np.asarray(rng.uniform(0.01, 0.05, shape), np.float32)


def agree(gpu: Device, name: str, args: list[Any], shape: tuple[int, ...], dtype: str) -> None:
    outs = [(shape, dtype)]
    got, want = run_on_gpu(gpu, name, args, outs), run_reference(name, args, outs)
    assert difference(got[0], want[0], 1e-5, 1e-5, 0) is None


@pytest.mark.parametrize(
    "name", ["q8ta_conv2d", "q8ta_conv2d_general", "q8ta_conv2d_im2col", "conv2d_q8ta_q8csw_q8to", "q8ta_conv2d_pw"]
)
@pytest.mark.parametrize(("kernel", "stride", "padding"), [((3, 2), (2, 1), (1, 0)), ((1, 1), (1, 1), (0, 0))])
def test_convolutions(
    gpu: Device, name: str, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int]
) -> None:
    columns = kernel[0] * kernel[1] * 4
    sums = np.zeros(12, np.int32)
    args: list[Any] = [bytes8(2, 8, 7, 5), 0.02, 5, bytes8(12, columns), sums, scales(12), 0.3, -4, floats(12)]
    args += [list(kernel), list(stride), list(padding), [1, 1], 2]
    rows, width = ((n + 2 * p - k) // s + 1 for n, p, k, s in zip((7, 5), padding, kernel, stride, strict=True))
    agree(gpu, f"et_vk.{name}.default", args, (2, 12, rows, width), "int8")


@pytest.mark.parametrize("name", ["q8ta_conv2d_dw", "conv2d_q8ta_q8csw_q8to_dw"])
def test_depthwise_convolutions(gpu: Device, name: str) -> None:
    sums = np.zeros(8, np.int32)
    args: list[Any] = [bytes8(1, 8, 7, 5), 0.02, 5, bytes8(3, 3, 8), sums, scales(8), 0.1, -4, None]
    args += [[3, 3], [1, 1], [1, 1], [1, 1], 8]
    agree(gpu, f"et_vk.{name}.default", args, (1, 8, 7, 5), "int8")


def test_linear_layers(gpu: Device) -> None:
    agree(gpu, "et_vk.linear_q8csw.default", [floats(3, 20), bytes8(7, 20), scales(7)], (3, 7), "float32")
    packed = rng.integers(0, 256, (8, 32), dtype=np.uint8)
    agree(gpu, "et_vk.q4gsw_linear.default", [floats(3, 64), packed, scales(2, 8), 32, None], (3, 8), "float32")


def test_a_float_input_is_quantized_before_an_integer_product(gpu: Device) -> None:
    weight = bytes8(8, 20)
    args = [floats(3, 20), 0.02, 5, weight, weight.sum(1).astype(np.int32), scales(8), floats(8)]
    agree(gpu, "et_vk.linear_q8ta_q8csw.default", args, (3, 8), "float32")
