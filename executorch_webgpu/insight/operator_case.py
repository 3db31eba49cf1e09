"""Programs of one operator, made in memory: what ``bench-op`` times."""

from __future__ import annotations

import difflib
import inspect
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import ExecuTorchError, InvalidArgument, NotFound, counted
from executorch_webgpu.format.vulkan_graph import (
    BoolList,
    Constant,
    DoubleList,
    GraphTensor,
    GraphValue,
    IntList,
    OperatorCall,
    ValueList,
    VulkanGraph,
)
from executorch_webgpu.insight.recipes import RECIPES, Array, Shape, TensorSpec
from executorch_webgpu.ops.registry import ALL, Out, Reference, lowerings, references

# Parameters whose tensors belong to the program.
_WEIGHTS = frozenset({"weight", "bias", "scales", "sums", "weight_scales", "weight_sums"})
_STORED = {"float64": "float32", "int64": "int32"}  # delegates have no 64-bit values


@dataclass(frozen=True)
class OperatorCase:
    """A graph of one operator, its inputs, what the reference answers, and the size of the problem.

    ``nbytes`` counts every tensor once, ``operations`` is 0 where the operator has no count.
    """

    name: str
    graph: VulkanGraph
    inputs: list[Array]
    expected: list[Array]
    nbytes: int
    operations: float


def operator_name(text: str) -> str:
    """Return the full name of a delegated operator; the part between the dots is enough where only one has it.

    Raises:
        NotFound: No operator, or several, answer to ``text``.
    """
    names = [name for name in lowerings() if name in references()]
    if text in names:
        return text
    same = [name for name in names if text in name.split(".")]
    if len(same) == 1:
        return same[0]
    near = same or [name for name in names if text in name] or difflib.get_close_matches(text, names, cutoff=0.5)
    hint = f"; did you mean {', '.join(sorted(near)[:8])}?" if near else "; 'ops' lists the names"
    raise NotFound(f"no delegated operator is named {text!r}{hint}")


def build_case(
    text: str,
    shapes: Sequence[Shape],
    dtype: str,
    given: Mapping[str, str],
    *,
    group: int = 32,
    seed: int = 0,
    output: Shape | None = None,
) -> OperatorCase:
    """Return the case of an operator for tensors of ``shapes``; ``given`` has other arguments by name, as literals.

    ``output`` is the output's shape, for operators that ask for it.

    Raises:
        NotFound: There is no such operator.
        InvalidArgument: The shapes or arguments do not suit it.
    """
    name = operator_name(text)
    if dtype not in ALL:
        raise InvalidArgument(f"dtype {dtype!r} is not one of {', '.join(ALL)}")
    reference = references()[name]
    recipe = RECIPES.get(name)
    operations = 0.0
    if recipe is not None and len(shapes) == 1:
        recipe.check(name, shapes[0])
        arguments = recipe.arguments(shapes[0], dtype, group)
        operations = recipe.operations(shapes[0])
        if recipe.output is not None:
            output = recipe.output(shapes[0])
    else:
        arguments = {}
    random = np.random.default_rng(seed)
    # With a recipe the shape is used up; else it is one tensor per shape, in order.
    left = [] if arguments else list(shapes)
    values: dict[str, Any] = {}
    parameters = list(inspect.signature(reference.function).parameters.values())[1:]
    unknown = set(given) - {parameter.name for parameter in parameters}
    if unknown:
        known = ", ".join(parameter.name for parameter in parameters)
        raise InvalidArgument(f"{name} has no argument {', '.join(sorted(unknown))}; it has {known}")
    for parameter in parameters:
        if parameter.name in given:
            values[parameter.name] = _literal(name, parameter.name, given[parameter.name])
        elif parameter.name in arguments:
            values[parameter.name] = arguments[parameter.name]
        elif left:
            values[parameter.name] = TensorSpec(left.pop(0), dtype, constant=parameter.name in _WEIGHTS)
        elif parameter.default is not parameter.empty:
            values[parameter.name] = parameter.default
        elif parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        else:
            raise InvalidArgument(f"{name} needs its argument {parameter.name}: --arg {parameter.name}=VALUE")
    if left:
        raise InvalidArgument(
            f"{name} takes {counted(len(shapes) - len(left), 'tensor')}; given {counted(len(shapes), 'shape')}"
        )
    made = _make(values, random)
    expected = _expected(name, reference, list(made.values()), Out(output or (), np.dtype(dtype)))
    return _assemble(name, values, made, expected, operations)


