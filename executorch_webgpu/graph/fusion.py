"""Rewrites the node list before lowering: operators that belong together become one node.

A fused node keeps its members: memory is planned for all of them, and a shape that the fused operator does not suit
runs them one by one. What is matched here are the joints of transformer blocks with 4-bit weights, and convolutions
with an addend.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from executorch_webgpu.format.vulkan_graph import GraphTensor, SymInt, VulkanGraph
from executorch_webgpu.graph.nodes import Arg, Node, mutated_values, splits_after, tensor_args
from executorch_webgpu.graph.storage import renames, tensor_bytes
from executorch_webgpu.ops.dispatch import DeviceFacts
from executorch_webgpu.ops.registry import lowerings

LINEAR = "et_vk.linear_q4gsw.default"
NORM = "et_vk.rms_norm.default"
CONVOLUTION = "aten.convolution.default"


def fuse(graph: VulkanGraph, nodes: list[Node], facts: DeviceFacts) -> list[Node]:
    """Return the node list with fused nodes in place of their members."""
    matcher = _Matcher(graph, nodes, facts)
    matcher.fuse_gates()
    matcher.fuse_shared_inputs()
    matcher.fuse_residuals()
    matcher.fuse_attention()
    matcher.fuse_convolutions()
    return matcher.result()


class _Matcher:
    def __init__(self, graph: VulkanGraph, nodes: list[Node], facts: DeviceFacts) -> None:
        self.graph = graph
        self.nodes = nodes
        self.facts = facts
        self.producer: dict[int, Node] = {}
        self.readers: dict[int, list[Node]] = {}
        self.order = {node: index for index, node in enumerate(nodes)}
        self.taken: dict[Node, Node] = {}
        # Renamings that were moved behind the fused node whose last member is given.
        self.anchor: dict[Node, Node] = {}
        self.deferred: set[Node] = set()
        self.outputs = set(graph.output_ids)
        for node in nodes:
            for value in dict.fromkeys(tensor_args(graph, node)):
                self.readers.setdefault(value, []).append(node)
            for value in node.outputs:
                self.producer[value] = node

    # What the graph looks like with renamings seen through.

    def source(self, value: int) -> int:
        """Return the value that ``value`` is another name of."""
        node = self.producer.get(value)
        while node is not None and renames(node) and self._same_dtype(node):
            value = node.arg(0)
            node = self.producer.get(value)
        return value

    def _same_dtype(self, node: Node) -> bool:
        a, b = self.graph.values[node.arg(0)], self.graph.values[node.outputs[0]]
        return isinstance(a, GraphTensor) and isinstance(b, GraphTensor) and a.dtype == b.dtype

    def maker(self, value: int, name: str) -> Node | None:
        """Return the node called ``name`` that makes ``value`` under any of its names, if it is free to fuse."""
        node = self.producer.get(self.source(value))
        return node if node is not None and node.name == name and node not in self.taken else None

    def users(self, value: int) -> list[Node] | None:
        """Return all readers of a value under any name; None if it leaves the graph."""
        if value in self.outputs:
            return None
        found: list[Node] = []
        for node in self.readers.get(value, ()):
            if renames(node) and self._same_dtype(node):
                further = self.users(node.outputs[0])
                if further is None:
                    return None
                found += further
            else:
                found.append(node)
        return found

    def names(self, value: int) -> list[Node]:
        """Return the renaming nodes that follow from a value."""
        found: list[Node] = []
        for node in self.readers.get(value, ()):
            if renames(node) and self._same_dtype(node):
                found += [node, *self.names(node.outputs[0])]
        return found

    def used_only_by(self, value: int, allowed: Sequence[Node]) -> bool:
        users = self.users(value)
        return users is not None and all(any(user is node for node in allowed) for user in users)

    # Patterns.

    def fuse_gates(self) -> None:
        """``silu(gate(x)) * up(x)``, with the norm that makes x where nothing else reads it."""
        for sigmoid in self.nodes:
            if sigmoid.name != "aten.sigmoid.default":
                continue
            gate = self.maker(sigmoid.arg(0), LINEAR)
            inner = self._one(self.users(sigmoid.outputs[0]), "aten.mul.Tensor")
            if gate is None or inner is None or not self._plain(gate):
                continue
            outer = self._one(self.users(inner.outputs[0]), "aten.mul.Tensor")
            operands = {self.source(inner.arg(0)), self.source(inner.arg(1))}
            if outer is None or operands != {gate.outputs[0], self.source(sigmoid.outputs[0])}:
                continue
            other = outer.arg(1) if self.source(outer.arg(0)) == inner.outputs[0] else outer.arg(0)
            up = self.maker(other, LINEAR)
            if up is None or up is gate or not self._plain(up) or not self._alike(gate, up):
                continue
            if not (self.used_only_by(gate.outputs[0], [sigmoid, inner]) and self.used_only_by(up.outputs[0], [outer])):
                continue
            members = [gate, up, sigmoid, inner, outer]
            for made in (gate, up, sigmoid, inner):
                members += self.names(made.outputs[0])
            x, norm_args = self._normed(gate.arg(0), [gate, up], members)
            args = (x, *norm_args, *self._weights([gate, up]), gate.args[3])
            self._replace("fused.gate_up_q4", args, outer.outputs, members, self._together([gate, up]))

    def fuse_shared_inputs(self) -> None:
        """One to three products of one x (q, k and v), with the norm that makes x."""
        for node in self.nodes:
            if node.name != NORM or node in self.taken:
                continue
            users = self.users(node.outputs[0])
            if not users or any(user.name != LINEAR or user in self.taken or not self._plain(user) for user in users):
                continue
            linears = list(dict.fromkeys(users))
            if len(linears) not in (1, 3) or any(not self._alike(linears[0], other) for other in linears[1:]):
                continue
            members = [node, *self.names(node.outputs[0]), *linears]
            rest: tuple[Arg, ...] = (node.args[1], node.args[2], *self._weights(linears), linears[0].args[3])
            outputs = tuple(linear.outputs[0] for linear in linears)
            select = self.maker(node.arg(0), "aten.select_copy.int") if len(linears) == 1 else None
            if select is not None and self.used_only_by(select.outputs[0], [node]):
                members += [select, *self.names(select.outputs[0])]
                if self._replace("fused.select_norm_linear_q4", (*select.args[:3], *rest), outputs, members, ()):
                    continue
            self._replace("fused.norm_linears_q4", (node.args[0], *rest), outputs, members, self._together(linears))

    def fuse_residuals(self) -> None:
        """``residual + linear(x)``."""
        for add in self.nodes:
            if not self._adds(add):
                continue
            for made, residual in ((add.arg(1), add.arg(0)), (add.arg(0), add.arg(1))):
                linear = self.maker(made, LINEAR)
                if linear is None or not self._plain(linear) or not self.used_only_by(linear.outputs[0], [add]):
                    continue
                members = [linear, *self.names(linear.outputs[0]), add]
                args = (linear.args[0], residual, *linear.args[1:4])
                if self._replace("fused.linear_add_q4", args, add.outputs, members, ()):
                    break

    def fuse_attention(self) -> None:
        """Rotary embedding of q and k into ``sdpa_with_kv_cache``, with the tables that its factors are slices of."""
        for sdpa in self.nodes:
            if sdpa.name != "sdpa_with_kv_cache.default":
                continue
            rope = self.maker(sdpa.arg(0), "et_vk.apply_rotary_emb.default")
            if rope is None or self.maker(sdpa.arg(1), rope.name) is not rope:
                continue
            if [self.source(sdpa.arg(0)), self.source(sdpa.arg(1))] != list(rope.outputs):
                continue
            if not all(self.used_only_by(value, [sdpa]) for value in rope.outputs):
                continue
            members = [rope, *(n for value in rope.outputs for n in self.names(value)), sdpa]
            tables = self._tables(rope)
            args = (*rope.args[:2], *(tables or (*rope.args[2:4], ())), *sdpa.args[2:])
            if self._replace("fused.rope_sdpa", args, sdpa.outputs, members, ()) and tables:
                for made in (self.source(rope.arg(2)), self.source(rope.arg(3))):
                    self.deferred.update((self.producer[made], *self.names(made)))

    @functools.cached_property
    def _lasting(self) -> frozenset[int]:
        """The matrices that nothing writes, if the graph has one part."""
        # What is put off in one part would be missing in the next.
        if any(splits_after(self.graph, node) for node in self.nodes):
            return frozenset()
        matrices = frozenset(
            value
            for value, tensor in enumerate(self.graph.values)
            if isinstance(tensor, GraphTensor) and tensor.is_constant and len(tensor.sizes) == 2
        )
        return matrices - mutated_values(self.graph, self.nodes)

    def _tables(self, rope: Node) -> tuple[Arg, Arg, Arg] | None:
        """Return the constant tables of which the rotary embedding's factors are slices, and the slices' start."""
        cosine, sine = (self._row_slice(rope.arg(index)) for index in (2, 3))
        if cosine is None or sine is None or cosine.args[2] != sine.args[2]:
            return None
        return cosine.arg(0), sine.arg(0), (cosine.arg(2),)

    def _row_slice(self, value: int) -> Node | None:
        """Return the node that makes ``value`` of rows in sequence of a constant matrix, from a live one on."""
        node = self.producer.get(self.source(value))
        if node is None or node.name != "aten.slice_copy.Tensor" or len(node.args) < 4:
            return None
        dim, start = self.graph.values[node.arg(1)], self.graph.values[node.arg(2)]
        step = self.graph.values[node.arg(4)] if len(node.args) > 4 else 1
        table = self.source(node.arg(0))
        rows = dim == 0 and step == 1 and isinstance(start, SymInt) and table in self._lasting
        # What leaves the graph is made in any case.
        return node if rows and self.users(node.outputs[0]) is not None else None

    def fuse_convolutions(self) -> None:
        """``residual + convolution(x)``, with the relu that alone reads it."""
        for add in self.nodes:
            if not self._adds(add):
                continue
            for made, residual in ((add.arg(0), add.arg(1)), (add.arg(1), add.arg(0))):
                convolution = self.maker(made, CONVOLUTION)
                if convolution is None or not self.used_only_by(convolution.outputs[0], [add]):
                    continue
                relu = self._one(self.users(add.outputs[0]), "aten.relu.default")
                last = add if relu is None or relu in self.taken else relu
                members = [convolution, *self.names(convolution.outputs[0]), add]
                name = "fused.conv_add"
                if last is not add:
                    members += [*self.names(add.outputs[0]), last]
                    name = "fused.conv_add_relu"
                if self._replace(name, (*convolution.args[:9], residual), last.outputs, members, ()):
                    break

    # Pieces of patterns.

    def _adds(self, node: Node) -> bool:
        """Whether a node is a free ``a + b``; older files leave the factor of b out."""
        if node.name != "aten.add.Tensor" or node in self.taken:
            return False
        return len(node.args) < 3 or self.graph.values[node.arg(2)] == 1

    @staticmethod
    def _one(nodes: list[Node] | None, name: str) -> Node | None:
        return nodes[0] if nodes and len(nodes) == 1 and nodes[0].name == name else None

    def _plain(self, linear: Node) -> bool:
        """Whether a product has no bias and constant weights."""
        constants = (self.graph.values[linear.arg(1)], self.graph.values[linear.arg(2)])
        return (len(linear.args) < 5 or self.graph.values[linear.arg(4)] is None) and all(
            isinstance(value, GraphTensor) and value.is_constant for value in constants
        )

    def _alike(self, a: Node, b: Node) -> bool:
        same_group = self.graph.values[a.arg(3)] == self.graph.values[b.arg(3)]
        return same_group and self.source(a.arg(0)) == self.source(b.arg(0))

    def _normed(self, value: int, linears: list[Node], members: list[Node]) -> tuple[int, tuple[Arg, Arg]]:
        norm = self.maker(value, NORM)
        if norm is None or not self.used_only_by(norm.outputs[0], linears):
            return value, ((), ())
        members += [norm, *self.names(norm.outputs[0])]
        return norm.arg(0), (norm.args[1], norm.args[2])

    @staticmethod
    def _weights(linears: list[Node]) -> tuple[Arg, Arg]:
        return tuple(n.arg(1) for n in linears), tuple(n.arg(2) for n in linears)

    def _together(self, linears: list[Node]) -> tuple[tuple[int, ...], ...]:
        if len(linears) == 1:
            return ()
        weights = tuple(linear.arg(1) for linear in linears)
        tensors = [self.graph.values[value] for value in weights]
        total = sum(tensor_bytes(t) + 256 for t in tensors if isinstance(t, GraphTensor))
        return (weights,) if total <= self.facts.max_binding_bytes and len(set(weights)) == len(weights) else ()

    def _replace(
        self,
        name: str,
        args: tuple[Arg, ...],
        outputs: tuple[int, ...],
        members: Iterable[Node],
        together: tuple[tuple[int, ...], ...],
    ) -> bool:
        """Put one node in place of ``members`` if the order of the list allows it."""
        ordered = sorted(dict.fromkeys(members), key=self.order.__getitem__)
        if any(member in self.taken for member in ordered):
            return False
        made = {value for member in ordered for value in member.outputs}
        inside = set(ordered)
        # The fused node stands where its last member stood: what in between needs its results must be able to wait.
        first, last = self.order[ordered[0]], self.order[ordered[-1]]
        waiting: list[Node] = []
        for node in self.nodes[first : last + 1]:
            if node not in inside and made.intersection(tensor_args(self.graph, node)):
                if not renames(node) or node in self.taken:
                    return False
                waiting.append(node)
                made.update(node.outputs)
        lowering = lowerings()[name]
        fused = Node(name, args, outputs, lowering, ordered[-1].position, tuple(ordered), together)
        for member in ordered:
            self.taken[member] = fused
        for node in waiting:
            self.anchor[node] = ordered[-1]
        return True

    def result(self) -> list[Node]:
        """Return the new list."""
        moved: dict[Node, list[Node]] = {}
        for node, anchor in self.anchor.items():
            if node not in self.taken:
                moved.setdefault(anchor, []).append(node)
        found: list[Node] = []
        for node in self.nodes:
            fused = self.taken.get(node)
            if fused is None and node not in self.anchor:
                found.append(replace(node, deferred=True) if node in self.deferred else node)
            elif fused is not None and fused.members[-1] is node:
                found += [fused, *moved.get(node, ())]
        return found
