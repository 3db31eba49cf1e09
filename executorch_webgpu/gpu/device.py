"""An opened device: buffers, pipelines, bind groups, submission. All calls to wgpu for execution go through here."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import wgpu
from wgpu.backends.wgpu_native import ffi, lib

from executorch_webgpu.errors import DeviceLost, Internal, OutOfResources
from executorch_webgpu.gpu.adapters import DeviceInfo, find_adapter, list_devices
from executorch_webgpu.gpu.shader_modules import create_module

__all__ = ["Buffer", "Device", "Pipeline", "find_adapter", "list_devices", "select_device"]

_DEFAULT_LIMITS = {
    "max-storage-buffer-binding-size": 128 << 20,
    "max-buffer-size": 256 << 20,
    "max-storage-buffers-per-shader-stage": 8,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-compute-workgroup-storage-size": 16384,
}
UPLOAD_PIECE = 8 << 20  # bytes
FLUSH_AFTER = 16 << 20  # bytes written that may wait in host memory for a submission
FINISHERS = 2  # threads that finish command buffers: more than half of the host's time for a call
COMPILERS = 8  # threads that make pipelines, at most
_STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
_UNIFORM = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
_STAGING = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST


@dataclass(frozen=True, eq=False)
class Buffer:
    """A GPU buffer of ``size`` bytes."""

    handle: Any
    size: int


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A compute pipeline and the layout of its one bind group."""

    handle: Any
    layout: Any
    module: Any


@dataclass(frozen=True)
class PipelineRequest:
    """What a pipeline is made of. ``bindings`` are (index, read | read_write | uniform)."""

    source: str
    bindings: tuple[tuple[int, str], ...]
    constants: tuple[tuple[str, float], ...]
    name: str

    @property
    def key(self) -> tuple[str, tuple[tuple[str, float], ...]]:
        """What tells pipelines apart."""
        return self.source, self.constants


