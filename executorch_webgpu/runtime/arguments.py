"""What callers pass, checked against the plan and turned into arrays; and results in the caller's kind of tensor."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument, InvalidType, counted
from executorch_webgpu.format.plan import (
    DelegateCall,
    Dynamism,
    ExecutionPlan,
    IntListValue,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    TensorListValue,
    TensorValue,
)

Array = np.ndarray[Any, np.dtype[Any]]


def check_inputs(plan: ExecutionPlan, inputs: Sequence[Any], used: frozenset[int]) -> list[Any]:
    """Return the inputs as arrays of the plan's dtypes and as Python scalars.

    ``used`` are the values that instructions read. Arrays may still be the caller's own memory.

    Raises:
        InvalidType: A Python type or dtype is wrong.
        InvalidArgument: The number of inputs, a shape or a value is wrong; the message gives index, given, allowed.
    """
    if isinstance(inputs, np.ndarray | str | bytes) or is_torch(inputs) or not isinstance(inputs, Sequence):
        raise InvalidType(f"inputs must be a list or tuple, one item for each input; given {type(inputs).__name__}")
    if len(inputs) != len(plan.inputs):
        raise InvalidArgument(f"method {plan.name!r} takes {counted(len(plan.inputs), 'input')}; given {len(inputs)}")
    return [
        _check(plan, index, given, value in used)
        for index, (value, given) in enumerate(zip(plan.inputs, inputs, strict=True))
    ]


def read_values(plan: ExecutionPlan) -> frozenset[int]:
    """Return the values that instructions or lists of the plan refer to."""
    found: set[int] = set()
    for chain in plan.chains:
        for instruction in chain:
            match instruction:
                case KernelCall(_, args) | DelegateCall(_, args):
                    found.update(args)
                case MoveCall(source, _):
                    found.add(source)
                case JumpFalseCall(condition, _):
                    found.add(condition)
    for value in plan.values:
        if isinstance(value, IntListValue | TensorListValue):
            found.update(value.items)
    return frozenset(found)


def is_torch(value: Any) -> bool:
    """Return whether ``value`` is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def to_torch(outputs: list[Any]) -> list[Any]:
    """Return the outputs with arrays as torch tensors."""
    torch = sys.modules["torch"]
    return [torch.from_numpy(item) if isinstance(item, np.ndarray) else item for item in outputs]


def _check(plan: ExecutionPlan, index: int, given: Any, used: bool) -> Any:
    expected = plan.values[plan.inputs[index]]
    where = f"input {index} of method {plan.name!r}"
    if isinstance(expected, TensorValue):
        return _check_tensor(expected, given, where)
    if expected is None:
        if given is None and not used:
            return None
        if isinstance(given, bool | np.bool_) or not isinstance(given, int | np.integer):
            raise InvalidType(f"{where} must be an int; given {_describe(given)}")
        return operator.index(given)
    if isinstance(expected, bool | int | float | str):
        return _check_scalar(expected, given, where)
    raise InvalidArgument(f"{where} is a list, which cannot be passed")


def _check_scalar(expected: bool | int | float | str, given: Any, where: str) -> Any:
    value = given.item() if isinstance(given, np.generic) else given
    if isinstance(expected, bool | str):
        fits = type(value) is type(expected)
    elif isinstance(expected, int):
        fits = isinstance(value, int) and not isinstance(value, bool)
    else:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not fits:
        raise InvalidType(f"{where} must be the {type(expected).__name__} {expected!r}; given {_describe(given)}")
    both_nan = isinstance(expected, float) and math.isnan(expected) and math.isnan(value)
    if value != expected and not both_nan:
        raise InvalidArgument(f"{where} was exported as {expected!r} and must equal it; given {value!r}")
    return expected


def _check_tensor(expected: TensorValue, given: Any, where: str) -> Array:
    array = _as_array(expected, given, where)
    if array.dtype != expected.dtype:
        raise InvalidType(f"{where} must be {expected.dtype}; given {array.dtype} (nothing is cast silently)")
    allowed = _allowed(expected)
    if array.ndim != len(expected.sizes):
        raise InvalidArgument(f"{where} must have shape {allowed}; given {list(array.shape)}")
    for size, bound in zip(array.shape, expected.sizes, strict=True):
        if size != bound and (
            expected.dynamism == Dynamism.STATIC or (expected.dynamism == Dynamism.DYNAMIC_BOUND and size > bound)
        ):
            raise InvalidArgument(f"{where} must have shape {allowed}; given {list(array.shape)}")
    return array


def _allowed(expected: TensorValue) -> str:
    match expected.dynamism:
        case Dynamism.STATIC:
            return str(list(expected.sizes))
        case Dynamism.DYNAMIC_BOUND:
            return f"up to {list(expected.sizes)}"
    return f"of rank {len(expected.sizes)}"


def _as_array(expected: TensorValue, given: Any, where: str) -> Array:
    if isinstance(given, bool | int | float) and not isinstance(given, np.generic):
        return _from_number(expected, given, where)
    if isinstance(given, np.ndarray | np.generic):
        return np.asarray(given)
    try:
        if is_torch(given):
            return np.asarray(given.detach().cpu().resolve_conj().resolve_neg().numpy())
        if hasattr(given, "__dlpack__"):
            return _from_dlpack(given)
        if hasattr(given, "__array__"):
            return np.asarray(given)
    except Exception as error:  # whatever a foreign array raises
        raise InvalidType(f"{where}: a {type(given).__name__} cannot be read as an array: {error}") from error
    raise InvalidType(f"{where} must be an array of {expected.dtype}; given {_describe(given)}")


def _from_dlpack(given: Any) -> Array:
    try:
        return np.from_dlpack(given)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        # A device or dtype that numpy cannot import; the object may know how to copy itself.
        if hasattr(given, "__array__"):
            return np.asarray(given)
        raise


def _from_number(expected: TensorValue, given: bool | int | float, where: str) -> Array:
    dtype = expected.dtype
    kind = dtype.kind
    fits = kind == "b" if isinstance(given, bool) else kind in "iuf" if isinstance(given, int) else kind == "f"
    if not fits:
        raise InvalidType(f"{where} must be {dtype}; the {type(given).__name__} {given!r} does not convert exactly")
    if expected.sizes:
        raise InvalidArgument(f"{where} must have shape {_allowed(expected)}; given the number {given!r}")
    try:
        with np.errstate(all="ignore"):
            array: Array = np.array(given, dtype)
        exact = isinstance(given, float) or array.item() == given
        finite = not isinstance(given, float) or math.isfinite(array.item()) or not math.isfinite(given)
    except OverflowError:
        exact = finite = False
    if not exact or not finite:
        raise InvalidArgument(f"{where} must be {dtype}; {given!r} does not convert exactly")
    return array


def _describe(given: Any) -> str:
    if given is None:
        return "None"
    if isinstance(given, bool | int | float | str):
        return f"the {type(given).__name__} {given!r}"
    return f"an object of type {type(given).__name__}"
