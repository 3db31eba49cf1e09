"""The operator registry: what each operator means (reference) and how it runs on a GPU (lowering).

Names are those in the files: ``aten.add.Tensor`` in a delegate blob, ``aten::add.out`` in an execution plan. Both map
to one reference. Every package ``ops/<family>`` registers itself when ``load_families`` imports its modules.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Shape = tuple[int, ...]
Function = TypeVar("Function", bound=Callable[..., Any])

FLOATS = ("float32", "float16")
INTS = ("int32", "int64", "uint8", "int8")
NUMBERS = (*FLOATS, *INTS)
ALL = (*NUMBERS, "bool")


@dataclass(frozen=True)
class Out:
    """What the program says of one output: dtype, and shape (the upper bound where it can vary)."""

    shape: Shape
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Reference:
    """The meaning of an operator in numpy.

    ``function(out, *args)`` gets an ``Out`` (a tuple of them where ``outputs`` is not 1), then the arguments: tensors
    as arrays of logical shape, lists as lists, absent things as None. It answers with an array (or a tuple or list of
    arrays); the caller casts to ``out.dtype``. Caches are written in place.
    """

    name: str
    function: Callable[..., Any]
    outputs: int  # -1: as many as the program lists
    writes: tuple[int, ...]  # positions of arguments that it changes in place (caches, parameters)


@dataclass(frozen=True)
class Lowering:
    """How an operator of a delegate runs on a GPU.

    ``function(ctx, *args)`` declares each output with ``ctx.out(shape)`` and records dispatches. For a ``renaming`` it
    records nothing and returns the shape of an output whose elements are those of its first argument in order. That of
    a fused operator answers False, before it records anything, where its kernel does not suit the shapes.
    ``dtypes`` are those accepted for the first tensor argument (for the output where there is none).
    """

    name: str
    function: Callable[..., Any]
    dtypes: tuple[str, ...]
    renaming: bool


_references: dict[str, Reference] = {}
_lowerings: dict[str, Lowering] = {}


def reference(*names: str, outputs: int = 1, writes: tuple[int, ...] = ()) -> Callable[[Function], Function]:
    """Register a numpy function as the meaning of the operators ``names``."""

    def register(function: Function) -> Function:
        for name in names:
            if name in _references:
                raise ValueError(f"operator {name} has two references")
            _references[name] = Reference(name, function, outputs, writes)
        return function

    return register


def lowering(*names: str, dtypes: tuple[str, ...] = FLOATS) -> Callable[[Function], Function]:
    """Register a function as the lowering of the delegated operators ``names``."""
    return _lower(names, dtypes, renaming=False)


def renaming(*names: str, dtypes: tuple[str, ...] = ALL) -> Callable[[Function], Function]:
    """Register operators that only rename a tensor: same elements in the same order under another shape."""
    return _lower(names, dtypes, renaming=True)


def _lower(names: tuple[str, ...], dtypes: tuple[str, ...], renaming: bool) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        for name in names:
            if name in _lowerings:
                raise ValueError(f"operator {name} has two lowerings")
            _lowerings[name] = Lowering(name, function, dtypes, renaming)
        return function

    return register


@functools.cache
def load_families() -> None:
    """Import every operator family once."""
    package = importlib.import_module("executorch_webgpu.ops")
    for family in pkgutil.iter_modules(package.__path__):
        if family.ispkg:
            for module in ("reference", "lowering"):
                name = f"executorch_webgpu.ops.{family.name}"
                subpackage = importlib.import_module(name)
                for found in pkgutil.iter_modules(subpackage.__path__):
                    if found.name.startswith(module):
                        importlib.import_module(f"{name}.{found.name}")


def references() -> Mapping[str, Reference]:
    """Return all references by operator name, plan and delegate names alike."""
    load_families()
    return _references


def lowerings() -> Mapping[str, Lowering]:
    """Return all lowerings by operator name."""
    load_families()
    return _lowerings
