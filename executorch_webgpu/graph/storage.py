"""Where the values of a graph live: constants, state, and pooled memory for what comes and goes.

Memory is planned once, at the exported upper bounds, from the lifetimes in the node list; a shape below the bound uses
the front of the same buffers. Planning afresh (instead of following the blob's memory objects) lets fused nodes stretch
a lifetime and lets renamings cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from executorch_webgpu.format.vulkan_graph import GraphTensor, VulkanGraph
from executorch_webgpu.graph.nodes import PREPACK, Node, mutated_values, tensor_args

BINDING_ALIGNMENT = 256  # WebGPU's default minStorageBufferOffsetAlignment


@dataclass(frozen=True)
class StoragePlan:
    """``root`` maps tensor values to the value whose memory they share.

    ``storage`` and ``offset`` (bytes, 0 where absent) are by root, ``nbytes`` by storage number. ``constants`` maps
    storages to the values that fill them by offset; ``state`` maps storages to the value with the initial payload.
    """

    root: dict[int, int] = field(default_factory=dict)
    storage: dict[int, int] = field(default_factory=dict)
    offset: dict[int, int] = field(default_factory=dict)
    nbytes: list[int] = field(default_factory=list)
    constants: dict[int, dict[int, int]] = field(default_factory=dict)
    state: dict[int, int] = field(default_factory=dict)

    def of(self, value: int) -> int:
        """Return the storage number of a tensor value."""
        return self.storage[self.root.get(value, value)]

    def offset_of(self, value: int) -> int:
        """Return where in its storage a tensor value starts, in bytes."""
        return self.offset.get(self.root.get(value, value), 0)


def tensor_bytes(tensor: GraphTensor) -> int:
    """Return the bytes of a tensor at its bound."""
    return math.prod(tensor.sizes) * tensor.dtype.itemsize


def plan_storage(graph: VulkanGraph, nodes: list[Node], *, share: bool = True) -> StoragePlan:
    """Return the storage of every tensor value. Without ``share`` every intermediate keeps memory of its own."""
    mutated = mutated_values(graph, nodes)
    root = _find_roots(graph, nodes, mutated)
    first, last = _lifetimes(graph, nodes, root)
    sizes: dict[int, int] = {}
    for value, tensor in enumerate(graph.values):
        if isinstance(tensor, GraphTensor):
            owner = root.get(value, value)
            sizes[owner] = max(sizes.get(owner, 0), tensor_bytes(tensor))
    plan = StoragePlan(root)
    together = [values for node in nodes for values in node.together]
    _place_constants(graph, plan, sizes, mutated, together)
    pool = _Pool(plan.nbytes, share)
    ending: dict[int, list[int]] = {}
    for value in sorted(first, key=lambda v: (first[v], v)):
        if value in plan.storage:
            continue
        for step in sorted(step for step in ending if step < first[value]):
            for gone in ending.pop(step):
                pool.release(plan.storage[gone])
        plan.storage[value] = pool.take(sizes[value])
        if value in mutated and first[value] >= 0:
            continue  # written in place, perhaps kept from call to call: never shared
        ending.setdefault(last[value], []).append(value)
    return plan


def renames(node: Node) -> bool:
    """Return whether a node's output has the elements of its first argument in the same order."""
    return node.name == PREPACK or (node.lowering is not None and node.lowering.renaming)


def _find_roots(graph: VulkanGraph, nodes: list[Node], mutated: frozenset[int]) -> dict[int, int]:
    root: dict[int, int] = {}
    outputs = set(graph.output_ids)
    for node in (part for whole in nodes for part in whole.parts):
        if not renames(node) or not node.outputs or not node.args:
            continue
        source, target = node.arg(0), node.outputs[0]
        a, b = graph.values[source], graph.values[target]
        if not isinstance(a, GraphTensor) or not isinstance(b, GraphTensor) or a.dtype != b.dtype:
            continue
        owner = root.get(source, source)
        # A state's value must be copied before it changes; an output of an input is read before the next call.
        if owner in mutated or target in mutated or b.is_constant or target in graph.input_ids:
            continue
        if target in outputs and tensor_bytes(b) > tensor_bytes(a):
            continue
        root[target] = owner
    return root


def _lifetimes(graph: VulkanGraph, nodes: list[Node], root: dict[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    first: dict[int, int] = {}
    last: dict[int, int] = {}

    def touch(value: int, step: int) -> None:
        if isinstance(graph.values[value], GraphTensor):
            owner = root.get(value, value)
            first[owner] = min(first.get(owner, step), step)
            last[owner] = max(last.get(owner, step), step)

    for value in graph.input_ids:
        touch(value, -1)
    for step, node in enumerate(nodes):
        for member in node.parts:
            for value in (*tensor_args(graph, member), *member.outputs):
                touch(value, step)
    for value in graph.output_ids:
        touch(value, len(nodes))
    return first, last


def _place_constants(
    graph: VulkanGraph,
    plan: StoragePlan,
    sizes: dict[int, int],
    mutated: frozenset[int],
    together: list[tuple[int, ...]],
) -> None:
    # Equal payloads are stored once in the file; read-only ones share memory on the GPU too.
    shared: dict[tuple[int, str, str], tuple[int, int]] = {}

    def key(value: int) -> tuple[int, str, str]:
        tensor = graph.values[value]
        assert isinstance(tensor, GraphTensor)
        constant = graph.constants[tensor.constant_id]
        return constant.length, constant.named_key or str(tensor.constant_id), tensor.dtype.name

    def place(values: tuple[int, ...]) -> None:
        number = len(plan.nbytes)
        filled: dict[int, int] = {}
        end = 0
        for value in values:
            start = -(-end // BINDING_ALIGNMENT) * BINDING_ALIGNMENT
            plan.storage[value], plan.offset[value] = number, start
            shared.setdefault(key(value), (number, start))
            filled[start] = value
            end = start + sizes[value]
        plan.constants[number] = filled
        plan.nbytes.append(end)

    for values in together:
        place(values)
    for value, tensor in enumerate(graph.values):
        if not isinstance(tensor, GraphTensor) or not tensor.is_constant or value in plan.storage:
            continue
        if value in mutated:
            plan.storage[value] = len(plan.nbytes)
            plan.state[len(plan.nbytes)] = value
            plan.nbytes.append(sizes[value])
        elif key(value) in shared:
            plan.storage[value], plan.offset[value] = shared[key(value)]
        else:
            place((value,))


class _Pool:
    def __init__(self, nbytes: list[int], share: bool) -> None:
        self.nbytes = nbytes
        self.share = share
        self.free: list[int] = []

    def take(self, size: int) -> int:
        """Return the free storage that fits best, grown if none is large enough, else a new one."""
        if self.free and self.share:
            fitting = [s for s in self.free if self.nbytes[s] >= size]
            best = min(fitting, key=self.nbytes.__getitem__) if fitting else max(self.free, key=self.nbytes.__getitem__)
            self.free.remove(best)
            self.nbytes[best] = max(self.nbytes[best], size)
            return best
        self.nbytes.append(size)
        return len(self.nbytes) - 1

    def release(self, storage: int) -> None:
        self.free.append(storage)
