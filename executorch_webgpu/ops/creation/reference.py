"""The meaning of operators that make tensors from sizes and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.ops.promotion import Array, cast, wide
from executorch_webgpu.ops.registry import Out, reference


@reference("aten.full.default", "aten::full.out")
def full(out: Out, size: Sequence[int], fill_value: float, *options: Any) -> Array:
    """``fill_value`` everywhere."""
    return np.full(tuple(size), cast(fill_value, out.dtype), out.dtype)


@reference("aten.full_like.default", "aten::full_like.out")
def full_like(out: Out, x: Array, fill_value: float, *options: Any) -> Array:
    """``fill_value`` in the shape of ``x``."""
    return full(out, x.shape, fill_value)


@reference("aten.zeros.default", "aten.empty.memory_format", "aten::zeros.out", "aten::empty.out")
def zeros(out: Out, size: Sequence[int], *options: Any) -> Array:
    """Zeros; an empty tensor has no defined contents."""
    return np.zeros(tuple(size), out.dtype)


@reference("dim_order_ops._empty_dim_order.default", "dim_order_ops::_empty_dim_order.out")
def empty_dim_order(out: Out, size: Sequence[int], *options: Any) -> Array:
    """Zeros: the contents are not defined."""
    return np.zeros(tuple(size), out.dtype)


@reference("aten.ones.default", "aten::ones.out")
def ones(out: Out, size: Sequence[int], *options: Any) -> Array:
    """Ones."""
    return np.ones(tuple(size), out.dtype)


@reference("aten.zeros_like.default", "aten::zeros_like.out")
def zeros_like(out: Out, x: Array, *options: Any) -> Array:
    """Zeros in the shape of ``x``."""
    return np.zeros(x.shape, out.dtype)


@reference("aten.ones_like.default", "aten::ones_like.out")
def ones_like(out: Out, x: Array, *options: Any) -> Array:
    """Ones in the shape of ``x``."""
    return np.ones(x.shape, out.dtype)


@reference("aten.scalar_tensor.default", "aten::scalar_tensor.out")
def scalar_tensor(out: Out, value: float, *options: Any) -> Array:
    """A tensor of rank 0."""
    return cast(value, out.dtype)


@reference("aten.arange.start_step", "aten::arange.start_out")
def arange(out: Out, start: float, end: float, step: float = 1, *options: Any) -> Array:
    """``start``, ``start + step``, ... below ``end``."""
    if all(isinstance(value, int) for value in (start, end, step)):
        return cast(np.arange(start, end, step), out.dtype)
    count = math.ceil((end - start) / step)
    return cast(start + np.arange(count) * float(step), out.dtype)


@reference("aten.arange.default", "aten::arange.out")
def arange_end(out: Out, end: float, *options: Any) -> Array:
    """``0, 1, ...`` below ``end``."""
    return arange(out, 0, end)


@reference("aten.rand.default", "aten::rand.out")
def rand(out: Out, size: Sequence[int], *options: Any) -> Array:
    """Numbers drawn evenly from [0, 1)."""
    return np.random.default_rng().random(tuple(size), np.float32)


@reference("aten.randn.default", "aten::randn.out")
def randn(out: Out, size: Sequence[int], *options: Any) -> Array:
    """Numbers drawn from the standard normal distribution."""
    return np.random.default_rng().standard_normal(tuple(size), np.float32)


@reference("aten.native_dropout.default", "aten::native_dropout.out", outputs=2)
def native_dropout(outs: Sequence[Out], x: Array, p: float, train: bool | None) -> tuple[Array, Array]:
    """In training zero each element with probability ``p`` and scale the others up; also the mask of those kept."""
    if train is False:
        return x, np.ones(x.shape, np.bool_)
    kept: Array = np.asarray(np.random.default_rng().random(x.shape) >= p)
    scale = 0.0 if p >= 1 else 1 / (1 - p)
    z = wide(x)
    return z * kept * cast(scale, z.dtype), kept