def _literal(name: str, parameter: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        if text.isidentifier():
            return text  # a word is a string: approximate=tanh
        raise InvalidArgument(f"{name}: {parameter}={text} is not a literal (a number, true, null, [1, 2])") from None


def _make(values: Mapping[str, Any], random: np.random.Generator) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for parameter, value in values.items():
        made[parameter] = value.make(random, made) if isinstance(value, TensorSpec) else value
    return made


def _assemble(
    name: str, values: Mapping[str, Any], made: Mapping[str, Any], expected: list[Array], operations: float
) -> OperatorCase:
    table: list[GraphValue] = []
    constants: list[Constant] = []
    input_ids: list[int] = []
    for parameter, value in values.items():
        array = made[parameter]
        if not isinstance(value, TensorSpec):
            table.append(_value(name, value))
        elif value.constant:
            table.append(_tensor(array.shape, array.dtype, len(constants)))
            constants.append(Constant(array.nbytes, array.data.cast("B"), None))
        else:
            input_ids.append(len(table))
            table.append(_tensor(array.shape, array.dtype))
    args = list(range(len(table)))
    output_ids = list(range(len(table), len(table) + len(expected)))
    table += [_tensor(array.shape, array.dtype) for array in expected]
    if len(expected) > 1:
        table.append(ValueList(tuple(output_ids)))
    args.append(len(table) - 1)
    nbytes = sum(math.prod(item.sizes) * item.dtype.itemsize for item in table if isinstance(item, GraphTensor))
    graph = VulkanGraph(
        version="0",
        chain=(OperatorCall(0, name, tuple(args)),),
        values=tuple(table),
        input_ids=tuple(input_ids),
        output_ids=tuple(output_ids),
        constants=tuple(constants),
    )
    names = list(values)
    return OperatorCase(name, graph, [made[names[index]] for index in input_ids], expected, nbytes, operations)


def _expected(name: str, reference: Reference, arguments: list[Any], out: Out) -> list[Array]:
    # References write caches in place, and the data is still needed.
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    try:
        with np.errstate(all="ignore"):
            result = reference.function(out if reference.outputs == 1 else (out,) * max(1, reference.outputs), *copies)
    except ExecuTorchError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidArgument(f"{name} cannot take these arguments: {error}") from error
    arrays = [np.asarray(item) for item in (result if isinstance(result, tuple | list) else (result,))]
    return [array.astype(_stored(array.dtype, out.dtype.name)) for array in arrays]


def _stored(natural: np.dtype[Any], dtype: str) -> str:
    if natural.kind == "f" and dtype == "float16":
        return dtype
    return _STORED.get(natural.name, natural.name)


def _tensor(shape: Shape, dtype: np.dtype[Any], constant: int = -1) -> GraphTensor:
    return GraphTensor(dtype, tuple(shape), constant, -1, 0, 0, dtype)


def _value(name: str, value: Any) -> GraphValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        if all(isinstance(item, bool) for item in value) and value:
            return BoolList(tuple(value))
        if all(isinstance(item, int) for item in value):
            return IntList(tuple(value))
        if all(isinstance(item, int | float) for item in value):
            return DoubleList(tuple(float(item) for item in value))
    raise InvalidArgument(f"{name}: {value!r} cannot be given as an argument")
