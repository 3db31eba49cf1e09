"""What is inside a program: methods, delegates, operators, weights, memory, and what would not run."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from executorch_webgpu.errors import ExecuTorchError
from executorch_webgpu.executor.delegates import VULKAN
from executorch_webgpu.format import read_vulkan_graph
from executorch_webgpu.format.plan import Delegate, Dynamism, ExecutionPlan, KernelCall, PlanValue, TensorValue
from executorch_webgpu.format.plan import Program as PlanProgram
from executorch_webgpu.format.vulkan_graph import GraphTensor, VulkanGraph
from executorch_webgpu.graph.constants import payload_dtype
from executorch_webgpu.graph.nodes import build_nodes, mutated_values
from executorch_webgpu.graph.storage import plan_storage, tensor_bytes
from executorch_webgpu.insight.outputs import plain
from executorch_webgpu.insight.reasons import has_jumps, why_on_cpu
from executorch_webgpu.ops.registry import references
from executorch_webgpu.runtime.metadata import kind_of


@dataclass(frozen=True)
class ValueContent:
    """An input or output. ``bound`` tells whether ``shape`` is an upper bound; ``value`` is what a scalar must be.

    An infinite or undefined float is a string.
    """

    kind: str
    dtype: str | None = None
    shape: list[int] | None = None
    bound: str | None = None
    value: int | float | bool | str | None = None


@dataclass
class DelegateContent:
    """A delegate. ``weights`` are bytes by dtype, ``state`` bytes that persist, ``memory`` bytes of intermediates."""

    backend: str
    nbytes: int
    operators: dict[str, int] = field(default_factory=dict)
    inputs: list[ValueContent] = field(default_factory=list)
    outputs: list[ValueContent] = field(default_factory=list)
    weights: dict[str, int] = field(default_factory=dict)
    state: int = 0
    memory: int = 0


@dataclass(frozen=True)
class KernelContent:
    """An operator that was left on the CPU. ``dtypes`` are those of its tensors."""

    name: str
    calls: int
    dtypes: list[str]
    supported: bool
    reason: str | None


@dataclass(frozen=True)
class MethodContent:
    """One method; ``arenas`` are the planned memory areas in bytes."""

    name: str
    inputs: list[ValueContent]
    outputs: list[ValueContent]
    instructions: dict[str, int]
    delegates: list[DelegateContent]
    kernels: list[KernelContent]
    constants: int
    arenas: list[int]

    @property
    def constant(self) -> bool:
        """Whether the method only returns what the exporter stored."""
        return not self.instructions


def describe_program(program: PlanProgram) -> list[MethodContent]:
    """Return the methods of a program, those that compute first."""
    methods = [_describe_method(program, plan) for plan in program.plans]
    return sorted(methods, key=lambda method: method.constant)


def _describe_method(program: PlanProgram, plan: ExecutionPlan) -> MethodContent:
    instructions = Counter(type(item).__name__ for chain in plan.chains for item in chain)
    # Equal weights are stored once; views of a file differ by where they start.
    constants = {
        np.frombuffer(value.data, np.uint8).ctypes.data: value.data.nbytes
        for value in plan.values
        if isinstance(value, TensorValue) and value.is_constant and value.data
    }
    return MethodContent(
        name=plan.name,
        inputs=[_describe_value(plan.values[index]) for index in plan.inputs],
        outputs=[_describe_value(plan.values[index]) for index in plan.outputs],
        instructions=dict(instructions),
        delegates=[_describe_delegate(program, plan, i, item) for i, item in enumerate(plan.delegates)],
        kernels=_describe_kernels(plan),
        constants=sum(constants.values()),
        arenas=list(plan.arena_sizes[1:]),
    )


def _describe_value(value: PlanValue) -> ValueContent:
    kind = kind_of(value)
    if isinstance(value, TensorValue):
        bound = {Dynamism.STATIC: None, Dynamism.DYNAMIC_BOUND: "upper", Dynamism.DYNAMIC_UNBOUND: "none"}
        return ValueContent(kind, value.dtype_name, list(value.sizes), bound[value.dynamism])
    if isinstance(value, bool | int | float | str):
        return ValueContent(kind, value=plain(value))
    return ValueContent(kind)


def _describe_kernels(plan: ExecutionPlan) -> list[KernelContent]:
    calls: dict[int, list[KernelCall]] = {}
    for chain in plan.chains:
        for item in chain:
            if isinstance(item, KernelCall):
                calls.setdefault(item.op_index, []).append(item)
    table, jumps = references(), has_jumps(plan)
    found = []
    for index, mine in calls.items():
        operator = plan.operators[index]
        tensors = [v for call in mine for i in call.args if isinstance(v := plan.values[i], TensorValue)]
        reasons = Counter(why_on_cpu(plan, call, jumps) for call in mine)
        found.append(
            KernelContent(
                operator.full_name,
                len(mine),
                sorted({tensor.dtype_name for tensor in tensors}),
                operator.full_name in table and all(tensor.opaque is None for tensor in tensors),
                reasons.most_common(1)[0][0],
            )
        )
    return sorted(found, key=lambda kernel: (-kernel.calls, kernel.name))


def _describe_delegate(program: PlanProgram, plan: ExecutionPlan, index: int, delegate: Delegate) -> DelegateContent:
    content = DelegateContent(delegate.backend_id, delegate.payload.nbytes)
    if delegate.backend_id != VULKAN:
        return content
    try:
        graph = read_vulkan_graph(delegate.payload, program.named_data, f"method {plan.name!r}: delegate {index}")
    except ExecuTorchError:
        return content  # loading the method says what is wrong
    content.operators = dict(Counter(call.name for call in graph.chain).most_common())
    content.inputs = [_describe_graph_value(graph, value) for value in graph.input_ids]
    content.outputs = [_describe_graph_value(graph, value) for value in graph.output_ids]
    with contextlib.suppress(ExecuTorchError):  # operators that are missing, payloads of the wrong size
        _measure(graph, content)
    return content


def _measure(graph: VulkanGraph, content: DelegateContent) -> None:
    weights: Counter[str] = Counter()
    seen = set()
    for value in graph.values:
        if isinstance(value, GraphTensor) and value.is_constant:
            constant = graph.constants[value.constant_id]
            key = constant.named_key or str(value.constant_id)
            if key not in seen:
                seen.add(key)
                weights[payload_dtype(graph, value).name] += constant.length
    content.weights = dict(weights.most_common())
    nodes = build_nodes(graph, "delegate")
    for value in mutated_values(graph, nodes):
        tensor = graph.values[value]
        if isinstance(tensor, GraphTensor) and tensor.is_constant:
            content.state += tensor_bytes(tensor)
    plan = plan_storage(graph, nodes)
    kept = plan.constants.keys() | plan.state.keys()
    content.memory = sum(size for storage, size in enumerate(plan.nbytes) if storage not in kept)


def _describe_graph_value(graph: VulkanGraph, index: int) -> ValueContent:
    value = graph.values[index]
    if isinstance(value, GraphTensor):
        return ValueContent("tensor", value.dtype.name, list(value.sizes), "upper")
    return ValueContent("int")