class Device:
    """A WebGPU device and its pipelines. Writes and the submission that sees them belong together: hold ``lock``."""

    def __init__(self, info: DeviceInfo, adapter: Any) -> None:
        self.info = info
        self.name = info.name
        self.description = f"{info.name} ({info.kind}, {info.backend})"
        self.lock = threading.RLock()
        self.checked = os.environ.get("EXECUTORCH_WEBGPU_CHECKED", "") not in ("", "0")
        self.plain = os.environ.get("EXECUTORCH_WEBGPU_FEATURES", "") == "none"
        self.lost = False
        self.allocated = 0
        self.peak = 0
        self._pending = 0
        features = [] if self.plain else [name for name in info.features if name != "immediates"]
        self.features = frozenset(features)
        if self.plain:
            limits = {name: min(value, info.limits[name]) for name, value in _DEFAULT_LIMITS.items()}
        else:
            limits = dict(info.limits)
            limits.pop("max-compute-workgroups-per-dimension", None)
        self.limits = limits
        try:
            self.handle: Any = adapter.request_device_sync(required_features=features, required_limits=limits)
        except Exception as error:
            raise Internal(f"device {info.name!r} could not be opened: {error}") from error
        self.queue: Any = self.handle.queue
        self._pipelines: dict[Any, Pipeline] = {}
        self._layouts: dict[tuple[tuple[int, str], ...], tuple[Any, Any]] = {}

    @functools.cached_property
    def subgroup_size(self) -> int | None:
        """The subgroup size where subgroup operations are on and every workgroup size gives the same."""
        if "subgroup" not in self.features:
            return None
        from executorch_webgpu.gpu.probe import measure_subgroup_size

        return measure_subgroup_size(self)

    @functools.cached_property
    def finisher(self) -> ThreadPoolExecutor:
        """Threads that finish command buffers. What they run must not take ``lock``."""
        return ThreadPoolExecutor(FINISHERS, thread_name_prefix="executorch-webgpu-finisher")

    @functools.cached_property
    def submitter(self) -> ThreadPoolExecutor:
        """A thread that submits on behalf of others, in order. Nobody may wait for it with ``lock`` held."""
        return ThreadPoolExecutor(1, thread_name_prefix="executorch-webgpu-submitter")

    def buffer(self, nbytes: int, what: str, uniform: bool = False) -> Buffer:
        """Return a new zeroed buffer of at least ``nbytes``, padded to 32 bytes: four elements of the widest dtype.

        Raises:
            OutOfResources: The device's limit would be passed.
        """
        size = max(32, (nbytes + 31) & ~31)
        limit = self.limits["max-buffer-size"]
        if size > limit:
            raise OutOfResources(f"{what} needs {size} bytes; the limit of {self.name} is {limit} bytes a buffer")
        with self.errors():
            handle = self.handle.create_buffer(size=size, usage=_UNIFORM if uniform else _STORAGE)
        self.allocated += size
        self.peak = max(self.peak, self.allocated)
        return Buffer(handle, size)

    def staging(self, nbytes: int) -> Buffer:
        """Return a new buffer that copies can be read back from."""
        with self.errors():
            return Buffer(self.handle.create_buffer(size=(nbytes + 15) & ~15, usage=_STAGING), nbytes)

    def free(self, buffer: Buffer) -> None:
        """Destroy a buffer that no later submission uses."""
        self.allocated -= buffer.size
        buffer.handle.destroy()

    def write(self, buffer: Buffer, data: Any, offset: int = 0) -> None:
        """Copy a contiguous array or buffer into ``buffer`` before the next submission."""
        view = memoryview(data)
        if not view.nbytes:
            return
        view = view.cast("B")
        whole = view.nbytes & ~3
        with self.errors():
            for start in range(0, whole, UPLOAD_PIECE):
                piece = view[start : min(whole, start + UPLOAD_PIECE)]
                self.queue.write_buffer(buffer.handle, offset + start, piece)
                self._pending += piece.nbytes
                if self._pending > FLUSH_AFTER:
                    self.flush()
            if view.nbytes > whole:
                # Copies come in words; the last one is padded with zeros.
                self.queue.write_buffer(buffer.handle, offset + whole, bytes(view[whole:]).ljust(4, b"\0"))

    def flush(self) -> None:
        """Carry out the writes so far and wait for them."""
        self._pending = 0
        with self.errors():
            commands = self.handle.create_command_encoder().finish()
        self.wait(self.submit(commands))

    def pipeline(self, request: PipelineRequest) -> Pipeline:
        """Return the pipeline of a shader, made once."""
        return self.pipelines([request])[0]

    def pipelines(self, requests: Sequence[PipelineRequest]) -> list[Pipeline]:
        """Return the pipelines of several shaders; those that are new are compiled at once on all processors."""
        missing = {request.key: request for request in requests if request.key not in self._pipelines}
        layouts = [self._layout(request.bindings) for request in missing.values()]
        if len(missing) > 1:
            workers = min(len(missing), os.cpu_count() or 1, COMPILERS)
            with ThreadPoolExecutor(workers, thread_name_prefix="executorch-webgpu-compiler") as pool:
                made = list(pool.map(self._make_pipeline, missing.values(), layouts))
        else:
            made = list(map(self._make_pipeline, missing.values(), layouts))
        self._pipelines.update(zip(missing, made, strict=True))
        return [self._pipelines[request.key] for request in requests]

    def _make_pipeline(self, request: PipelineRequest, layouts: tuple[Any, Any]) -> Pipeline:
        layout, pipeline_layout = layouts
        with self.errors(request.name):
            module = create_module(self.handle, request.source, request.name, checked=self.checked)
            stage: dict[str, Any] = {"module": module, "entry_point": "main"}
            if request.constants:
                stage["constants"] = dict(request.constants)
            handle = self.handle.create_compute_pipeline(label=request.name, layout=pipeline_layout, compute=stage)
        return Pipeline(handle, layout, module)

    def _layout(self, bindings: tuple[tuple[int, str], ...]) -> tuple[Any, Any]:
        found = self._layouts.get(bindings)
        if found is None:
            kinds = {"read": "read-only-storage", "read_write": "storage", "uniform": "uniform"}
            entries = [
                {"binding": index, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kinds[access]}}
                for index, access in bindings
            ]
            with self.errors():
                layout = self.handle.create_bind_group_layout(entries=entries)
                pipeline_layout = self.handle.create_pipeline_layout(bind_group_layouts=[layout])
            found = self._layouts[bindings] = (layout, pipeline_layout)
        return found

    def bind_group(self, pipeline: Pipeline, entries: Sequence[tuple[int, Buffer, int, int]]) -> Any:
        """Return a bind group of (binding, buffer, offset, size) entries."""
        with self.errors():
            return self.handle.create_bind_group(
                layout=pipeline.layout,
                entries=[
                    {"binding": index, "resource": {"buffer": buffer.handle, "offset": offset, "size": size}}
                    for index, buffer, offset, size in entries
                ],
            )

    def submit(self, command_buffer: Any) -> int:
        """Submit one cleanly finished command buffer and return its submission index."""
        array = ffi.new("WGPUCommandBuffer[]", [command_buffer._internal])
        return int(lib.wgpuQueueSubmitForIndex(self.queue._internal, 1, array))

    def wait(self, submission: int) -> None:
        """Wait until a submission is done."""
        lib.wgpuDevicePoll(self.handle._internal, True, ffi.new("WGPUSubmissionIndex *", submission))

    @contextlib.contextmanager
    def errors(self, what: str = "") -> Iterator[None]:
        """Turn wgpu's errors into the package's."""
        try:
            yield
        except wgpu.GPUOutOfMemoryError as error:
            raise OutOfResources(f"the device {self.name} is out of memory") from error
        except wgpu.GPUError as error:
            text = " ".join(str(error).split())
            if "lost" in text.lower():
                self.lost = True
                raise DeviceLost(f"the device {self.name} was lost; reload the program") from error
            raise Internal(f"{what or 'a GPU call'} failed on {self.name}: {text}") from error


@functools.cache
def _opened(index: int, checked: str, features: str) -> list[Device]:
    return []


def select_device(spec: str) -> Device | None:
    """Return the device that ``spec`` names (see gpu/adapters.py), opened once per process and mode.

    Returns None for ``auto`` on a machine without any adapter.

    Raises:
        DeviceNotFound: Nothing answers to ``spec``.
    """
    found = find_adapter(spec)
    if found is None:
        return None
    info, adapter = found
    environment = os.environ.get("EXECUTORCH_WEBGPU_CHECKED", ""), os.environ.get("EXECUTORCH_WEBGPU_FEATURES", "")
    slot = _opened(info.index, *environment)
    if not slot or slot[0].lost:
        slot[:] = [Device(info, adapter)]
    return slot[0]
