"""Every kernel that a shape or a device could choose, forced, against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from goldens import difference
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import Device, select_device
from executorch_webgpu.ops.attention import kernels as attention_kernels
from executorch_webgpu.ops.attention import lowering as attention_lowering
from executorch_webgpu.ops.attention.kernels import Attention, split_keys, split_rows
from executorch_webgpu.ops.dispatch import DeviceFacts
from executorch_webgpu.ops.linear4 import kernels as linear4_kernels
from executorch_webgpu.ops.linear4 import lowering as linear4_lowering
from executorch_webgpu.ops.linear4.kernels import Product, matmul_splits, matvec_lanes
from executorch_webgpu.ops.workgroups import lanes_for

Array = np.ndarray[Any, np.dtype[Any]]
rng = np.random.default_rng(0)


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def floats(*shape: int, dtype: str = "float32") -> Array:
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def agree(gpu: Device, name: str, args: list[Any], shape: tuple[int, ...], dtype: str) -> None:
    outs = [(shape, dtype)]
    got, want = run_on_gpu(gpu, name, args, outs), run_reference(name, args, outs)
    tolerance = 2e-5 if dtype == "float32" else 4e-3
    assert difference(got[0], want[0], tolerance, tolerance, 0) is None


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("kernel", ["matvec", "tile8", "tile4", "plain"])
@pytest.mark.parametrize(
    ("rows", "outputs", "columns", "group"), [(1, 44, 128, 32), (3, 72, 96, 32), (5, 40, 256, 64), (131, 140, 64, 32)]
)
def test_linear4_kernels(
    gpu: Device,
    monkeypatch: pytest.MonkeyPatch,
    kernel: str,
    rows: int,
    outputs: int,
    columns: int,
    group: int,
    dtype: str,
) -> None:
    monkeypatch.setattr(linear4_lowering, "choose", lambda product, facts: kernel)
    x = floats(rows, columns, dtype=dtype)
    weight = rng.integers(0, 256, (outputs, columns // 2), dtype=np.uint8)
    scales = (floats(columns // group, outputs) * 0.05).astype(dtype)
    bias = floats(outputs, dtype=dtype)
    agree(gpu, "et_vk.linear_q4gsw.default", [x, weight, scales, group, bias], (rows, outputs), dtype)


def test_linear4_tiles_split_over_the_columns(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear4_lowering, "choose", lambda product, facts: "tile4")
    monkeypatch.setattr(linear4_lowering, "matmul_splits", lambda product, size, facts: (3, 96))
    weight, scales = rng.integers(0, 256, (44, 128), dtype=np.uint8), floats(8, 44) * 0.05
    agree(gpu, "et_vk.linear_q4gsw.default", [floats(37, 256), weight, scales, 32, floats(44)], (37, 44), "float32")


@pytest.mark.parametrize("kernel", ["matvec", "tile4", "plain"])
def test_linear4_kernels_take_odd_outputs_and_the_other_nibble_order(
    gpu: Device, monkeypatch: pytest.MonkeyPatch, kernel: str
) -> None:
    monkeypatch.setattr(linear4_lowering, "choose", lambda product, facts: kernel)
    weight = rng.integers(0, 256, (37, 48), dtype=np.uint8)
    agree(gpu, "et_vk.linear_qcs4w.default", [floats(5, 96), weight, floats(37) * 0.05], (5, 37), "float32")


@pytest.mark.parametrize("kernel", ["split", "tiled", "plain"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("rows", "keys", "dim"), [(1, 71, 64), (3, 5, 16), (67, 37, 12), (2, 40, 128), (5, 9, 160)])
def test_attention_kernels(
    gpu: Device, monkeypatch: pytest.MonkeyPatch, kernel: str, rows: int, keys: int, dim: int, dtype: str
) -> None:
    monkeypatch.setattr(attention_lowering, "choose", lambda shape, facts: kernel)
    q = floats(2, 3, rows, dim, dtype=dtype)
    k, v = (floats(2, 3, keys, dim, dtype=dtype) for _ in range(2))
    mask = np.where(rng.random((1, 3, rows, keys)) < 0.3, -np.inf, floats(1, 3, rows, keys)).astype(dtype)
    mask[:, 1, 0] = -np.inf
    agree(gpu, "et_vk.sdpa.default", [q, k, v, mask, None], q.shape, dtype)


@pytest.mark.parametrize("kernel", ["split", "tiled", "plain"])
@pytest.mark.parametrize(("rows", "start"), [(1, 0), (1, 28), (7, 0), (7, 22)])
@pytest.mark.parametrize("causal", [True, False])
def test_custom_sdpa(
    gpu: Device, monkeypatch: pytest.MonkeyPatch, kernel: str, rows: int, start: int, causal: bool
) -> None:
    monkeypatch.setattr(attention_lowering, "choose", lambda shape, facts: kernel)
    q, k, v = floats(1, rows, 6, 20), floats(1, 29, 2, 20), floats(1, 29, 2, 20)
    agree(gpu, "llama.custom_sdpa.default", [q, k, v, start, None, 0.0, causal, None], q.shape, "float32")


def test_adamw_step(gpu: Device) -> None:
    param, m, v, grad = floats(37), floats(37), np.abs(floats(37)), floats(37)
    args = [param, m, v, grad, 1e-2, 0.9, 0.99, 1e-8, 0.01, 0.1, 0.01]
    outs = [((37,), "float32")] * 3
    for got, want in zip(
        run_on_gpu(gpu, "et_vk.adamw_step.default", args, outs),
        run_reference("et_vk.adamw_step.default", args, outs),
        strict=True,
    ):
        assert difference(got, want, 1e-6, 1e-6, 0) is None


def test_linear4_blocks(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear4_lowering, "choose", lambda product, facts: "block")
    weight, scales = rng.integers(0, 256, (44, 48), dtype=np.uint8), floats(3, 44) * 0.05
    agree(gpu, "et_vk.linear_q4gsw.default", [floats(13, 96), weight, scales, 32, floats(44)], (13, 44), "float32")
    agree(gpu, "et_vk.linear_qcs4w.default", [floats(5, 96), weight, floats(44) * 0.05], (5, 44), "float32")


def test_linear4_choice() -> None:
    facts = DeviceFacts()
    shape = {"outputs": 2048, "columns": 2048, "packed": 2048, "group": 32}
    assert linear4_kernels.choose(Product(1, **shape), facts) == "matvec"
    assert linear4_kernels.choose(Product(512, **shape), facts) == "tile8"
    assert linear4_kernels.choose(Product(512, **shape), DeviceFacts(software=True)) == "block"
    assert linear4_kernels.choose(Product(16, **shape), facts) == "tile4"
    assert linear4_kernels.choose(Product(1, **{**shape, "group": 16}), facts) == "tile4"
    assert linear4_kernels.choose(Product(1, **{**shape, "columns": 2040}), facts) == "plain"
    assert linear4_kernels.choose(Product(9, **{**shape, "outputs": 7}, wide_elements=False), facts) == "plain"


@pytest.mark.parametrize("columns", [288, 512, 1000 * 32, 8192])
@pytest.mark.parametrize("outputs", [32, 96, 2048])
def test_splits_of_the_columns_cover_them(columns: int, outputs: int) -> None:
    for size in (4, 8):
        splits, span = matmul_splits(Product(200, outputs, columns, columns, 32), size, DeviceFacts())
        assert splits * span >= columns > (splits - 1) * span
        assert splits == 1 or span % 32 == 0


@pytest.mark.parametrize("subgroup", [None, 8, 32, 64])
@pytest.mark.parametrize("columns", [32, 576, 2048, 8192])
def test_lanes_are_whole_subgroups_within_the_limit(subgroup: int | None, columns: int) -> None:
    facts = DeviceFacts(subgroup_size=subgroup)
    for lanes in (matvec_lanes(Product(1, 8, columns, columns, 32), facts), lanes_for(columns, facts)):
        assert lanes % (subgroup or 1) == 0
        assert lanes & (lanes - 1) == 0
        assert lanes <= facts.max_invocations


def test_attention_choice() -> None:
    facts = DeviceFacts()
    assert attention_kernels.choose(Attention(1, 32, 4, 64), facts) == "split"
    assert attention_kernels.choose(Attention(512, 32, 4, 64), facts) == "tiled"
    assert attention_kernels.choose(Attention(512, 32, 4, 66), facts) == "plain"
    assert attention_kernels.choose(Attention(1, 1, 1, 512), facts) == "plain"


@pytest.mark.parametrize("dim", range(4, 257, 4))
def test_splits_fit_the_workgroup_memory_that_every_device_has(dim: int) -> None:
    keys, rows = split_keys(dim), split_rows(Attention(4, 64, 8, dim))
    tile, queries, scores = keys * (dim // 4 + 1) * 16, rows * dim * 4, rows * keys * 4
    assert tile + queries + 2 * scores + rows * 4 <= DeviceFacts().max_workgroup_bytes
