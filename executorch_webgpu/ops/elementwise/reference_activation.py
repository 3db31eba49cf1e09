"""The meaning of activation functions."""

from __future__ import annotations

import numpy as np

from executorch_webgpu.ops.elementwise.reference_unary import sigmoid
from executorch_webgpu.ops.elementwise.special import erf
from executorch_webgpu.ops.promotion import Array, cast, quiet, wide
from executorch_webgpu.ops.registry import Out, reference


@reference("aten.relu.default", "aten::relu.out")
def relu(out: Out, x: Array) -> Array:
    """``max(x, 0)``; NaN stays NaN."""
    return np.asarray(np.maximum(x, np.zeros((), x.dtype)))


@reference("aten.hardtanh.default", "aten::hardtanh.out")
@quiet
def hardtanh(out: Out, x: Array, min_val: float = -1, max_val: float = 1) -> Array:
    """``x`` clamped to ``[min_val, max_val]`` in its own dtype."""
    return np.asarray(np.minimum(np.maximum(x, cast(min_val, x.dtype)), cast(max_val, x.dtype)))


@reference("aten.relu6.default")
def relu6(out: Out, x: Array) -> Array:
    """``x`` clamped to ``[0, 6]``."""
    return hardtanh(out, x, 0, 6)


@reference("aten.hardsigmoid.default", "aten::hardsigmoid.out")
@quiet
def hardsigmoid(out: Out, x: Array) -> Array:
    """``clamp(x + 3, 0, 6) / 6``."""
    return np.asarray(np.minimum(np.maximum(wide(x) + 3, 0), 6) / 6)


@reference("aten.hardswish.default", "aten::hardswish.out")
@quiet
def hardswish(out: Out, x: Array) -> Array:
    """``x * clamp(x + 3, 0, 6) / 6``."""
    z = wide(x)
    return np.asarray(z * np.minimum(np.maximum(z + 3, 0), 6) / 6)


@reference("aten.hardshrink.default", "aten::hardshrink.out")
@quiet
def hardshrink(out: Out, x: Array, lambd: float = 0.5) -> Array:
    """``x`` where ``|x| > lambd``, else 0."""
    limit = cast(lambd, x.dtype)
    return np.where((x >= -limit) & (x <= limit), np.zeros((), x.dtype), x)


@reference("aten.leaky_relu.default", "aten::leaky_relu.out")
@quiet
def leaky_relu(out: Out, x: Array, negative_slope: float = 0.01) -> Array:
    """``x`` where positive, else ``x * negative_slope``."""
    z = wide(x)
    return np.where(z > 0, z, z * cast(negative_slope, z.dtype))


@reference("aten.elu.default", "aten::elu.out")
@quiet
def elu(out: Out, x: Array, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Array:
    """``x * scale`` where positive, else ``(exp(x * input_scale) - 1) * alpha * scale``."""
    z = wide(x)
    negative = cast(float(alpha) * float(scale), z.dtype) * np.expm1(z * cast(input_scale, z.dtype))
    return np.where(z <= 0, negative, z * cast(scale, z.dtype))


@reference("aten.gelu.default", "aten::gelu.out")
@quiet
def gelu(out: Out, x: Array, approximate: str = "none") -> Array:
    """``x * Phi(x)``, with the normal distribution exact (``none``) or through ``tanh``."""
    z = wide(x)
    if approximate == "tanh":
        inner = z.dtype.type(0.7978845608028654) * (z + z.dtype.type(0.044715) * z * z * z)
        return np.asarray(0.5 * z * (1 + np.tanh(inner)))
    return np.asarray(0.5 * z * (1 + erf(z * z.dtype.type(0.7071067811865476))))


@reference("aten.glu.default", "aten::glu.out")
@quiet
def glu(out: Out, x: Array, dim: int = -1) -> Array:
    """The first half of ``dim`` times the sigmoid of the second."""
    first, second = np.split(wide(x), 2, axis=dim)
    return np.asarray(first * sigmoid(second))
