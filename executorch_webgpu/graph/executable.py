"""A compiled graph bound to a device: pipelines, bind groups and one parameter buffer, ready to record."""

from __future__ import annotations

from collections.abc import Mapping

from executorch_webgpu.errors import Internal, OutOfResources
from executorch_webgpu.gpu.device import Buffer, Device, Pipeline, PipelineRequest
from executorch_webgpu.gpu.recording import Launch
from executorch_webgpu.graph.compiler import Compiled
from executorch_webgpu.graph.resources import Resources
from executorch_webgpu.graph.wgsl import Interface, make_writable, pack_params, pack_scalar, read_interface
from executorch_webgpu.ops.dispatch import MAX_GRID, Dispatch, Grid
from executorch_webgpu.ops.shaders import shader_source
from executorch_webgpu.ops.symbols import Sym, evaluate

UNIFORM_ALIGNMENT = 256


class Executable:
    """What one call records. ``launches`` and ``grids(environment)`` go together."""

    def __init__(self, compiled: Compiled, resources: Resources, device: Device) -> None:
        self.compiled = compiled
        self.device = device
        self._resources = resources
        self._blocks = _ParameterBlocks()
        prepared = [self._prepare(dispatch) for dispatch in compiled.dispatches]
        self._blocks.place()
        self.params: Buffer | None = None
        if self._blocks.size:
            self.params = device.buffer(self._blocks.size, f"{resources.where}: parameters", uniform=True)
            device.write(self.params, self._blocks.data)
        self._scratch = [resources.scratch(index, nbytes) for index, nbytes in enumerate(compiled.scratch)]
        pipelines = device.pipelines([_request(dispatch, source, found) for dispatch, source, found, _ in prepared])
        self.launches = [
            self._bind(dispatch, found, block, pipeline)
            for (dispatch, _, found, block), pipeline in zip(prepared, pipelines, strict=True)
        ]
        self._storages = {tensor.storage for dispatch in compiled.dispatches for _, tensor in dispatch.bindings}
        self._grids: list[tuple[int, int, int]] = []
        self._live_grids: dict[Grid, list[int]] = {}
        for index, dispatch in enumerate(compiled.dispatches):
            x, y, z = dispatch.grid
            if isinstance(x, int) and isinstance(y, int) and isinstance(z, int):
                self._grids.append(_checked((x, y, z), dispatch.label))
            else:
                self._grids.append((0, 0, 0))
                self._live_grids.setdefault(dispatch.grid, []).append(index)

    def grids(self, environment: Mapping[int, int]) -> list[tuple[int, int, int]]:
        """Return the grid of every launch in this call."""
        if not self._live_grids:
            return self._grids
        grids = list(self._grids)
        for (x, y, z), places in self._live_grids.items():
            grid = evaluate(x, environment), evaluate(y, environment), evaluate(z, environment)
            checked = _checked(grid, self.compiled.dispatches[places[0]].label)
            for index in places:
                grids[index] = checked
        return grids

    def binds(self, storage: int) -> bool:
        """Whether any dispatch reads or writes a storage."""
        return storage in self._storages

    def write_live(self, environment: Mapping[int, int]) -> None:
        """Write the parameters that change from call to call: one write."""
        if self._blocks.places and self.params is not None:
            start = self._blocks.live_start
            self._blocks.update(environment)
            self.device.write(self.params, memoryview(self._blocks.data)[start:], start)

    def close(self) -> None:
        """Destroy what only this graph uses."""
        if self.params is not None:
            self.device.free(self.params)
            self.params = None

    def _prepare(self, dispatch: Dispatch) -> tuple[Dispatch, str, Interface, int]:
        source = shader_source(dispatch.shader, dispatch.defines)
        interface = read_interface(source, dispatch.shader)
        bindings = dict(dispatch.bindings)
        if bindings.keys() != interface.storage.keys():
            raise Internal(f"{dispatch.shader} binds {sorted(interface.storage)}, given {sorted(bindings)}")
        written = [bindings[name].storage for name, (_, access) in interface.storage.items() if access == "read_write"]
        used = [tensor.storage for tensor in bindings.values()]
        if any(used.count(storage) > 1 for storage in written):
            source = make_writable(source)
            interface = read_interface(source, dispatch.shader)
        block = -1
        if interface.uniform is not None:
            data, places = pack_params(interface, dict(dispatch.params), dispatch.shader)
            block = self._blocks.add(data, places)
        elif dispatch.params:
            raise Internal(f"{dispatch.shader} takes no parameters")
        return dispatch, source, interface, block

    def _bind(self, dispatch: Dispatch, interface: Interface, block: int, pipeline: Pipeline) -> Launch:
        limit = self.device.limits["max-storage-buffer-binding-size"]
        entries = []
        for name, tensor in dispatch.bindings:
            if tensor.storage < 0:
                buffer = self._scratch[-1 - tensor.storage]
            else:
                buffer = self._resources.buffer(tensor.storage)
            size = max(32, (tensor.nbytes + 31) & ~31) if tensor.storage >= 0 else buffer.size
            if size > limit:
                raise OutOfResources(
                    f"{dispatch.label}: {name} ({tensor.dtype} {list(tensor.shape)}) is {size} bytes; "
                    f"the limit of {self.device.name} is {limit} bytes a binding"
                )
            entries.append((interface.storage[name][0], buffer, tensor.offset, size))
        if interface.uniform is not None:
            assert self.params is not None
            entries.append((interface.uniform, self.params, self._blocks.offsets[block], interface.params_bytes))
        return Launch(pipeline, self.device.bind_group(pipeline, entries))


def _request(dispatch: Dispatch, source: str, interface: Interface) -> PipelineRequest:
    kinds = sorted((index, access) for index, access in interface.storage.values())
    if interface.uniform is not None:
        kinds.append((interface.uniform, "uniform"))
    return PipelineRequest(source, tuple(kinds), dispatch.constants, dispatch.shader)


def _checked(grid: tuple[int, int, int], label: str) -> tuple[int, int, int]:
    if not all(0 <= size <= MAX_GRID for size in grid):
        raise OutOfResources(f"{label} needs a grid of {grid}; the limit is {MAX_GRID} workgroups in a dimension")
    return grid


class _ParameterBlocks:
    """Parameter blocks of a graph: equal ones stored once, those with live parts together at the end."""

    def __init__(self) -> None:
        self.places: list[tuple[int, str, Sym]] = []
        self.offsets: list[int] = []
        self.live_start = 0
        self.data = bytearray()
        self._blocks: dict[tuple[bytes, tuple[tuple[int, str, Sym], ...]], int] = {}

    @property
    def size(self) -> int:
        return len(self.data)

    def add(self, data: bytes, places: tuple[tuple[int, str, Sym], ...]) -> int:
        return self._blocks.setdefault((data, places), len(self._blocks))

    def place(self) -> None:
        self.offsets = [0] * len(self._blocks)
        ordered = sorted(self._blocks.items(), key=lambda item: (bool(item[0][1]), item[1]))
        for (data, places), number in ordered:
            offset = len(self.data)
            if places and not self.places:
                self.live_start = offset
            self.offsets[number] = offset
            self.places += [(offset + at, code, value) for at, code, value in places]
            self.data += data.ljust(-(-len(data) // UNIFORM_ALIGNMENT) * UNIFORM_ALIGNMENT, b"\0")

    def update(self, environment: Mapping[int, int]) -> None:
        for offset, code, value in self.places:
            pack_scalar(self.data, offset, code, value.evaluate(environment), "a live parameter")
