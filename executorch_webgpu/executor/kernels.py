"""Kernel calls: which values go in and come out, and the references that compute them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import ExecuTorchError, InvalidArgument, InvalidProgram, OutOfResources
from executorch_webgpu.executor.memory import TensorSlot
from executorch_webgpu.format.plan import (
    BoolListValue,
    DoubleListValue,
    ExecutionPlan,
    IntListValue,
    KernelCall,
    TensorListValue,
    TensorValue,
)
from executorch_webgpu.ops.registry import Out, Reference, references

_COPY_INDEX = "executorch_prim::et_copy_index.tensor"
# Operators that answer with a number; their last argument is the output alone.
_SCALAR_KERNELS = ("executorch_prim::", "aten::sym_", "aten::_local_scalar_dense")


@dataclass(frozen=True)
class Kernel:
    """One kernel call, resolved. ``inputs`` and ``outputs`` are value indices."""

    name: str
    reference: Reference
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    where: str

    def run(self, values: list[Any]) -> None:
        """Compute, cast to the dtypes of the outputs and store.

        Raises:
            InvalidArgument: The values at hand cannot be computed with.
            OutOfResources: There is not enough memory.
        """
        args = [argument(values, index) for index in self.inputs]
        outs = tuple(_out(values[index]) for index in self.outputs)
        single = self.reference.outputs == 1 and len(outs) == 1
        try:
            with np.errstate(all="ignore"):
                result = self.reference.function(outs[0] if single else outs, *args)
                results = result if isinstance(result, tuple | list) else (result,)
                if len(results) < len(self.outputs):
                    raise InvalidArgument(f"gives {len(results)} results for {len(self.outputs)} outputs")
                for index, item in zip(self.outputs, results, strict=False):
                    _store(values, index, item)
        except ExecuTorchError as error:
            raise type(error)(f"{self.where}: {error}") from error
        except MemoryError as error:
            raise OutOfResources(f"{self.where}: {error}") from error
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InvalidArgument(f"{self.where} cannot take these values: {error}") from error


def _out(item: Any) -> Out:
    if isinstance(item, TensorSlot):
        return Out(item.value.sizes, item.value.dtype)
    return Out((), np.asarray(0 if item is None else item).dtype)


def _store(values: list[Any], index: int, item: Any) -> None:
    slot = values[index]
    if isinstance(slot, TensorSlot):
        array = np.asarray(item)
        # Arithmetic with what is no number (a Null, a text) must not pass for a result.
        if array.dtype.kind not in "biuf":
            raise InvalidArgument(f"gives {array.dtype} for an output of {slot.value.dtype}")
        slot.write(array)
    else:
        values[index] = item.item() if isinstance(item, np.ndarray | np.generic) else item


def resolve_kernel(plan: ExecutionPlan, call: KernelCall, where: str) -> Kernel | str:
    """Return the kernel of a call, or ``operator (dtype)`` where there is no reference for it."""
    operator = plan.operators[call.op_index]
    name = operator.full_name
    inputs, outputs = _split(plan, name, call.args, where)
    reference = references().get(name)
    if reference is None:
        tensors = [v for i in (*inputs, *outputs) if isinstance(v := plan.values[i], TensorValue)]
        return f"{name} ({tensors[0].dtype})" if tensors else name
    return Kernel(name, reference, inputs, outputs, f"{where} ({name})")


def _split(
    plan: ExecutionPlan, name: str, args: tuple[int, ...], where: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the input and output values of a call. The emitter writes arguments, outputs, and the outputs again."""
    if not args:
        raise InvalidProgram(f"{where}: {name} has no arguments")
    if name == _COPY_INDEX:
        return args, args[:1]
    last = args[-1]
    if name.startswith(_SCALAR_KERNELS):
        return args[:-1], (last,)
    listed = plan.values[last]
    if isinstance(listed, TensorListValue):
        count = len(listed.items)
        if len(args) > 1 and args[-2] == last:
            return args[:-2], listed.items
        if args[-1 - count : -1] == listed.items:
            return args[: -1 - count], listed.items
        return args[:-1], listed.items
    if len(args) > 1 and args[-2] == last:
        return args[:-2], (last,)
    return args[:-1], (last,)


def argument(values: Sequence[Any], index: int) -> Any:
    """Return a value as references take it: arrays, lists, scalars."""
    item = values[index]
    if isinstance(item, TensorSlot):
        return item.array()
    if isinstance(item, IntListValue):
        return [values[i] for i in item.items]
    if isinstance(item, DoubleListValue | BoolListValue):
        return list(item.items)
    if isinstance(item, TensorListValue):
        return [None if i < 0 else argument(values, i) for i in item.items]
    return item
