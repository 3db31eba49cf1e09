"""How the arguments of operators follow from one problem shape, for those that take packed weights or caches.

``linear`` operators take MxKxN (rows, inner size, columns), attention SxHxKVxDxC (rows, heads, key-value heads, head
size, context). Every other operator gets one tensor for each shape and its other arguments by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class TensorSpec:
    """A tensor to make: uniform values in [low, high), ints included. A constant belongs to the program.

    ``derive`` makes it from the tensors of the arguments before it, by name.
    """

    shape: Shape
    dtype: str
    low: float = -1.0
    high: float = 1.0
    constant: bool = False
    derive: Callable[[Mapping[str, Array]], Array] | None = None

    def make(self, random: np.random.Generator, before: Mapping[str, Array]) -> Array:
        """Return the tensor; ``before`` are the tensors of the arguments before it."""
        if self.derive is not None:
            return self.derive(before)
        kind = np.dtype(self.dtype)
        if kind == np.bool_:
            return random.random(self.shape) < 0.5
        if kind.kind in "iu":
            return random.integers(int(self.low), int(self.high), self.shape, kind)
        return random.uniform(self.low, self.high, self.shape).astype(kind)


Arguments = dict[str, Any]  # parameter name -> TensorSpec or plain value


@dataclass(frozen=True)
class Recipe:
    """``form`` names the parts of the shape, ``output`` gives the output's; multiply and add are two operations."""

    form: str
    arguments: Callable[[Shape, str, int], Arguments]
    operations: Callable[[Shape], float]
    output: Callable[[Shape], Shape] | None = None

    def check(self, name: str, shape: Shape) -> None:
        """Raise InvalidArgument unless the shape has the form."""
        if len(shape) != len(self.form.split("x")):
            text = "x".join(map(str, shape))
            raise InvalidArgument(f"{name}: the shape {text} does not have the form {self.form}")


def _weight(shape: Shape, dtype: str, low: float = -1.0, high: float = 1.0) -> TensorSpec:
    return TensorSpec(shape, dtype, low, high, constant=True)


def _groups(columns: int, group: int) -> int:
    if group <= 0 or columns % group:
        raise InvalidArgument(f"the inner size {columns} is not a multiple of the group size {group}")
    return columns // group


def _linear_q4(shape: Shape, dtype: str, group: int) -> Arguments:
    m, k, n = shape
    return {
        "x": TensorSpec((m, k), dtype),
        "weight": _weight((n, k // 2), "uint8", 0, 256),
        "scales": _weight((_groups(k, group), n), "float32", 0.001, 0.01),
        "group": group,
        "bias": None,
    }


def _linear_dq8_q4(shape: Shape, dtype: str, group: int) -> Arguments:
    m, k, n = shape
    groups = _groups(k, group)

    def sums(before: Mapping[str, Array]) -> Array:
        packed = before["weight"]
        signed = np.stack([packed & 15, packed >> 4], -1).astype(np.int32) - 8
        return np.ascontiguousarray(signed.reshape(n, groups, group).sum(-1, dtype=np.int32).T)

    return {
        **_linear_q4(shape, dtype, group),
        "x_scale": TensorSpec((1, m), "float32", 0.01, 0.02),
        "x_zero": TensorSpec((1, m), "int8", -8, 8),
        "sums": TensorSpec((groups, n), "int32", constant=True, derive=sums),
    }


def _linear(shape: Shape, dtype: str, _group: int) -> Arguments:
    m, k, n = shape
    return {"x": TensorSpec((m, k), dtype), "weight": _weight((n, k), dtype), "bias": None}


def _matmul(shape: Shape, dtype: str, _group: int) -> Arguments:
    m, k, n = shape
    return {"a": TensorSpec((m, k), dtype), "b": TensorSpec((k, n), dtype)}


def _batched(shape: Shape, dtype: str, _group: int) -> Arguments:
    b, m, k, n = shape
    return {"a": TensorSpec((b, m, k), dtype), "b": TensorSpec((b, k, n), dtype)}


def _embedding_q4(shape: Shape, _dtype: str, group: int) -> Arguments:
    rows, vocabulary, size = shape
    return {
        "weight": _weight((vocabulary, size // 2), "uint8", 0, 256),
        "scales": _weight((vocabulary, _groups(size, group)), "float32", 0.001, 0.01),
        "group": group,
        "indices": TensorSpec((1, rows), "int32", 0, vocabulary),
        "low_first": True,
    }


def _attention(shape: Shape, dtype: str, _group: int) -> Arguments:
    rows, heads, kv_heads, size, context = shape
    if rows > context:
        raise InvalidArgument(f"{rows} rows do not fit a context of {context}")
    return {
        "q": TensorSpec((1, rows, heads, size), dtype),
        "k": TensorSpec((1, rows, kv_heads, size), dtype),
        "v": TensorSpec((1, rows, kv_heads, size), dtype),
        "k_cache": _weight((1, context, kv_heads, size), dtype),
        "v_cache": _weight((1, context, kv_heads, size), dtype),
        "start": context - rows,
        "sequence": 1,
        "mask": None,
        "dropout": 0,
        "causal": True,
        "scale": None,
    }


def _rotary(shape: Shape, dtype: str, _group: int) -> Arguments:
    rows, heads, kv_heads, size = shape
    return {
        "q": TensorSpec((1, rows, heads, size), dtype),
        "k": TensorSpec((1, rows, kv_heads, size), dtype),
        "cos": TensorSpec((rows, size // 2), dtype),
        "sin": TensorSpec((rows, size // 2), dtype),
    }


def _rms_norm(shape: Shape, dtype: str, _group: int) -> Arguments:
    return {"x": TensorSpec(shape, dtype), "weight": _weight(shape[-1:], dtype), "eps": 1e-5}


def _products(shape: Shape) -> float:
    return 2.0 * float(np.prod(shape))


def _rows_by_columns(shape: Shape) -> Shape:
    return shape[0], shape[2]


def _looked_up(shape: Shape) -> Shape:
    return 1, shape[0], shape[2]


def _nothing(_shape: Shape) -> float:
    return 0.0


def _attention_operations(shape: Shape) -> float:
    rows, heads, _, size, context = shape
    return 4.0 * rows * heads * size * (context - (rows - 1) / 2)


RECIPES: Mapping[str, Recipe] = {
    "et_vk.linear_q4gsw.default": Recipe("MxKxN", _linear_q4, _products, _rows_by_columns),
    "et_vk.linear_dq8ca_q4gsw.default": Recipe("MxKxN", _linear_dq8_q4, _products, _rows_by_columns),
    "aten.linear.default": Recipe("MxKxN", _linear, _products),
    "aten.mm.default": Recipe("MxKxN", _matmul, _products),
    "aten.bmm.default": Recipe("BxMxKxN", _batched, _products),
    "et_vk.embedding_q4gsw.default": Recipe("RxVxD", _embedding_q4, _nothing, _looked_up),
    "sdpa_with_kv_cache.default": Recipe("SxHxKVxDxC", _attention, _attention_operations),
    "et_vk.apply_rotary_emb.default": Recipe("SxHxKVxD", _rotary, _nothing),
    "et_vk.rms_norm.default": Recipe("MxK", _rms_norm, _nothing),
}
