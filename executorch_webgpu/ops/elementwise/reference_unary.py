"""The meaning of functions of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from executorch_webgpu.ops.elementwise.special import erf
from executorch_webgpu.ops.promotion import Array, quiet, wide
from executorch_webgpu.ops.registry import Out, reference


def sigmoid(x: Array) -> Array:
    """Return ``1 / (1 + exp(-x))``."""
    return np.asarray(1 / (1 + np.exp(-x)))


# Functions of floating point; integers are converted first.
_FLOATING: dict[str, Callable[[Array], Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": erf,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": sigmoid,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}

# Roundings; integers stay as they are.
_ROUNDING: dict[str, Callable[[Array], Any]] = {"ceil": np.ceil, "floor": np.floor, "round": np.rint, "trunc": np.trunc}

# Functions that keep the dtype, or answer with bools.
_KEEPING: dict[str, Callable[[Array], Any]] = {
    "_conj_physical": np.conj,
    "abs": np.abs,
    "bitwise_not": np.invert,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "logical_not": np.logical_not,
    "neg": np.negative,
    "sign": lambda x: x if x.dtype == np.bool_ else np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype),
}


def _register(name: str, function: Callable[[Array], Any], prepare: Callable[[Array], Array]) -> None:
    @reference(f"aten.{name}.default", f"aten::{name}.out")
    @quiet
    def unary(out: Out, x: Array) -> Array:
        return np.asarray(function(prepare(x)))


for _name, _function in _FLOATING.items():
    _register(_name, _function, wide)
for _name, _function in _KEEPING.items():
    _register(_name, _function, lambda x: x)
for _name, _function in _ROUNDING.items():
    _register(_name, lambda x, f=_function: x if x.dtype.kind in "biu" else f(x), lambda x: x)  # type: ignore[misc]


@reference("aten.round.decimals", "aten::round.decimals_out")
@quiet
def round_decimals(out: Out, x: Array, decimals: int) -> Array:
    """Round to ``decimals`` digits after the point (before it where negative), halves to even."""
    power = np.float64(10) ** abs(decimals)
    scaled = wide(x) * power if decimals >= 0 else wide(x) / power
    return np.asarray(np.rint(scaled) / power if decimals >= 0 else np.rint(scaled) * power)


@reference("aten.logit.default", "aten::logit.out")
@quiet
def logit(out: Out, x: Array, eps: float | None = None) -> Array:
    """``log(x / (1 - x))``, with ``x`` clamped to ``[eps, 1 - eps]`` first where ``eps`` is given."""
    z = wide(x)
    if eps is not None:
        z = np.clip(z, z.dtype.type(eps), z.dtype.type(1 - eps))
    return np.asarray(np.log(z / (1 - z)))
