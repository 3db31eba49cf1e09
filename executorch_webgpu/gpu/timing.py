"""GPU time of passes by timestamp queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import wgpu
from wgpu.backends.wgpu_native import lib

from executorch_webgpu.errors import NotSupported
from executorch_webgpu.gpu.device import Device
from executorch_webgpu.gpu.readback import Readback


class PassTimer:
    """Times up to ``passes`` passes; give ``writes(i)`` to ``record`` as the timestamps of pass i."""

    def __init__(self, device: Device, passes: int = 1) -> None:
        if "timestamp-query" not in device.features:
            raise NotSupported(f"the device {device.name} has no timestamp queries")
        self.device = device
        self.passes = passes
        count = 2 * passes
        self._queries: Any = device.handle.create_query_set(type="timestamp", count=count)
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        self._resolved: Any = device.handle.create_buffer(size=8 * count, usage=usage)
        self._readback = Readback(device, 8 * count)
        self._period = float(lib.wgpuQueueGetTimestampPeriod(device.queue._internal))

    def writes(self, index: int) -> dict[str, Any]:
        """Return the timestamp writes of pass ``index``."""
        return {
            "query_set": self._queries,
            "beginning_of_pass_write_index": 2 * index,
            "end_of_pass_write_index": 2 * index + 1,
        }

    def seconds(self) -> list[float]:
        """Return the GPU time of each pass, all of which must have been submitted."""
        count = 2 * self.passes
        encoder = self.device.handle.create_command_encoder()
        encoder.resolve_query_set(self._queries, 0, count, self._resolved, 0)
        encoder.copy_buffer_to_buffer(self._resolved, 0, self._readback.buffer.handle, 0, 8 * count)
        submission = self.device.submit(encoder.finish())
        self._readback.request(8 * count)
        ticks = np.frombuffer(self._readback.take(submission), np.uint64).reshape(-1, 2).astype(np.float64)
        return [float(t) for t in (ticks[:, 1] - ticks[:, 0]) * self._period * 1e-9]
