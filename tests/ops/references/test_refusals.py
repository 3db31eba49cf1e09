"""What references refuse, what they draw at random, and what they write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from executorch_webgpu.errors import ExecuTorchError, InvalidArgument, InvalidIndex
from executorch_webgpu.ops.registry import Out, references

FLOAT = Out((3,), np.dtype(np.float32))
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def call(name: str, *args: Any, outs: Any = FLOAT) -> Any:
    return references()[name].function(outs, *args)


@pytest.mark.parametrize("name", ["div.out_mode", "floor_divide.out", "remainder.Tensor_out", "fmod.Tensor_out"])
def test_integers_are_not_divided_by_zero(name: str) -> None:
    mode = ["floor"] if name == "div.out_mode" else []
    with pytest.raises(InvalidArgument, match="division by zero"):
        call(f"aten::{name}", np.array([1, 2]), np.array([1, 0]), *mode)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("aten::index.Tensor_out", (X, [np.array([2])])),
        ("aten::index.Tensor_out", (X, [None, np.array([-4])])),
        ("aten::index_put.out", (X, [np.array([2])], X[0])),
        ("aten::index_select.out", (X, 1, np.array([3]))),
        ("aten::index_select.out", (X, 1, np.array([-1]))),
        ("aten::gather.out", (X, 1, np.array([[3]]))),
        ("aten::scatter.value_out", (X, 0, np.array([[2]]), 1.0)),
        ("aten::embedding.out", (X, np.array([-1]))),
        ("aten::embedding.out", (X, np.array([2]))),
    ],
)
def test_indices_outside_are_refused(name: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidIndex, match="out of range for size"):
        call(name, *args)


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("aten::masked_scatter.out", (X, X > 1, X[0]), "4 elements are to be replaced but the source has 3"),
        ("aten::split_with_sizes_copy.out", (X, [1, 1], 1), "do not add up to 3"),
        ("aten::reflection_pad1d.out", (X, [3, 0]), "is not below the size 3"),
        ("aten::_local_scalar_dense", (X,), "6 elements"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(name: str, args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ExecuTorchError, match=message):
        call(name, *args)


def test_uniform_numbers_lie_in_the_unit_interval() -> None:
    drawn = call("aten::rand.out", [1000])
    assert drawn.min() >= 0 and drawn.max() < 1 and 0.4 < drawn.mean() < 0.6


def test_normal_numbers_have_their_moments() -> None:
    drawn = call("aten::randn.out", [4000])
    assert abs(drawn.mean()) < 0.1 and 0.9 < drawn.std() < 1.1


def test_dropout_scales_what_it_keeps() -> None:
    ones = np.ones(4000, np.float32)
    kept, mask = call("aten::native_dropout.out", ones, 0.75, True)
    np.testing.assert_array_equal(kept, np.where(mask, 4, 0))
    assert 0.2 < mask.mean() < 0.3


def test_batch_norm_in_training_moves_the_running_statistics() -> None:
    x = np.array([[1.0, 4.0], [3.0, 8.0]], np.float32)
    mean, variance = np.zeros(2, np.float32), np.ones(2, np.float32)
    call("aten::_native_batch_norm_legit.out", x, None, None, mean, variance, True, 0.5, 1e-5, outs=(FLOAT,) * 3)
    np.testing.assert_allclose(mean, [1, 3])
    np.testing.assert_allclose(variance, [1.5, 4.5])


def test_gradients_that_are_masked_out_are_zero() -> None:
    x, weight, grad = (np.ones(shape, np.float32) for shape in ((1, 2, 5), (3, 2, 2), (1, 3, 4)))
    lists = [1], [0], [1], False, [0], 1
    found = call(
        "aten::convolution_backward.out", grad, x, weight, [3], *lists, [False, False, True], outs=(FLOAT,) * 3
    )
    assert not found[0].any() and not found[1].any()
    assert [item.shape for item in found[:2]] == [x.shape, weight.shape]
    np.testing.assert_array_equal(found[2], [4, 4, 4])
