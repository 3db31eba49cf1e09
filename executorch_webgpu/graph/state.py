"""Finds the state of a graph where the exporter hides it behind a prepack."""

from __future__ import annotations

from dataclasses import replace

from executorch_webgpu.errors import DelegateInvalidCompatibility
from executorch_webgpu.format.vulkan_graph import GraphTensor, OperatorCall, SymInt, ValueList, VulkanGraph
from executorch_webgpu.graph.nodes import PREPACK, Node, mutated_values


def outputs_of(graph: VulkanGraph, call: OperatorCall, where: str) -> tuple[int, ...]:
    """Return the values that a node writes.

    Raises:
        DelegateInvalidCompatibility: The last argument is neither a tensor, nor a SymInt, nor a list.
    """
    if call.args:
        last = graph.values[call.args[-1]]
        if isinstance(last, ValueList):
            return last.items
        if isinstance(last, GraphTensor | SymInt):
            return (call.args[-1],)
    raise DelegateInvalidCompatibility(f"{where}: node {call.node_id} ({call.name}) has no output")


def plain_nodes(graph: VulkanGraph, where: str) -> list[Node]:
    """Return the nodes of ``graph`` without their lowerings."""
    return [
        Node(call.name, call.args[:-1], outputs_of(graph, call, where), None, position)
        for position, call in enumerate(graph.chain)
    ]


def has_state(graph: VulkanGraph, where: str) -> bool:
    """Return whether nodes write constants (KV caches, buffers), which then persist from call to call."""
    values = (graph.values[value] for value in mutated_values(graph, plain_nodes(graph, where)))
    return any(isinstance(value, GraphTensor) and value.is_constant for value in values)


def with_open_state(graph: VulkanGraph, where: str) -> VulkanGraph:
    """Return ``graph`` with every buffer that nodes write as a constant of its own.

    With ``alias_buffer_mutations`` a buffer is prepacked first and its copy is written in place: the copy is what must
    persist from call to call. It takes over the payload, and the prepack, which would undo the writes, goes.
    """
    nodes = plain_nodes(graph, where)
    mutated = mutated_values(graph, nodes)
    values = list(graph.values)
    gone: set[int] = set()
    for node in nodes:
        if node.name == PREPACK and node.outputs[0] in mutated:
            source, target = values[node.arg(0)], values[node.outputs[0]]
            if (
                isinstance(source, GraphTensor)
                and isinstance(target, GraphTensor)
                and source.is_constant
                and (source.sizes, source.dtype) == (target.sizes, target.dtype)
            ):
                values[node.outputs[0]] = replace(target, constant_id=source.constant_id)
                gone.add(node.position)
    if not gone:
        return graph
    chain = tuple(call for position, call in enumerate(graph.chain) if position not in gone)
    return replace(graph, chain=chain, values=tuple(values))
