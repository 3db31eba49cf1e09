"""A loaded program: opens files, picks the device, loads methods."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from executorch_webgpu.errors import InvalidArgument, InvalidState, InvalidType, NotFound, NotSupported, OperatorMissing
from executorch_webgpu.executor.machine import Machine
from executorch_webgpu.executor.memory import SharedMemory
from executorch_webgpu.format import open_program
from executorch_webgpu.format.plan import ExecutionPlan
from executorch_webgpu.format.plan import Program as PlanProgram
from executorch_webgpu.format.vulkan_graph import VulkanGraph
from executorch_webgpu.graph.delegate_api import Delegate
from executorch_webgpu.runtime.metadata import MethodMeta
from executorch_webgpu.runtime.method import Method

if TYPE_CHECKING:
    from executorch_webgpu.gpu.device import Device

CPU = "cpu"
Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
PathLike = str | os.PathLike[str]


def load(source: Source, *, device: str | int = "auto", data: Sequence[PathLike] | PathLike = ()) -> Program:
    """Load a program.

    Args:
        source: A .pte or .bpte: its path, its bytes, or a file object.
        device: ``auto``, ``gpu``, ``cpu``, an index, or part of a name as ``executorch-webgpu devices`` lists them.
        data: The .ptd files with weights that the program keeps outside.

    Raises:
        NotFound: There is no such file.
        InvalidProgram: The file is damaged or is something else.
        InvalidExternalData: A .ptd file is damaged or lacks a tensor.
    """
    return Program(source, device=device, data=data)


class Program:
    """A program; a context manager. After ``close`` everything raises InvalidState."""

    def __init__(self, source: Source, *, device: str | int = "auto", data: Sequence[PathLike] | PathLike = ()) -> None:
        self._spec = _check_device(device)
        self._file: Any = open_program(_check_source(source), _check_data(data))
        self._methods: dict[str, Method] = {}
        self._shared = SharedMemory(self._file.program)
        # Order: program, then method, then device. Methods that share memory must not run at once: they share a lock.
        self._lock = threading.RLock()
        self._shared_lock = threading.RLock()
        self._device_lock = threading.RLock()
        self._device: Device | str | None = None

    @property
    def method_names(self) -> set[str]:
        """The names of the methods."""
        return {plan.name for plan in self.content.plans}

    @property
    def content(self) -> PlanProgram:
        """The program as it was read: plans, values, instructions, delegates."""
        if self._file is None:
            raise InvalidState("the program is closed")
        program: PlanProgram = self._file.program
        return program

    @property
    def device(self) -> str:
        """The device in words, opened if it is not yet."""
        opened = self._open_device()
        return opened if isinstance(opened, str) else opened.description

    @property
    def gpu_bytes(self) -> int | None:
        """The most GPU memory that buffers have taken so far; None on the CPU and while no device is open."""
        device = self._device
        return None if device is None or isinstance(device, str) else device.peak

    def metadata(self, method_name: str) -> MethodMeta:
        """Return what a method takes and gives, without loading it.

        Raises:
            NotFound: There is no such method.
        """
        return MethodMeta(self._plan(method_name))

    def load_method(self, name: str) -> Method:
        """Return a method; the same name gives the same method with the same state.

        Raises:
            NotFound: There is no such method, or it needs another backend.
            OperatorMissing: Operators are missing; the message lists them all.
        """
        with self._lock:
            plan = self._plan(name)
            method = self._methods.get(name)
            if method is None:
                from executorch_webgpu.format import read_vulkan_graph

                machine = Machine(self.content, plan, read_vulkan_graph, self._check_graph, self._shared)
                lock = self._shared_lock if machine.shares_memory else threading.RLock()
                method = self._methods[name] = Method(self, plan, machine, lock)
            return method

    def write_etdump_result_to_file(self, etdump_path: PathLike, debug_buffer_path: PathLike) -> None:
        """Refuse: no events are recorded.

        Raises:
            NotSupported: Always.
        """
        raise NotSupported(f"{etdump_path}: ETDump files are not written by this version")

    def reload(self) -> None:
        """Make the device anew after it was lost. Methods stay valid; their state starts again."""
        with self._lock:
            self.content  # noqa: B018 - raises when closed
            for method in self._methods.values():
                method._reload()
            self._device = None

    def close(self) -> None:
        """Release memory, GPU buffers and the file. Closing twice does no harm."""
        with self._lock:
            for method in self._methods.values():
                method._close()
            self._methods.clear()
            self._shared.close()
            self._device = None
            file, self._file = self._file, None
        if file is not None:
            file.close()

    def __enter__(self) -> Self:
        self.content  # noqa: B018 - raises when closed
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "Program(closed)" if self._file is None else f"Program({self.content.source!r})"

    def _plan(self, name: str) -> ExecutionPlan:
        if not isinstance(name, str):
            raise InvalidType(f"a method name must be a string; given {type(name).__name__}")
        for plan in self.content.plans:
            if plan.name == name:
                return plan
        names = ", ".join(sorted(self.method_names)) or "none"
        raise NotFound(f"{self.content.source} has no method {name!r}; its methods are: {names}")

    def _check_graph(self, graph: VulkanGraph, where: str) -> None:
        """Raise OperatorMissing if the chosen device cannot run ``graph``. Opens no device unless it must."""
        from executorch_webgpu.graph.interpreter import missing_references

        if self._spec != CPU:
            from executorch_webgpu.graph.nodes import build_nodes

            try:
                build_nodes(graph, where)
                return
            except OperatorMissing:
                # A machine without any adapter runs the references.
                if self._spec != "auto" or self._open_device() != CPU:
                    raise
        missing = missing_references(graph)
        if missing:
            raise OperatorMissing(f"{where}: not supported on the CPU: {'; '.join(missing)}")

    def _make_delegate(self, graph: VulkanGraph, where: str) -> Delegate:
        device = self._open_device()
        if isinstance(device, str):
            from executorch_webgpu.graph.interpreter import CpuDelegate

            return CpuDelegate(graph, where)
        from executorch_webgpu.graph.delegate import GpuDelegate

        return GpuDelegate(graph, device, where)

    def _open_device(self) -> Device | str:
        with self._device_lock:
            self.content  # noqa: B018 - raises when closed
            if self._device is None:
                if self._spec == CPU:
                    self._device = CPU
                else:
                    from executorch_webgpu.gpu.device import select_device

                    self._device = select_device(self._spec) or CPU
            return self._device


def _check_device(device: str | int) -> str:
    if isinstance(device, bool) or not isinstance(device, str | int):
        raise InvalidType(f"device must be a string or an index; given {type(device).__name__}")
    spec = str(device).strip()
    if not spec or (isinstance(device, int) and device < 0):
        raise InvalidArgument(f"device {device!r} must be auto, gpu, cpu, an index or part of a name")
    return spec.lower() if spec.lower() in ("auto", "gpu", "cpu") else spec


def _check_source(source: Source) -> Any:
    if isinstance(source, str | os.PathLike | bytes | bytearray | memoryview):
        return source
    if hasattr(source, "read"):
        content = source.read()
        if isinstance(content, bytes | bytearray):
            return content
    raise InvalidType(f"a program must be a path, bytes, or a binary file object; given {type(source).__name__}")


def _check_data(data: Any) -> tuple[Any, ...]:
    if isinstance(data, str | os.PathLike | bytes):
        return (data,)
    try:
        return tuple(data)
    except TypeError:
        raise InvalidType(f"data must be a list of .ptd files; given {type(data).__name__}") from None
