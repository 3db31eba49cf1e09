"""Operators of transformers and of quantization on the GPU against their references, for made-up shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from goldens import difference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import Device, select_device
from executorch_webgpu.ops.quantization.blocks import reduced_shape

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
ROWS = st.sampled_from([0, 1, 2, 3, 5, 8, 9, 37])
SIZES = st.sampled_from([1, 2, 3, 4, 7, 8, 12, 32, 37, 64])
FLOATS = st.sampled_from(["float32", "float16"])
SEEDS = st.integers(0, 9)


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def agree(gpu: Device, name: str, args: list[Any], *outs: tuple[tuple[int, ...], str], atol_int: int = 0) -> None:
    got, want = run_on_gpu(gpu, name, args, outs), run_reference(name, args, outs)
    half = any(dtype == "float16" for _, dtype in outs)
    tolerance = 4e-3 if half else 2e-5
    for a, b in zip(got, want, strict=True):
        found = difference(a, b, tolerance, tolerance, atol_int)
        assert found is None, f"{name}: {found}"


def floats(seed: int, *shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.asarray(np.random.default_rng(seed).uniform(-1, 1, shape)).astype(dtype)


@few
@given(rows=ROWS, width=SIZES, dtype=FLOATS, seed=SEEDS)
def test_rms_norm(gpu: Device, rows: int, width: int, dtype: str, seed: int) -> None:
    x, weight = floats(seed, rows, width, dtype=dtype), floats(seed, width, dtype=dtype)
    agree(gpu, "et_vk.rms_norm.default", [x, weight, 1e-5], ((rows, width), dtype))


@few
@given(
    rows=ROWS,
    outputs=SIZES,
    groups=st.integers(1, 4),
    group=st.sampled_from([4, 7, 8, 20, 32, 64]),
    dtype=FLOATS,
    bias=st.booleans(),
    seed=SEEDS,
)
def test_linear_q4gsw(
    gpu: Device, rows: int, outputs: int, groups: int, group: int, dtype: str, bias: bool, seed: int
) -> None:
    columns = groups * group
    packed = np.random.default_rng(seed).integers(0, 256, (outputs, -(-columns // 8) * 4), dtype=np.uint8)
    scales = (floats(seed, groups, -(-outputs // 4) * 4) * 0.05).astype(dtype)
    x = floats(seed, rows, columns, dtype=dtype)
    args = [x, packed, scales, group, floats(seed, outputs, dtype=dtype) if bias else None]
    agree(gpu, "et_vk.linear_q4gsw.default", args, ((rows, outputs), dtype))


@few
@given(
    rows=ROWS,
    keys=SIZES,
    key_heads=st.integers(1, 3),
    share=st.integers(1, 3),
    dim=st.sampled_from([1, 3, 4, 8, 20, 64, 68]),
    dtype=FLOATS,
    seed=SEEDS,
)
def test_sdpa(gpu: Device, rows: int, keys: int, key_heads: int, share: int, dim: int, dtype: str, seed: int) -> None:
    start = max(keys - rows, 0)
    context = start + rows + 2
    q = floats(seed, 1, rows, key_heads * share, dim, dtype=dtype)
    k, v = (floats(seed + n, 1, context, key_heads, dim, dtype=dtype) for n in (1, 2))
    agree(gpu, "llama.custom_sdpa.default", [q, k, v, start, None, 0.0, True, None], (q.shape, dtype))


@few
@given(rows=ROWS, heads=st.integers(1, 4), pairs=st.integers(1, 6), start=st.integers(0, 5), dtype=FLOATS, seed=SEEDS)
def test_rope(gpu: Device, rows: int, heads: int, pairs: int, start: int, dtype: str, seed: int) -> None:
    dim = pairs * 2 + 2
    q, k = floats(seed, 1, rows, heads, dim, dtype=dtype), floats(seed, 1, rows, 1, dim, dtype=dtype)
    cos, sin = (floats(seed + n, rows + 5, pairs * 2, dtype=dtype) for n in (1, 2))
    agree(gpu, "et_vk.apply_rotary_emb_hf.default", [q, k, cos, sin, start], (q.shape, dtype), (k.shape, dtype))


@few
@given(
    counts=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    data=st.data(),
    out=st.sampled_from(["int8", "uint8", "int32"]),
    seed=SEEDS,
)
def test_quantize_blocks(gpu: Device, counts: list[int], data: st.DataObject, out: str, seed: int) -> None:
    block = [data.draw(st.integers(1, 5)) for _ in counts]
    shape = tuple(count * size for count, size in zip(counts, block, strict=True))
    x = floats(seed, *shape)
    scales = np.abs(floats(seed + 1, *counts)) * 0.02 + 0.01
    zeros = np.zeros(counts, np.int32) + (100 if out == "uint8" else 3)
    low, high = (0, 255) if out == "uint8" else (-128, 127)
    agree(gpu, "torchao.quantize_affine.default", [x, block, scales, zeros, None, low, high], (shape, out), atol_int=1)
    codes = np.random.default_rng(seed).integers(low, high, shape).astype(out)
    args = [codes, block, scales, zeros, None, low, high, None]
    agree(gpu, "torchao.dequantize_affine.default", args, (shape, "float32"))
    chosen = reduced_shape(shape, block, False)
    args = [x, "ASYMMETRIC", block, None, -128, 127, None, None, None, False]
    agree(gpu, "torchao.choose_qparams_affine.default", args, (chosen, "float32"), (chosen, "int8"), atol_int=1)


@few
@given(rows=ROWS, outputs=SIZES, columns=SIZES, relu=st.booleans(), seed=SEEDS)
def test_q8ta_linear(gpu: Device, rows: int, outputs: int, columns: int, relu: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weight = (rng.integers(-127, 128, shape).astype(np.int8) for shape in ((rows, columns), (outputs, columns)))
    args = [x, 0.02, -14, weight, weight.sum(1).astype(np.int32), np.abs(floats(seed, outputs)) * 0.1, 0.3, -5]
    args += [floats(seed, outputs), "relu" if relu else "none"]
    agree(gpu, "et_vk.q8ta_linear.default", args, ((rows, outputs), "int8"), atol_int=1)
