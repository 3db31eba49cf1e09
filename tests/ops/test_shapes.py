"""Operators on the GPU against their references, for shapes, dims and dtypes that hypothesis makes up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from goldens import difference
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from single import run_on_gpu, run_reference

from executorch_webgpu.gpu.device import Device, select_device

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
SIZES = st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 11, 37])
SHAPES = st.lists(SIZES, max_size=5).map(tuple).filter(lambda shape: math.prod(shape) <= 20000)
NUMBERS = st.sampled_from(["float32", "float16", "int32", "int64", "uint8", "int8"])
FLOATS = st.sampled_from(["float32", "float16"])


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def fill(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray[Any, Any]:
    """Small values, whole ones for ints."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return np.asarray(rng.uniform(-3, 3, shape)).astype(dtype)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    return np.asarray(rng.integers(0 if dtype == "uint8" else -9, 9, shape)).astype(dtype)


def compare(gpu: Device, name: str, args: list[Any], *outs: tuple[tuple[int, ...], str]) -> None:
    got, want = run_on_gpu(gpu, name, args, outs), run_reference(name, args, outs)
    half = any("float16" in (dtype, *(a.dtype.name for a in args if isinstance(a, np.ndarray))) for _, dtype in outs)
    tolerance = 4e-3 if half else 1e-5
    for a, b in zip(got, want, strict=True):
        assert difference(a, b, tolerance, tolerance, 0) is None, f"{name}: {difference(a, b, tolerance, tolerance, 0)}"


@st.composite
def broadcasts(draw: st.DrawFn, count: int) -> list[tuple[int, ...]]:
    """Shapes that broadcast together."""
    full = draw(SHAPES)
    shapes = []
    for _ in range(count):
        kept = tuple(size if draw(st.integers(0, 3)) else 1 for size in full)
        shapes.append(kept[draw(st.integers(0, len(kept))) :] if not draw(st.integers(0, 2)) else kept)
    return shapes


@few
@given(
    shapes=broadcasts(2),
    dtype=NUMBERS,
    name=st.sampled_from(["aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor", "aten.minimum.default"]),
)
def test_arithmetic(gpu: Device, shapes: list[tuple[int, ...]], dtype: str, name: str) -> None:
    x, y = (fill(shape, dtype, seed) for seed, shape in enumerate(shapes))
    alpha = [1] if name in ("aten.add.Tensor", "aten.sub.Tensor") else []
    compare(gpu, name, [x, y, *alpha], (np.broadcast_shapes(*shapes), dtype))


@few
@given(shapes=broadcasts(2), dtype=NUMBERS, name=st.sampled_from(["eq", "lt", "le", "gt", "ge"]))
def test_comparison(gpu: Device, shapes: list[tuple[int, ...]], dtype: str, name: str) -> None:
    x, y = (fill(shape, dtype, seed) for seed, shape in enumerate(shapes))
    compare(gpu, f"aten.{name}.Tensor", [x, y], (np.broadcast_shapes(*shapes), "bool"))


@few
@given(shapes=broadcasts(3), dtype=NUMBERS)
def test_where(gpu: Device, shapes: list[tuple[int, ...]], dtype: str) -> None:
    x, y = (fill(shape, dtype, seed) for seed, shape in enumerate(shapes[1:]))
    compare(gpu, "aten.where.self", [fill(shapes[0], "bool", 2), x, y], (np.broadcast_shapes(*shapes), dtype))


@few
@given(shape=SHAPES, source=NUMBERS, target=NUMBERS)
def test_cast(gpu: Device, shape: tuple[int, ...], source: str, target: str) -> None:
    # A negative float has no meaning as an unsigned int.
    x = fill(shape, source, 0)
    if target == "uint8":
        x = np.asarray(np.abs(x))
    compare(gpu, "dim_order_ops._to_dim_order_copy.default", [x, None], (shape, target))


@few
@given(
    shape=SHAPES,
    dtype=FLOATS,
    data=st.data(),
    keepdim=st.booleans(),
    name=st.sampled_from(["mean.dim", "sum.dim_IntList", "amax.default", "amin.default"]),
)
def test_reduction(
    gpu: Device, shape: tuple[int, ...], dtype: str, data: st.DataObject, keepdim: bool, name: str
) -> None:
    dims = sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)))) if shape else []
    if name.startswith("am") and 0 in shape:
        return  # an extreme of nothing is an error
    x = fill(shape, dtype, 0)
    result = np.sum(x, tuple(dims) if dims else None, keepdims=keepdim)
    out = result.shape if shape else ()
    compare(gpu, f"aten.{name}", [x, dims, keepdim], (out, dtype))


@few
@given(shape=SHAPES.filter(len), dtype=FLOATS, data=st.data(), name=st.sampled_from(["_softmax", "_log_softmax"]))
def test_softmax(gpu: Device, shape: tuple[int, ...], dtype: str, data: st.DataObject, name: str) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    compare(gpu, f"aten.{name}.default", [fill(shape, dtype, 0), dim, False], (shape, dtype))


@few
@given(rows=SIZES, n=st.sampled_from([1, 5, 37, 40, 300]), dtype=FLOATS, affine=st.booleans())
def test_layer_norm(gpu: Device, rows: int, n: int, dtype: str, affine: bool) -> None:
    x = fill((rows, n), dtype, 0)
    if n == 1:
        return  # a variance of zero: rounding is all that is left
    weight, bias = (fill((n,), dtype, 1), fill((n,), dtype, 2)) if affine else (None, None)
    outs = [((rows, n), dtype), ((rows, 1), dtype), ((rows, 1), dtype)]
    compare(gpu, "aten.native_layer_norm.default", [x, [n], weight, bias, 1e-5], *outs)
