"""The nodes of a graph, resolved against the registry: which values each reads and writes, which only rename."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from executorch_webgpu.errors import InvalidProgram, OperatorMissing
from executorch_webgpu.format.vulkan_graph import GraphTensor, OperatorCall, SymInt, ValueList, VulkanGraph
from executorch_webgpu.ops.registry import Lowering, lowerings, references

SYMINT_OPERATORS = frozenset(
    {"sym_size.int", "aten.sym_size.int", "et_vk.select_as_symint.default", "add", "sub", "mul", "floordiv"}
)
PREPACK = "et_vk.prepack.default"


Arg = int | tuple[int, ...]  # a value id, or several that are passed as a list


@dataclass(frozen=True, eq=False)
class Node:
    """One operator call. ``outputs`` are tensor values (or the SymInt).

    A fused node also has ``members``, the calls that it replaces, and ``together``, sets of constants that must lie in
    one buffer for it. A ``deferred`` one is lowered when another first asks for its output, if ever.
    """

    name: str
    args: tuple[Arg, ...]
    outputs: tuple[int, ...]
    lowering: Lowering | None
    position: int
    members: tuple[Node, ...] = field(default=())
    together: tuple[tuple[int, ...], ...] = field(default=())
    deferred: bool = False

    @property
    def parts(self) -> tuple[Node, ...]:
        """The members, or the node itself where it is not fused."""
        return self.members or (self,)

    def arg(self, index: int) -> int:
        """Return argument ``index`` as a value id."""
        value = self.args[index] if index < len(self.args) else None
        if not isinstance(value, int):
            raise InvalidProgram(f"node {self.position} ({self.name}): argument {index} is missing or a list")
        return value


def build_nodes(graph: VulkanGraph, where: str) -> list[Node]:
    """Return the nodes of ``graph`` in order.

    Raises:
        OperatorMissing: Operators or dtypes have no lowering; the message lists them all.
    """
    table = lowerings()
    missing: dict[str, int] = {}
    nodes = []
    for position, call in enumerate(graph.chain):
        outputs = _outputs(graph, call)
        lowering = table.get(call.name)
        if call.name not in SYMINT_OPERATORS and call.name != PREPACK:
            fault = _fault(graph, call, lowering)
            if fault:
                missing.setdefault(fault, call.node_id)
        nodes.append(Node(call.name, call.args[:-1], outputs, lowering, position))
    if missing:
        listed = "; ".join(f"{fault} (node {node})" for fault, node in missing.items())
        raise OperatorMissing(f"{where}: not supported on the GPU: {listed}")
    return nodes


def _fault(graph: VulkanGraph, call: OperatorCall, lowering: Lowering | None) -> str | None:
    if lowering is None:
        return call.name
    tensors = [v for v in flatten(graph, call.args) if isinstance(graph.values[v], GraphTensor)]
    if tensors:
        first = graph.values[tensors[0]]
        assert isinstance(first, GraphTensor)
        if first.dtype.name not in lowering.dtypes:
            return f"{call.name} with {first.dtype}"
    return None


def _outputs(graph: VulkanGraph, call: OperatorCall) -> tuple[int, ...]:
    last = graph.values[call.args[-1]]
    if isinstance(last, ValueList):
        return last.items
    if not isinstance(last, GraphTensor | SymInt):
        raise InvalidProgram(f"node {call.node_id} ({call.name}) has no output")
    return (call.args[-1],)


def flatten(graph: VulkanGraph, args: tuple[Arg, ...]) -> Iterator[int]:
    """Yield value ids with lists opened."""
    for value in args:
        if isinstance(value, tuple):
            yield from value
            continue
        item = graph.values[value]
        if isinstance(item, ValueList):
            yield from item.items
        else:
            yield value


def tensor_args(graph: VulkanGraph, node: Node) -> list[int]:
    """Return the tensor values that a node reads."""
    return [v for v in flatten(graph, node.args) if isinstance(graph.values[v], GraphTensor)]


def mutated_values(graph: VulkanGraph, nodes: list[Node]) -> frozenset[int]:
    """Return the values that are written although they exist before: constants, caches, in-place operands."""
    table = references()
    found: set[int] = set()
    for node in (part for whole in nodes for part in whole.parts):
        reads = set(tensor_args(graph, node))
        for value in node.outputs:
            tensor = graph.values[value]
            if isinstance(tensor, GraphTensor) and (value in reads or tensor.is_constant):
                found.add(value)
        reference = table.get(node.name)
        if reference:
            found.update(node.arg(position) for position in reference.writes if position < len(node.args))
    return frozenset(value for value in found if isinstance(graph.values[value], GraphTensor))


def splits_after(graph: VulkanGraph, node: Node) -> bool:
    """Whether a node reads an int that the graph itself computes: its value must be known to go on."""
    return node.name.startswith("et_vk.select_as_symint") and node.args[0] not in graph.input_ids
