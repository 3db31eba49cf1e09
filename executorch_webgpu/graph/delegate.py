"""A delegate on a GPU: compiled once per set of input shapes, executed with one pass per call."""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidState
from executorch_webgpu.format.vulkan_graph import GraphTensor, SymInt, VulkanGraph
from executorch_webgpu.gpu.device import Buffer, Device
from executorch_webgpu.gpu.readback import ReadbackRing
from executorch_webgpu.gpu.recording import Copy, begin, finish
from executorch_webgpu.graph.compiler import Compilation, State
from executorch_webgpu.graph.executable import Executable
from executorch_webgpu.graph.fusion import fuse
from executorch_webgpu.graph.nodes import Node, build_nodes, splits_after
from executorch_webgpu.graph.resources import Resources
from executorch_webgpu.graph.staging import to_graph
from executorch_webgpu.graph.storage import plan_storage
from executorch_webgpu.ops.dispatch import DeviceFacts
from executorch_webgpu.ops.registry import Shape
from executorch_webgpu.ops.symbols import Sym, evaluate, live

Array = np.ndarray[Any, np.dtype[Any]]
Value = Array | int
COMPILED_LIMIT = 64  # executables kept for each part of a graph
FIRST_PIECE = 24  # launches of the first submission of a call


def device_facts(device: Device) -> DeviceFacts:
    """Return what lowerings may rely on for this device."""
    limits = device.limits
    software = device.info.kind == "software"
    return DeviceFacts(
        max_binding_bytes=limits["max-storage-buffer-binding-size"],
        max_storage_buffers=limits["max-storage-buffers-per-shader-stage"],
        max_invocations=limits["max-compute-invocations-per-workgroup"],
        max_workgroup_bytes=limits["max-compute-workgroup-storage-size"],
        subgroup_size=device.subgroup_size,
        # naga has an instruction for it in SPIR-V and HLSL; Metal has none.
        packed_dot=device.info.backend in ("Vulkan", "D3D12") and not software,
        software=software,
    )


@dataclass
class _Cache:
    """Executables of one part by shapes and pinned values, least recently used first."""

    executables: OrderedDict[Any, _Part] = field(default_factory=OrderedDict)
    # The expressions whose values belong to the key, by shapes.
    pins: dict[Any, tuple[Sym, ...]] = field(default_factory=dict)


@dataclass
class _Part:
    """A compiled part and the cache of what follows it."""

    executable: Executable
    state: State
    following: _Cache = field(default_factory=_Cache)

    def close(self) -> None:
        self.executable.close()
        for part in self.following.executables.values():
            part.close()


@dataclass
class Step:
    """A part ready to record for one call, and the cache of what follows it."""

    executable: Executable
    state: State
    environment: dict[int, int]
    following: _Cache


