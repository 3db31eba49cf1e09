"""The meaning of the delegate's own convolution: one whose values are limited."""

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
