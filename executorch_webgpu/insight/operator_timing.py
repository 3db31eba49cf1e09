"""Times one operator on a device and compares it with its reference."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from executorch_webgpu.errors import NotSupported
from executorch_webgpu.graph.interpreter import CpuDelegate
from executorch_webgpu.insight.operator_case import OperatorCase
from executorch_webgpu.insight.recipes import Array

if TYPE_CHECKING:
    from executorch_webgpu.gpu.device import Device

PASS_SECONDS = 2e-3  # a pass repeats a short operator until it takes about this long
MAX_INNER = 256


@dataclass(frozen=True)
class OperatorTiming:
    """``seconds`` per run of the operator, one entry a repetition, by ``clock`` (gpu or host).

    ``error`` is the largest absolute difference from the reference, ``scale`` the reference's largest magnitude.
    """

    device: str
    seconds: list[float]
    clock: str
    kernels: list[str]
    error: float
    scale: float

    @property
    def median(self) -> float:
        """The median of ``seconds``."""
        return float(np.median(self.seconds))


def time_operator(case: OperatorCase, device: str, repeat: int) -> OperatorTiming:
    """Run ``case`` on ``device`` and return its times; the first run and its compiling are left out.

    Raises:
        OperatorMissing: The operator does not run there in this dtype.
        DeviceNotFound: Nothing answers to ``device``.
    """
    if device != "cpu":
        from executorch_webgpu.gpu.device import select_device

        opened = select_device(device)
        if opened is not None:
            return _time_on_gpu(case, opened, repeat)
    delegate = CpuDelegate(case.graph, case.name)
    outputs = delegate.execute(case.inputs)
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        delegate.execute(case.inputs)
        seconds.append(time.perf_counter() - start)
    return _result(case, "cpu (numpy)", seconds, "host", [], [np.asarray(value) for value in outputs])


def _time_on_gpu(case: OperatorCase, device: Device, repeat: int) -> OperatorTiming:
    from executorch_webgpu.graph.compiler import Compilation, State
    from executorch_webgpu.graph.delegate import GpuDelegate, device_facts
    from executorch_webgpu.graph.executable import Executable
    from executorch_webgpu.graph.nodes import build_nodes
    from executorch_webgpu.graph.resources import Resources
    from executorch_webgpu.graph.storage import plan_storage

    delegate = GpuDelegate(case.graph, device, case.name)
    try:
        outputs = [np.asarray(value) for value in delegate.execute(case.inputs)]
    finally:
        delegate.close()
    nodes = build_nodes(case.graph, case.name)
    plan = plan_storage(case.graph, nodes)
    with device.lock:
        resources = Resources(case.graph, plan, device, case.name)
        executable = None
        try:
            state = State(dict(zip(case.graph.input_ids, (array.shape for array in case.inputs), strict=True)))
            compiled = Compilation(case.graph, plan, resources, device_facts(device), state, {}, case.name).run(nodes)
            executable = Executable(compiled, resources, device)
            for value, array in zip(case.graph.input_ids, case.inputs, strict=True):
                device.write(resources.buffer(plan.of(value)), array)
            seconds, clock = _measure(device, executable, repeat)
        finally:
            if executable is not None:
                executable.close()
            resources.close()
    kernels = [dispatch.shader for dispatch in compiled.dispatches]
    return _result(case, device.description, seconds, clock, kernels, outputs)


def _measure(device: Device, executable: object, repeat: int) -> tuple[list[float], str]:
    from executorch_webgpu.gpu.recording import record
    from executorch_webgpu.gpu.timing import PassTimer
    from executorch_webgpu.graph.executable import Executable

    assert isinstance(executable, Executable)
    launches, grids = executable.launches, executable.grids({})
    if not launches:
        raise NotSupported("the operator only renames its input: nothing runs on the device")

    def run(inner: int, timestamps: dict[str, object] | None = None) -> float:
        commands = record(device, launches * inner, grids * inner, timestamps=timestamps)
        start = time.perf_counter()
        device.wait(device.submit(commands))
        return time.perf_counter() - start

    timer = PassTimer(device) if "timestamp-query" in device.features else None

    def clocked(inner: int) -> float:
        if timer is None:
            return run(inner)
        run(inner, timer.writes(0))
        return timer.seconds()[0]

    run(1)
    once = clocked(1)
    inner = max(1, min(MAX_INNER, int(PASS_SECONDS / max(once, 1e-9))))
    clocked(inner)
    return [clocked(inner) / inner for _ in range(repeat)], "host" if timer is None else "gpu"


def _result(
    case: OperatorCase, device: str, seconds: list[float], clock: str, kernels: list[str], outputs: list[Array]
) -> OperatorTiming:
    error = scale = 0.0
    for got, want in zip(outputs, case.expected, strict=True):
        if want.size and got.shape == want.shape:
            wide = want.astype(np.float64)
            finite = np.isfinite(wide)
            scale = max(scale, float(np.abs(wide[finite]).max(initial=0.0)))
            error = max(error, float(np.abs(got.astype(np.float64) - wide)[finite].max(initial=0.0)))
        elif got.shape != want.shape:
            error = float("inf")
    return OperatorTiming(device, seconds, clock, kernels, error, scale)