class GpuDelegate:
    """One delegate of a method. State (KV caches) lives in its buffers until ``reset`` or ``close``."""

    def __init__(self, graph: VulkanGraph, device: Device, where: str = "delegate") -> None:
        """Resolve and fuse the nodes and plan the memory.

        Raises:
            OperatorMissing: Operators or dtypes have no lowering; the message lists them all.
            OutOfResources: A constant is larger than the device can bind; the message names it.
        """
        self.graph = graph
        self.device = device
        self.where = where
        self.facts = device_facts(device)
        nodes = fuse(graph, build_nodes(graph, where), self.facts)
        self.plan = plan_storage(graph, nodes)
        self.resources = Resources(graph, self.plan, device, where)
        self.resources.check_limits()
        self._parts = _split(graph, nodes)
        self._selects = [_host_selects(graph, part) for part in self._parts]
        self._cache = _Cache()
        self._ring = ReadbackRing(device)
        self._closed = False

    def execute(self, inputs: Sequence[Value]) -> list[Value]:
        """Run the graph. Inputs and outputs are in graph order; SymInts are ints.

        Raises:
            InvalidArgument: A value is out of range.
            InvalidState: The delegate is closed.
            DeviceLost: The device went away.
        """
        with self.device.lock:
            state, environment, arrays = self.stage(inputs)
            step = self.ready(state, environment)
            for index in range(len(self._parts) - 1):
                wanted = self._read_ids(index)
                read = self._launch(step, wanted, arrays)
                arrays = {}
                self._select_from_results(index, dict(zip(wanted, read, strict=True)), environment)
                self._select_from_inputs(index + 1, inputs, environment)
                step = self._step(index + 1, step.following, step.state, environment)
            return self._launch(step, self.graph.output_ids, arrays)

    def stage(self, inputs: Sequence[Value]) -> tuple[State, dict[int, int], dict[int, Array]]:
        """Return what a call with these inputs is compiled for, its live scalars, and the arrays to write by value."""
        state = State()
        environment: dict[int, int] = {}
        arrays: dict[int, Array] = {}
        for index, (value, given) in enumerate(zip(self.graph.input_ids, inputs, strict=True)):
            tensor = self.graph.values[value]
            if isinstance(tensor, GraphTensor):
                array = to_graph(np.asarray(given), tensor.dtype, f"{self.where}: input {index}")
                arrays[value] = array
                state.shapes[value] = array.shape
            elif isinstance(tensor, SymInt):
                environment[value] = int(given)
                state.symbols[value] = live(value)
        self._select_from_inputs(0, inputs, environment)
        return state, environment, arrays

    def ready(self, state: State, environment: dict[int, int]) -> Step:
        """Return the first part compiled for a call; its guards hold, nothing is written yet."""
        return self._step(0, self._cache, state, environment)

    def reads_on_host(self, value: int) -> bool:
        """Whether a call needs an input's contents before anything is submitted."""
        return any(source == value for selects in self._selects for _, source, _, _ in selects)

    def check_open(self) -> None:
        """Raise InvalidState if ``close`` was called."""
        if self._closed:
            raise InvalidState(f"{self.where}: the program is closed")

    @property
    def is_single_part(self) -> bool:
        """Whether a call is one submission: no int is read from what the graph computes."""
        return len(self._parts) == 1

    @property
    def members(self) -> list[Node]:
        """All nodes of the chain, fused ones by their members."""
        return [part for nodes in self._parts for node in nodes for part in node.parts]

    def _step(self, index: int, cache: _Cache, state: State, environment: dict[int, int]) -> Step:
        self.check_open()
        part = self._part(index, cache, state, environment)
        for guard in part.executable.compiled.guards:
            guard.check(environment)
        return Step(part.executable, part.state, environment, part.following)

    def reset(self) -> None:
        """Give caches and other state their initial values."""
        with self.device.lock:
            self.resources.reset()

    def close(self) -> None:
        """Free the GPU memory; later calls raise InvalidState."""
        with self.device.lock:
            if not self._closed:
                self._closed = True
                for part in self._cache.executables.values():
                    part.close()
                self._cache = _Cache()
                self.resources.close()

    def _part(self, index: int, cache: _Cache, state: State, environment: Mapping[int, int]) -> _Part:
        # Shapes of later parts follow from the first one's key and the pins on the way.
        shapes = tuple(state.shapes[v] for v in self.graph.input_ids if v in state.shapes) if index == 0 else ()
        pins = cache.pins.get(shapes, ())
        key = shapes, tuple(pin.evaluate(environment) for pin in pins)
        part = cache.executables.get(key)
        if part is None:
            compilation = Compilation(
                self.graph, self.plan, self.resources, self.facts, state.copy(), environment, self.where
            )
            compiled = compilation.run(self._parts[index])
            part = _Part(Executable(compiled, self.resources, self.device), compiled.state)
            if any(pin not in pins for pin in compiled.pins):
                pins = cache.pins[shapes] = tuple(dict.fromkeys((*pins, *compiled.pins)))
                key = shapes, tuple(pin.evaluate(environment) for pin in pins)
            cache.executables[key] = part
            if len(cache.executables) > COMPILED_LIMIT:
                (old, _), gone = cache.executables.popitem(last=False)
                gone.close()
                if all(old != other for other, _ in cache.executables):
                    cache.pins.pop(old, None)
        else:
            cache.executables.move_to_end(key)
        return part

    def _launch(self, step: Step, wanted: Sequence[int], arrays: Mapping[int, Array]) -> list[Value]:
        """Write what one part needs, run it and return the wanted values."""
        environment = step.environment
        layout: list[tuple[int, Shape, np.dtype[Any]] | int] = []
        pieces: list[tuple[Buffer, int, int]] = []
        total = 0
        for value in wanted:
            tensor = self.graph.values[value]
            if not isinstance(tensor, GraphTensor):
                symbol = step.state.symbols.get(value, tensor.value if isinstance(tensor, SymInt) else 0)
                layout.append(evaluate(symbol, environment))
                continue
            shape = step.state.shapes.get(value, tensor.sizes)
            nbytes = math.prod(shape) * tensor.dtype.itemsize
            layout.append((total, shape, tensor.dtype))
            if nbytes:
                pieces.append((self.resources.buffer(self.plan.of(value)), (nbytes + 3) & ~3, total))
                total += (nbytes + 15) & ~15
        readback = self._ring.get(total) if total else None
        copies = [Copy(buffer, readback.buffer, size, 0, offset) for buffer, size, offset in pieces] if readback else []
        submission = self._submit(step, arrays, copies)
        data = bytearray()
        if readback is not None:
            readback.request(total)
            data = readback.take(submission)
            self._ring.put(readback)
        return [self._result(item, data) for item in layout]

    def _submit(self, step: Step, arrays: Mapping[int, Array], copies: Sequence[Copy]) -> int:
        """Write the inputs and submit the launches of a part, then the copies.

        Long lists go in pieces: the GPU begins with the first while the next is recorded, and a second thread finishes
        one while this thread writes the inputs or records another.
        """
        device, executable = self.device, step.executable
        grids = executable.grids(step.environment)
        ends = _piece_ends(len(grids))

        def encode(begin_at: int, end: int) -> Future[Any]:
            recording = begin(device, executable.launches[begin_at:end], grids[begin_at:end])
            last = copies if end == len(grids) else ()
            if len(grids) < FIRST_PIECE:
                done: Future[Any] = Future()
                done.set_result(finish(device, recording, last))
                return done
            return device.finisher.submit(finish, device, recording, last)

        encoded = encode(0, ends[0])
        executable.write_live(step.environment)
        for value, array in arrays.items():
            device.write(self.resources.buffer(self.plan.of(value)), array)
        for begin_at, end in itertools.pairwise(ends):
            following = encode(begin_at, end)
            device.submit(encoded.result())
            encoded = following
        return device.submit(encoded.result())

    @staticmethod
    def _result(item: tuple[int, Shape, np.dtype[Any]] | int, data: bytearray) -> Value:
        if isinstance(item, int):
            return item
        offset, shape, dtype = item
        array: Array = (
            np.frombuffer(data, dtype, math.prod(shape), offset).reshape(shape) if data else np.empty(shape, dtype)
        )
        return array.copy()

    # Live scalars.

    def _select_from_inputs(self, index: int, inputs: Sequence[Value], environment: dict[int, int]) -> None:
        for target, source, dim, item in self._selects[index]:
            if source in self.graph.input_ids:
                array = np.asarray(inputs[self.graph.input_ids.index(source)])
                environment[target] = int(array.take(item, axis=dim).reshape(-1)[0])

    def _read_ids(self, index: int) -> list[int]:
        return [source for _, source, _, _ in self._selects[index] if source not in self.graph.input_ids]

    def _select_from_results(self, index: int, results: Mapping[int, Value], environment: dict[int, int]) -> None:
        for target, source, dim, item in self._selects[index]:
            if source in results:
                environment[target] = int(np.asarray(results[source]).take(item, axis=dim).reshape(-1)[0])


def _piece_ends(count: int) -> list[int]:
    """Return where the pieces of a list of launches end; each is twice as long as the one before."""
    ends = [min(count, FIRST_PIECE)]
    size = FIRST_PIECE
    while ends[-1] < count:
        size *= 2
        # A short rest is not worth a submission.
        end = ends[-1] + size
        ends.append(count if end + FIRST_PIECE > count else end)
    return ends


def _split(graph: VulkanGraph, nodes: list[Node]) -> list[list[Node]]:
    """Cut the list after each node that ends a part."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        parts[-1].append(node)
        if splits_after(graph, node):
            parts.append([])
    return parts


def _host_selects(graph: VulkanGraph, nodes: Sequence[Node]) -> list[tuple[int, int, int, int]]:
    """Return (target SymInt, source tensor, dim, index) of the ints read from tensors in this part."""
    found = []
    for node in nodes:
        if node.name.startswith("et_vk.select_as_symint"):
            dim, item = graph.values[node.arg(1)], graph.values[node.arg(2)]
            assert isinstance(dim, int) and isinstance(item, int)
            found.append((node.outputs[0], node.arg(0), dim, item))
    return found
