"""Measures what a card can do: its copy rate (bytes read and written) and its rate of f32 fused multiply-adds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from executorch_webgpu.gpu.device import Device, PipelineRequest
from executorch_webgpu.gpu.recording import Launch, record
from executorch_webgpu.gpu.timing import PassTimer

SHADERS = Path(__file__).resolve().parent / "shaders"


def gpu_seconds(device: Device, make: Callable[..., object], repeats: int = 7, warm_up: float = 0.6) -> float:
    """Return the median GPU time of a pass; ``make(timestamps)`` returns its command buffer."""
    begin = time.perf_counter()
    while time.perf_counter() - begin < warm_up:
        device.wait(device.submit(make(None)))
    timer = PassTimer(device, repeats)
    for index in range(repeats):
        device.wait(device.submit(make(timer.writes(index))))
    return statistics.median(timer.seconds())


def written_step(delegate: Any, inputs: Sequence[Any]) -> Any:
    """Return a delegate's call with these inputs, compiled and with everything written that it reads."""
    state, environment, arrays = delegate.stage(inputs)
    step = delegate.ready(state, environment)
    step.executable.write_live(environment)
    for value, array in arrays.items():
        delegate.device.write(delegate.resources.buffer(delegate.plan.of(value)), array)
    return step


def copy_rate(device: Device) -> float:
    """Return bytes read and written a second, on buffers far larger than the caches."""
    software = device.info.kind == "software"
    rows = 16
    width = 256 * (64 if software else 8192)
    nbytes = 16 * rows * width
    return 2 * nbytes / _time(device, "copy.wgsl", nbytes, {"rows": rows}, width // 256)


def fma_rate(device: Device) -> float:
    """Return floating-point operations a second, two for each multiply-add."""
    software = device.info.kind == "software"
    groups, rounds = (16, 64) if software else (4096, 2048)
    seconds = _time(device, "fma.wgsl", 16 * 256 * groups, {"rounds": rounds}, groups)
    return 64.0 * rounds * 256 * groups / seconds


def _time(device: Device, name: str, nbytes: int, constants: dict[str, float], groups: int) -> float:
    random = np.random.default_rng(0)
    source, target = (device.buffer(nbytes, "a benchmark operand") for _ in range(2))
    block = random.uniform(0.1, 0.9, 1 << 20).astype(np.float32)
    for start in range(0, nbytes, block.nbytes):
        device.write(source, block[: (nbytes - start) // 4], start)
    kinds = ((0, "read"), (1, "read_write"))
    source_text = (SHADERS / name).read_text()
    pipeline = device.pipeline(PipelineRequest(source_text, kinds, tuple(constants.items()), name))
    bind_group = device.bind_group(pipeline, [(0, source, 0, source.size), (1, target, 0, target.size)])
    launch = Launch(pipeline, bind_group)
    try:
        return gpu_seconds(device, lambda t: record(device, [launch], [(groups, 1, 1)], timestamps=t))
    finally:
        device.free(source)
        device.free(target)
