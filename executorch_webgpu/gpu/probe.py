"""Asks the device itself what its adapter does not report."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from executorch_webgpu.errors import Internal
from executorch_webgpu.gpu.device import PipelineRequest
from executorch_webgpu.gpu.readback import Readback
from executorch_webgpu.gpu.recording import Copy, Launch, record

if TYPE_CHECKING:
    from executorch_webgpu.gpu.device import Device


def measure_subgroup_size(device: Device) -> int | None:
    """Return the subgroup size, or None where it varies or subgroup operations do not work."""
    source = resources.files("executorch_webgpu.gpu").joinpath("probe.wgsl").read_text(encoding="utf-8")
    buffer = device.buffer(16, "the subgroup probe")
    readback = Readback(device, 16)
    try:
        launches = []
        for size in (64, 256):
            pipeline = device.pipeline(PipelineRequest(source, ((0, "read_write"),), (("SIZE", size),), "probe"))
            launches.append(Launch(pipeline, device.bind_group(pipeline, [(0, buffer, 0, 16)])))
        commands = record(device, launches, [(4, 1, 1)] * 2, [Copy(buffer, readback.buffer, 16)])
        submission = device.submit(commands)
        readback.request(16)
        largest, smallest, *_ = np.frombuffer(readback.take(submission), np.uint32)
    except Internal:
        return None
    finally:
        device.free(buffer)
        readback.buffer.handle.destroy()
    return int(largest) if largest == 1024 - smallest else None
