"""The meaning of copies: same values, another dtype, memory layout or place."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.promotion import Array, Value, cast
from executorch_webgpu.ops.registry import Out, reference


@reference(
    "aten._to_copy.default",
    "aten.alias_copy.default",
    "aten.clone.default",
    "aten.detach_copy.default",
    "aten.lift_fresh_copy.default",
    "dim_order_ops._clone_dim_order.default",
    "dim_order_ops._to_dim_order_copy.default",
    "aten::_to_copy.out",
    "aten::alias_copy.out",
    "aten::clone.out",
    "aten::detach_copy.out",
    "aten::lift_fresh_copy.out",
    "dim_order_ops::_clone_dim_order.out",
    "dim_order_ops::_to_dim_order_copy.out",
)
def copied(out: Out, x: Array, *layout: Any) -> Array:
    """``x`` in the dtype of the output; memory layout is not part of an array's value."""
    return cast(x, out.dtype)


@reference("aten.copy.default", "aten::copy.out")
def copy(out: Out, x: Array, source: Array, non_blocking: bool = False) -> Array:
    """``source`` in the shape and dtype of ``x``."""
    return np.broadcast_to(cast(source, x.dtype), x.shape)


@reference("aten::copy_", writes=(0,))
def copy_into(out: Out, x: Array, source: Array, non_blocking: bool = False) -> Array:
    """Write ``source`` into ``x``."""
    x[...] = cast(source, x.dtype)
    return x


@reference("aten.fill.Scalar", "aten.fill.Tensor", "aten::fill.Scalar_out", "aten::fill.Tensor_out")
def fill(out: Out, x: Array, value: Value) -> Array:
    """``value`` in the shape and dtype of ``x``."""
    return np.broadcast_to(cast(value, x.dtype), x.shape)
