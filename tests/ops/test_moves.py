"""Operators that only move elements: bit for bit in every dtype, those that no exporter writes among them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from single import run_on_gpu, run_reference

from executorch_webgpu.errors import ExecuTorchError
from executorch_webgpu.gpu.device import Device, select_device
from executorch_webgpu.ops.registry import ALL

Array = np.ndarray[Any, np.dtype[Any]]
few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
SIZES = st.sampled_from([1, 2, 3, 4, 5, 8, 11])
SHAPES = st.lists(SIZES, min_size=1, max_size=5).map(tuple).filter(lambda shape: math.prod(shape) <= 4000)


@pytest.fixture
def gpu(device: str) -> Device:
    if device == "cpu":
        pytest.skip("the reference is what the GPU is compared with")
    found = select_device("gpu")
    assert found is not None
    return found


def fill(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    """Values that differ from their neighbours; floats of every kind of bits that compare equal to themselves."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    return np.asarray(rng.integers(0 if dtype == "uint8" else -100, 100, shape)).astype(dtype)


def same(gpu: Device, name: str, args: list[Any], *shapes: tuple[int, ...]) -> None:
    first = args[0][0] if isinstance(args[0], list) else args[0]
    outs = [(shape, first.dtype.name) for shape in shapes]
    got, want = run_on_gpu(gpu, name, args, outs), run_reference(name, args, outs)
    for a, b in zip(got, want, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert a.tobytes() == np.ascontiguousarray(b).tobytes(), name


MOVES: dict[str, tuple[list[Any], tuple[int, ...]]] = {
    "aten.permute.default": ([[2, 0, 1]], (7, 3, 5)),
    "aten.permute_copy.default": ([[1, 2, 0]], (5, 7, 3)),
    "aten.select.int": ([1, -2], (3, 7)),
    "aten.select_copy.int": ([-1, 4], (3, 5)),
    "aten.slice.Tensor": ([1, 1, 2**63 - 1, 2], (3, 2, 7)),
    "aten.slice_copy.Tensor": ([-1, -4, -1, 1], (3, 5, 3)),
    "aten.flip.default": ([[0, 2]], (3, 5, 7)),
    "aten.repeat.default": ([[2, 1, 3, 2]], (2, 3, 15, 14)),
    "aten.repeat_interleave.self_int": ([3, 1], (3, 15, 7)),
    "aten.constant_pad_nd.default": ([[1, 2, -1, 3], 1], (3, 7, 10)),
    "aten.unfold_copy.default": ([2, 3, 2], (3, 5, 3, 3)),
}


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", MOVES)
def test_every_dtype(name: str, dtype: str, gpu: Device) -> None:
    args, shape = MOVES[name]
    same(gpu, name, [fill((3, 5, 7), dtype), *args], shape)


@pytest.mark.parametrize("dtype", ALL)
def test_matrix_is_transposed(dtype: str, gpu: Device) -> None:
    same(gpu, "aten.t_copy.default", [fill((5, 7), dtype)], (7, 5))
    same(gpu, "aten.pixel_shuffle.default", [fill((2, 8, 3, 5), dtype), 2], (2, 2, 6, 10))
    same(gpu, "aten.split_with_sizes_copy.default", [fill((5, 7), dtype), [3, 0, 4], 1], (5, 3), (5, 0), (5, 4))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("unit", [1, 4])
def test_cat_of_more_than_one_dispatch_holds(dtype: str, dim: int, unit: int, gpu: Device) -> None:
    sizes = [unit * size for size in (1, 2, 5, 3, 1, 7, 2, 4)]
    shapes = [tuple(n if axis == dim % 3 else 4 for axis in range(3)) for n in sizes]
    parts = [fill(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    whole = tuple(sum(sizes) if axis == dim % 3 else 4 for axis in range(3))
    same(gpu, "aten.cat.default", [parts, dim], whole)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_indexing(dtype: str, index_dtype: str, gpu: Device) -> None:
    x = fill((3, 5, 7), dtype)
    picks = np.array([4, 0, 2, 2], index_dtype)
    same(gpu, "aten.index_select.default", [x, 1, picks], (3, 4, 7))
    same(gpu, "aten.index_select.default", [fill((5, 8), dtype), 0, picks], (4, 8))
    same(gpu, "aten.embedding.default", [fill((5, 7), dtype), picks, -1, False, False], (4, 7))
    places = np.random.default_rng(1).integers(0, 5, (2, 4, 6)).astype(index_dtype)
    same(gpu, "aten.gather.default", [x, 1, places, False], (2, 4, 6))


@few
@given(SHAPES, st.data())
def test_any_permutation(gpu: Device, shape: tuple[int, ...], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    x = fill(shape, data.draw(st.sampled_from(["float32", "float16", "int8"])))
    same(gpu, "aten.permute_copy.default", [x, list(order)], tuple(shape[axis] for axis in order))


@few
@given(SHAPES, st.data())
def test_any_slice(gpu: Device, shape: tuple[int, ...], data: st.DataObject) -> None:
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    start, end = data.draw(st.integers(-15, 15)), data.draw(st.integers(-15, 15) | st.just(2**63 - 1))
    step = data.draw(st.integers(1, 3))
    size = len(range(*slice(start, end, step).indices(shape[dim])))
    at = dim % len(shape)
    x = fill(shape, data.draw(st.sampled_from(["float32", "float16", "uint8"])))
    same(gpu, "aten.slice_copy.Tensor", [x, dim, start, end, step], (*shape[:at], size, *shape[at + 1 :]))


@few
@given(SHAPES, st.data())
def test_any_padding(gpu: Device, shape: tuple[int, ...], data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=1, max_size=len(shape)))
    sizes = list(shape)
    for pair, (before, after) in enumerate(pairs):
        sizes[-1 - pair] += before + after
    x = fill(shape, data.draw(st.sampled_from(["float32", "float16", "bool"])))
    flat = [amount for pair in pairs for amount in pair]
    same(gpu, "aten.constant_pad_nd.default", [x, flat, 1], tuple(sizes))


def test_nan_and_its_bits_are_kept(gpu: Device) -> None:
    x = np.array([[0x7FC00001, 0xFFC12345], [0x00000001, 0x80000000]], np.uint32).view(np.float32)
    (got,) = run_on_gpu(gpu, "aten.permute_copy.default", [x, [1, 0]], [((2, 2), "float32")])
    assert got.tobytes() == np.ascontiguousarray(x.T).tobytes()


@pytest.mark.parametrize(
    ("name", "args", "shape"),
    [
        ("aten.permute_copy.default", [[0, 3]], (3, 5)),
        ("aten.select_copy.int", [0, 7], (5,)),
        ("aten.expand_copy.default", [[4, 5]], (4, 5)),
        ("aten.view_copy.default", [[4, -1]], (4, 4)),
        ("aten.unfold_copy.default", [1, 9, 1], (3, 1, 9)),
        ("aten.split_with_sizes_copy.default", [[1, 1], 0], (1, 5)),
    ],
)
def test_arguments_that_do_not_fit_are_refused(name: str, args: list[Any], shape: tuple[int, ...], gpu: Device) -> None:
    with pytest.raises(ExecuTorchError, match=name):
        run_on_gpu(gpu, name, [fill((3, 5), "float32"), *args], [(shape, "float32")])
