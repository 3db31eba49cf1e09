"""Every kernel of products and convolutions, forced on shapes with odd edges, and the choice among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from goldens import difference
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import Device, select_device
from executorch_webgpu.ops.convolution import lowering as convolution
from executorch_webgpu.ops.dispatch import DeviceFacts
from executorch_webgpu.ops.matmul import product
from executorch_webgpu.ops.matmul.variants import LARGE, MEDIUM, SMALL, TILES, Block, Rows, Tile, Variant, choose

Array = np.ndarray[Any, np.dtype[Any]]
rng = np.random.default_rng(0)
VARIANTS = [*TILES, replace(SMALL, splits=3), Block()]


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def floats(*shape: int, dtype: str = "float32") -> Array:
    return rng.uniform(-1, 1, shape).astype(dtype)


def agree(gpu: Device, name: str, args: list[Any], shape: tuple[int, ...], dtype: str = "float32") -> None:
    (got,) = run_on_gpu(gpu, name, args, [(shape, dtype)])
    (want,) = run_reference(name, args, [(shape, dtype)])
    tolerance = 1e-5 if dtype == "float32" else 1e-2
    assert difference(got, want, tolerance, tolerance, 0) is None, difference(got, want, tolerance, tolerance, 0)


def force(monkeypatch: pytest.MonkeyPatch, variant: Variant) -> None:
    monkeypatch.setattr(product, "choose", lambda *_: variant)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("m", "k", "n"), [(67, 132, 36), (70, 41, 131)])
def test_products(
    variant: Variant, dtype: str, m: int, k: int, n: int, gpu: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    force(monkeypatch, variant)
    x, y, weight = floats(m, k, dtype=dtype), floats(k, n, dtype=dtype), floats(n, k, dtype=dtype)
    bias = floats(n, dtype=dtype)
    agree(gpu, "aten.mm.default", [x, y], (m, n), dtype)
    agree(gpu, "aten.linear.default", [x, weight, bias], (m, n), dtype)
    agree(gpu, "aten.addmm.default", [bias, x, y, 0.5, 2.0], (m, n), dtype)
    agree(gpu, "aten.bmm.default", [np.stack([x, x + 1]), np.stack([y, y - 1])], (2, m, n), dtype)


def test_splits_without_work_add_nothing(gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, replace(SMALL, splits=5))
    agree(gpu, "aten.mm.default", [floats(3, 37), floats(37, 29)], (3, 29))


@pytest.mark.parametrize("m", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("k", [7, 256, 300])
def test_few_rows(m: int, dtype: str, k: int, gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, Rows(1 if m == 1 else 4))
    args = [floats(m, k, dtype=dtype), floats(33, k, dtype=dtype), floats(33, dtype=dtype)]
    agree(gpu, "aten.linear.default", args, (m, 33), dtype)


def conv(x: Array, weight: Array, bias: Array | None, stride: int, pad: int, gap: int, groups: int) -> list[Any]:
    dims = weight.ndim - 2
    return [x, weight, bias, [stride] * dims, [pad] * dims, [gap] * dims, False, [0] * dims, groups]


CONVOLUTIONS = {
    "pointwise": (conv(floats(2, 12, 7, 9), floats(37, 12, 1, 1), floats(37), 1, 0, 1, 1), (2, 37, 7, 9)),
    "pointwise whole": (conv(floats(1, 12, 6, 6), floats(37, 12, 1, 1), None, 1, 0, 1, 1), (1, 37, 6, 6)),
    "strided": (conv(floats(1, 12, 7, 9), floats(37, 12, 1, 1), floats(37), 2, 0, 1, 1), (1, 37, 4, 5)),
    "3x3": (conv(floats(2, 5, 11, 9), floats(34, 5, 3, 3), floats(34), 1, 1, 1, 1), (2, 34, 11, 9)),
    "7x7": (conv(floats(1, 3, 21, 19), floats(16, 3, 7, 7), floats(16), 2, 3, 1, 1), (1, 16, 11, 10)),
    "groups": (conv(floats(2, 8, 9, 9), floats(24, 4, 3, 3), floats(24), 2, 1, 2, 2), (2, 24, 4, 4)),
    "sequence": (conv(floats(2, 8, 37), floats(24, 8, 5), floats(24), 2, 2, 1, 1), (2, 24, 19)),
}


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions_as_products(variant: Variant, case: str, gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    force(monkeypatch, variant)
    args, shape = CONVOLUTIONS[case]
    agree(gpu, "aten.convolution.default", args, shape)
    agree(gpu, "conv_with_clamp.default", [*args, -0.5, 0.25], shape)


@pytest.mark.parametrize("kind", ["product", "direct"])
@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions_by_other_kernels(kind: str, case: str, gpu: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "choose", lambda _: kind)
    args, shape = CONVOLUTIONS[case]
    agree(gpu, "et_vk.conv_with_clamp.default", [*args, 0.0, 1.7976931348623157e308], shape)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("kernel", [3, 5])
@pytest.mark.parametrize("size", [(9, 16), (33, 37), (7, 7)])  # whole rows, wide planes, single values
@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise(dtype: str, kernel: int, size: tuple[int, int], multiplier: int, gpu: Device) -> None:
    x = floats(2, 6, *size, dtype=dtype)
    weight, bias = floats(6 * multiplier, 1, kernel, kernel, dtype=dtype), floats(6 * multiplier, dtype=dtype)
    args = conv(x, weight, bias, 1, kernel // 2, 1, 6)
    agree(gpu, "aten.convolution.default", args, (2, 6 * multiplier, *size), dtype)


@pytest.mark.parametrize("relu", [False, True])
def test_convolution_with_an_addend(relu: bool, gpu: Device) -> None:
    args, shape = CONVOLUTIONS["3x3"]
    addend = floats(*shape)
    name = "fused.conv_add_relu" if relu else "fused.conv_add"
    agree(gpu, name, [*args, addend], shape)


def test_nan_passes_through_the_bounds(gpu: Device) -> None:
    x = np.ones((1, 8, 3, 3), np.float32)
    x[0, 0, 1, 1], x[0, 1, 0, 0] = np.nan, np.inf
    args = [*conv(x, np.ones((8, 8, 1, 1), np.float32), None, 1, 0, 1, 1), 0.0, 6.0]
    (got,) = run_on_gpu(gpu, "et_vk.conv_with_clamp.default", args, [((1, 8, 3, 3), "float32")])
    assert np.isnan(got[0, :, 1, 1]).all() and np.isnan(got).sum() == 8 and got[0, 0, 0, 0] == 6


def test_an_unused_bias_is_not_read(gpu: Device) -> None:
    args = [np.full(4, np.nan, np.float32), floats(3, 5), floats(5, 4), 0, 1]
    (got,) = run_on_gpu(gpu, "aten.addmm.default", args, [((3, 4), "float32")])
    assert np.isfinite(got).all()


GPU, SOFTWARE = DeviceFacts(), DeviceFacts(software=True)


@pytest.mark.parametrize(
    ("sizes", "facts", "kind"),
    [
        ((1, 1, 1000, 2048, "nk"), GPU, Rows),
        ((1, 1, 1000, 2048, "nk"), SOFTWARE, Rows),
        ((1, 64, 3136, 576, "image"), SOFTWARE, Block),
        ((1, 64, 3136, 576, "image"), GPU, Tile),
    ],
)
def test_kinds(sizes: tuple[int, int, int, int, str], facts: DeviceFacts, kind: type) -> None:
    assert isinstance(choose(*sizes, facts), kind)


def test_tiles_grow_with_the_product_and_split_where_there_are_few() -> None:
    assert choose(1, 2048, 2048, 2048, "kn", GPU) == LARGE
    assert choose(1, 256, 3136, 64, "kn", GPU) == MEDIUM
    few = choose(1, 512, 49, 4608, "image", GPU)
    assert isinstance(few, Tile) and replace(few, splits=1) == SMALL and few.splits > 1
    assert choose(1, 8, 8, 16, "kn", GPU) == SMALL


@pytest.mark.parametrize("tile", TILES, ids=str)
def test_tiles_keep_to_the_limits_of_every_device(tile: Tile) -> None:
    assert tile.workgroup_bytes <= GPU.max_workgroup_bytes
    assert tile.invocations <= GPU.max_invocations
    assert tile.loads in (1, 2) and tile.rows == tile.columns


@pytest.mark.parametrize("k", [1, 63, 64, 300, 4608, 5000])
def test_every_split_has_work(k: int) -> None:
    variant = choose(1, 33, 17, k, "kn", GPU)
    assert isinstance(variant, Tile)
    per_split = -(-k // (variant.splits * variant.slice_depth)) * variant.slice_depth
    assert (variant.splits - 1) * per_split < k <= variant.splits * per_split
