"""Compiles a graph for one set of concrete input shapes: every node lowered, every dispatch bound, nothing run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from executorch_webgpu.errors import ExecuTorchError, Internal, InvalidArgument, NotSupported
from executorch_webgpu.format.vulkan_graph import (
    BoolList,
    DoubleList,
    GraphTensor,
    IntList,
    SymInt,
    ValueList,
    VulkanGraph,
)
from executorch_webgpu.graph.nodes import PREPACK, SYMINT_OPERATORS, Arg, Node
from executorch_webgpu.graph.scalars import with_ints
from executorch_webgpu.graph.storage import StoragePlan
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import DeviceFacts, Dispatch, Tensor
from executorch_webgpu.ops.registry import Out, Shape, lowerings
from executorch_webgpu.ops.symbols import IntLike, Sym, evaluate, live

if TYPE_CHECKING:
    from executorch_webgpu.graph.resources import Resources

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Guard:
    """A check of every call: ``low <= value <= high``."""

    value: Sym
    low: int
    high: IntLike
    what: str

    def check(self, environment: Mapping[int, int]) -> None:
        """Raise InvalidArgument when the value is out of range in this call."""
        check_range(self.value.evaluate(environment), self.low, evaluate(self.high, environment), self.what)


def check_range(value: int, low: int, high: int, what: str) -> None:
    """Raise InvalidArgument unless ``low <= value <= high``."""
    if not low <= value <= high:
        raise InvalidArgument(f"{what} is {value}; it must be from {low} to {high}")


@dataclass
class State:
    """What is known of the values after a part of the graph: shapes of tensors, expressions of SymInts."""

    shapes: dict[int, Shape] = field(default_factory=dict)
    symbols: dict[int, IntLike] = field(default_factory=dict)

    def copy(self) -> State:
        """Return an independent copy."""
        return State(dict(self.shapes), dict(self.symbols))


@dataclass(frozen=True)
class Compiled:
    """The dispatches of one part of a graph for one set of shapes, as plain data.

    ``scratch`` are the bytes of each scratch storage; ``pins`` are the expressions whose value the code depends on.
    """

    dispatches: tuple[Dispatch, ...]
    scratch: tuple[int, ...]
    guards: tuple[Guard, ...]
    pins: tuple[Sym, ...]
    state: State
    positions: tuple[int, ...]  # for each dispatch, the position of its node in the chain


class Compilation:
    """One run of the compiler; implements ``ops.context.Memory``."""

    def __init__(
        self,
        graph: VulkanGraph,
        plan: StoragePlan,
        resources: Resources,
        facts: DeviceFacts,
        state: State,
        environment: Mapping[int, int],
        where: str,
    ) -> None:
        self.graph = graph
        self.plan = plan
        self.resources = resources
        self.facts = facts
        self.state = state
        self.environment = environment
        self.where = where
        self.dispatches: list[Dispatch] = []
        self.positions: list[int] = []
        self.scratch: list[int] = []
        self.guards: dict[Guard, None] = {}  # in order, each once: every layer asks for the same
        self.pins: dict[Sym, None] = {}
        self._node_scratch = 0
        self._deferred: dict[int, Node] = {}  # by output

    def run(self, nodes: Sequence[Node]) -> Compiled:
        """Lower ``nodes`` in order.

        Raises:
            ExecuTorchError: A node cannot be lowered for these shapes; the message names it.
        """
        for node in nodes:
            if node.deferred:
                self._deferred[node.outputs[0]] = node
                continue
            before = len(self.dispatches)
            self._node_scratch = 0
            try:
                self._lower(node)
            except ExecuTorchError as error:
                raise type(error)(f"{self.where}: node {node.position} ({node.name}): {error}") from error
            except (TypeError, ValueError, IndexError, KeyError, AttributeError, AssertionError) as error:
                raise NotSupported(
                    f"{self.where}: node {node.position} ({node.name}) has arguments of an unknown form: {error!r}"
                ) from error
            self.positions += [node.position] * (len(self.dispatches) - before)
        return Compiled(
            tuple(self.dispatches),
            tuple(self.scratch),
            tuple(self.guards),
            tuple(self.pins),
            self.state,
            tuple(self.positions),
        )

    def _lower(self, node: Node) -> None:
        if node.name in SYMINT_OPERATORS:
            self._lower_symint(node)
            return
        args = [self.argument(value) for value in node.args]
        if node.name == PREPACK:
            self._rename(node, args[0], args[0].shape)
            return
        assert node.lowering is not None
        if node.lowering.renaming:
            context = Lowering(node.name, self._outs(node), node.outputs, self.facts, self)
            shape = tuple(node.lowering.function(context, *with_ints(node.lowering.function, args)))
            self._rename(node, args[0], shape)
            return
        context = Lowering(node.name, self._outs(node), node.outputs, self.facts, self)
        if node.lowering.function(context, *with_ints(node.lowering.function, args)) is False:
            # A fused operator that does not suit these shapes: its members run one by one.
            for member in node.members:
                self._lower(member)
            return
        self._finish(node, context)

    def _finish(self, node: Node, context: Lowering) -> None:
        for index, value in enumerate(node.outputs):
            if index in context.shapes:
                self.state.shapes[value] = context.shapes[index]
            elif 0 not in self._tensor(value).sizes:
                raise Internal(f"the lowering does not give the shape of output {index}")
        self.dispatches += context.dispatches

    def _rename(self, node: Node, source: Tensor, shape: Shape) -> None:
        value = node.outputs[0]
        self.state.shapes[value] = shape
        if self.plan.of(value) == source.storage and self.plan.offset_of(value) == source.offset:
            return
        context = Lowering("cast", self._outs(node), node.outputs, self.facts, self)
        lowerings()["cast"].function(context, source, shape)
        self._finish(node, context)

    def _outs(self, node: Node) -> list[Out]:
        return [Out(self._tensor(value).sizes, self._tensor(value).dtype) for value in node.outputs]

    def _tensor(self, value: int) -> GraphTensor:
        tensor = self.graph.values[value]
        if not isinstance(tensor, GraphTensor):
            raise Internal(f"value {value} is not a tensor")
        return tensor

    def _lower_symint(self, node: Node) -> None:
        target = node.outputs[0]
        if node.name.endswith("sym_size.int"):
            shape = self.tensor(node.arg(0)).shape
            result: IntLike = shape[self.argument(node.args[1])]
        elif node.name.startswith("et_vk.select_as_symint"):
            result = live(target)
        else:
            a, b = self.argument(node.args[0]), self.argument(node.args[1])
            operations: dict[str, Callable[[], IntLike]] = {
                "add": lambda: a + b,
                "sub": lambda: a - b,
                "mul": lambda: a * b,
                "floordiv": lambda: a // b,
            }
            result = operations[node.name]()
        self.state.symbols[target] = result

    def tensor(self, value: int) -> Tensor:
        """Return a tensor value at its shape in this compile."""
        if value in self._deferred:
            self._lower(self._deferred.pop(value))
        tensor = self._tensor(value)
        shape = self.state.shapes.get(value)
        if shape is None:
            if not tensor.is_constant and 0 not in tensor.sizes:
                raise Internal(f"value {value} is read before it is written")
            shape = tensor.sizes
        storage = self.plan.of(value)
        return Tensor(shape, tensor.dtype, storage, storage in self.plan.constants, self.plan.offset_of(value))

    def argument(self, value: Arg) -> Any:
        """Return a value as lowerings take it."""
        if isinstance(value, tuple):
            return [self.argument(item) for item in value]
        match self.graph.values[value]:
            case GraphTensor():
                return self.tensor(value)
            case SymInt(initial):
                return self.state.symbols.get(value, initial)
            case ValueList(items):
                return [self.argument(item) for item in items]
            case IntList(items) | DoubleList(items) | BoolList(items):
                return list(items)
            case scalar:
                return scalar

    # The Memory protocol.

    def place_output(self, value: int, shape: Shape) -> Tensor:
        """Return the tensor of an output value at ``shape``."""
        tensor = self._tensor(value)
        placed = Tensor(shape, tensor.dtype, self.plan.of(value), offset=self.plan.offset_of(value))
        if placed.nbytes > self.plan.nbytes[placed.storage]:
            raise Internal(f"an output of shape {list(shape)} passes the exported bound {list(tensor.sizes)}")
        return placed

    def place_scratch(self, nbytes: int) -> int:
        """Return a scratch storage; those of one node differ, other nodes use them again. Numbered from -1 down."""
        index = self._node_scratch
        self._node_scratch += 1
        if index == len(self.scratch):
            self.scratch.append(0)
        self.scratch[index] = max(self.scratch[index], nbytes)
        return -1 - index

    def constant_data(self, tensor: Tensor) -> Array | None:
        """Return the payload of a constant that nothing writes."""
        if tensor.storage not in self.plan.constants:
            return None
        return self.resources.constant(tensor.storage, tensor.offset).reshape(tensor.shape)

    def repack(self, tensors: Sequence[Tensor], key: str, build: Callable[..., Array]) -> Tensor:
        """Return constants in another layout."""

        def payloads() -> Array:
            found = [self.constant_data(tensor) for tensor in tensors]
            if any(data is None for data in found):
                raise NotSupported("a weight is not a constant")
            return build(*found)

        return self.resources.repacked(tensors, key, payloads)

    def pin(self, value: IntLike) -> int:
        """Return the value in this call and remember that the result depends on it."""
        if isinstance(value, Sym):
            self.pins[value] = None
        return evaluate(value, self.environment)

    def guard(self, value: IntLike, low: int, high: IntLike, what: str) -> None:
        """Check a constant now, a live value on every call."""
        if isinstance(value, Sym):
            self.guards[Guard(value, low, high, what)] = None
        else:
            check_range(value, low, self.pin(high), what)
