"""The meaning of the delegate's own convolutions: with bounds, and those that the package fuses with what follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference, references

Array = np.ndarray[Any, np.dtype[Any]]


@reference("et_vk.conv_with_clamp.default", "conv_with_clamp.default")
def conv_with_clamp(
    out: Out,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_min: float | None = None,
    output_max: float | None = None,
) -> Array:
    """A convolution, then ``clamp``; a bound that is None or beyond the dtype limits nothing."""
    plain = references()["aten.convolution.default"].function
    values = plain(out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    low = -np.inf if output_min is None else output_min
    high = np.inf if output_max is None else output_max
    with np.errstate(over="ignore"):
        limits = np.asarray([low, high]).astype(np.float32)
    clamped: Array = np.clip(values, limits[0], limits[1])
    return clamped


@reference("fused.conv_add")
def conv_add(
    out: Out,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    residual: Array,
) -> Array:
    """``convolution(x) + residual``."""
    plain = references()["aten.convolution.default"].function
    total: Array = plain(out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups) + residual
    return total


@reference("fused.conv_add_relu")
def conv_add_relu(
    out: Out,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    residual: Array,
) -> Array:
    """``relu(convolution(x) + residual)``."""
    total = conv_add(out, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups, residual)
    positive: Array = np.maximum(total, 0)
    return positive
