"""What a method takes and gives, read from the plan: nothing is loaded for it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidIndex, InvalidType, NotSupported
from executorch_webgpu.format.plan import (
    BoolListValue,
    DoubleListValue,
    Dynamism,
    ExecutionPlan,
    IntListValue,
    PlanValue,
    TensorListValue,
    TensorValue,
)
from executorch_webgpu.format.scalar_types import SCALAR_NUMBERS, SUPPORTED

UNBOUNDED = 2**31 - 1  # the largest size that a program can hold


class TensorInfo:
    """Shape, dtype and bytes of one tensor."""

    def __init__(self, value: TensorValue, where: str = "the tensor") -> None:
        self._value = value
        self._where = where

    def sizes(self) -> tuple[int, ...]:
        """Return the shape; for a tensor of dynamic shape the upper bound."""
        return self._value.sizes

    def dtype(self) -> int:
        """Return the ``ScalarType`` code of ExecuTorch (6 is float32)."""
        return SCALAR_NUMBERS[self._value.dtype_name]

    def numpy_dtype(self) -> np.dtype[Any]:
        """Return the dtype as numpy calls it.

        Raises:
            NotSupported: numpy has no such dtype (bfloat16, say), so the method cannot be loaded.
        """
        if self._value.opaque is not None:
            raise NotSupported(f"{self._where} is {self._value.opaque}; supported are {SUPPORTED}")
        return self._value.dtype

    def nbytes(self) -> int:
        """Return the bytes at ``sizes()``."""
        return self._value.nbytes

    def is_memory_planned(self) -> bool:
        """Return whether the exporter placed the tensor in a memory area."""
        return self._value.allocation is not None

    def bounds(self) -> tuple[tuple[int, int], ...]:
        """Return (smallest, largest) size of every dim. They are equal where the shape is static."""
        match self._value.dynamism:
            case Dynamism.STATIC:
                return tuple((size, size) for size in self._value.sizes)
            case Dynamism.DYNAMIC_BOUND:
                return tuple((0, size) for size in self._value.sizes)
        return tuple((0, UNBOUNDED) for _ in self._value.sizes)

    def is_dynamic(self) -> bool:
        """Return whether the shape may vary from call to call."""
        return self._value.dynamism != Dynamism.STATIC

    def dim_order(self) -> tuple[int, ...]:
        """Return the dims from the outermost to the innermost in memory."""
        return self._value.dim_order

    def __repr__(self) -> str:
        return (
            f"TensorInfo(sizes={list(self.sizes())}, dtype={self._value.dtype_name}, "
            f"is_memory_planned={self.is_memory_planned()}, nbytes={self.nbytes()})"
        )


class MethodMeta:
    """Inputs, outputs and attributes of one method."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan

    def name(self) -> str:
        """Return the name of the method."""
        return self._plan.name

    def num_inputs(self) -> int:
        """Return the number of inputs; buffers and weights do not count."""
        return len(self._plan.inputs)

    def num_outputs(self) -> int:
        """Return the number of outputs; mutated buffers do not count."""
        return len(self._plan.outputs)

    def num_attributes(self) -> int:
        """Return the number of tensors that the program names."""
        return len(self._attributes())

    def input_tensor_meta(self, index: int) -> TensorInfo:
        """Return what input ``index`` must be.

        Raises:
            InvalidIndex: There is no such input, or it is not a tensor.
        """
        return self._info(self._value(index, self._plan.inputs, "input"), index, "input")

    def output_tensor_meta(self, index: int) -> TensorInfo:
        """Return what output ``index`` will be.

        Raises:
            InvalidIndex: There is no such output, or it is not a tensor.
        """
        return self._info(self._value(index, self._plan.outputs, "output"), index, "output")

    def attribute_tensor_meta(self, index: int) -> TensorInfo:
        """Return what named tensor ``index`` is.

        Raises:
            InvalidIndex: There is no such attribute.
        """
        return self._info(self._value(index, self._attributes(), "attribute"), index, "attribute")

    def input_kind(self, index: int) -> str:
        """Return what input ``index`` is: tensor, int, float, bool, str, none (takes an int) or a kind of list."""
        return kind_of(self._value(index, self._plan.inputs, "input"))

    def output_kind(self, index: int) -> str:
        """Return what output ``index`` is, in the words of ``input_kind``."""
        return kind_of(self._value(index, self._plan.outputs, "output"))

    def input_value(self, index: int) -> int | float | bool | str | None:
        """Return the value that a scalar input must have, None for other inputs."""
        value = self._value(index, self._plan.inputs, "input")
        return value if isinstance(value, int | float | str) else None

    def _attributes(self) -> tuple[int, ...]:
        return tuple(
            index
            for index, value in enumerate(self._plan.values)
            if isinstance(value, TensorValue) and value.fully_qualified_name is not None
        )

    def _value(self, index: int, indices: tuple[int, ...], what: str) -> PlanValue:
        try:
            index = operator.index(index)
        except TypeError:
            raise InvalidType(f"the index of an {what} must be an int; given {type(index).__name__}") from None
        if not 0 <= index < len(indices):
            raise InvalidIndex(f"method {self.name()!r} has {len(indices)} {what}s; there is no {what} {index}")
        return self._plan.values[indices[index]]

    def _info(self, value: PlanValue, index: int, what: str) -> TensorInfo:
        if not isinstance(value, TensorValue):
            raise InvalidIndex(f"{what} {index} of method {self.name()!r} is not a tensor but: {kind_of(value)}")
        return TensorInfo(value, f"{what} {index} of method {self.name()!r}")

    def __repr__(self) -> str:
        inputs = [self._describe(i) for i in self._plan.inputs]
        outputs = [self._describe(i) for i in self._plan.outputs]
        return (
            f"MethodMeta(name={self.name()!r}, num_inputs={self.num_inputs()}, input_tensor_meta={inputs}, "
            f"num_outputs={self.num_outputs()}, output_tensor_meta={outputs})"
        )

    def _describe(self, index: int) -> str:
        value = self._plan.values[index]
        return repr(TensorInfo(value)) if isinstance(value, TensorValue) else kind_of(value)


def kind_of(value: PlanValue) -> str:
    """Return what a value of a plan is, in a word."""
    match value:
        case None:
            return "none"
        case TensorValue():
            return "tensor"
        case IntListValue():
            return "int list"
        case DoubleListValue():
            return "float list"
        case BoolListValue():
            return "bool list"
        case TensorListValue():
            return "tensor list"
    return type(value).__name__
