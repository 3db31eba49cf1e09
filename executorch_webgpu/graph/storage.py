"""Where the values of a graph live: constants, state, and pooled memory for what comes and goes.

Memory is planned once, at the exported upper bounds, from the lifetimes in the node list; a shape below the bound uses
the front of the same buffers. Planning afresh (instead of following the blob's memory objects) lets fused nodes stretch
a lifetime and lets renamings cost nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from executorch_webgpu.format.vulkan_graph import GraphTensor, VulkanGraph
from executorch_webgpu.graph.nodes import PREPACK, Node, mutated_values, tensor_args


@dataclass(frozen=True)
class StoragePlan:
    """``root`` maps tensor values to the value whose memory they share, ``storage`` roots to storage numbers,
    ``nbytes`` are by storage number. ``constants`` and ``state`` map storages to the value that fills them."""

    root: dict[int, int]
    storage: dict[int, int]
    nbytes: list[int]
    constants: dict[int, int]
    state: dict[int, int]

    def of(self, value: int) -> int:
        """Return the storage number of a tensor value."""
        return self.storage[self.root.get(value, value)]


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
    plan = StoragePlan(root, {}, [], {}, {})
    _place_constants(graph, plan, sizes, mutated)
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


def _find_roots(graph: VulkanGraph, nodes: list[Node], mutated: frozenset[int]) -> dict[int, int]:
    root: dict[int, int] = {}
    outputs = set(graph.output_ids)
    for node in nodes:
        renames = node.name == PREPACK or (node.lowering is not None and node.lowering.renaming)
        if not renames or not node.outputs or not node.args:
            continue
        source, target = node.args[0], node.outputs[0]
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
        for member in node.members or (node,):
            for value in (*tensor_args(graph, member), *member.outputs):
                touch(value, step)
    for value in graph.output_ids:
        touch(value, len(nodes))
    return first, last


def _place_constants(graph: VulkanGraph, plan: StoragePlan, sizes: dict[int, int], mutated: frozenset[int]) -> None:
    shared: dict[tuple[int, str, str], int] = {}
    for value, tensor in enumerate(graph.values):
        if not isinstance(tensor, GraphTensor) or not tensor.is_constant:
            continue
        number = len(plan.nbytes)
        if value in mutated:
            plan.state[number] = value
        else:
            # Equal payloads are stored once in the file; read-only ones share a buffer too.
            constant = graph.constants[tensor.constant_id]
            key = (constant.length, constant.named_key or str(tensor.constant_id), tensor.dtype.name)
            if key in shared:
                plan.storage[value] = shared[key]
                continue
            shared[key] = number
            plan.constants[number] = value
        plan.storage[value] = number
        plan.nbytes.append(sizes[value])


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
