"""Recording a list of dispatches into one compute pass with wgpu-native's raw functions (2 to 4 us a dispatch)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wgpu.backends.wgpu_native import ffi, lib

from executorch_webgpu.gpu.device import Buffer, Device, Pipeline


@dataclass(frozen=True, eq=False)
class Launch:
    """One dispatch ready to record: everything but the grid."""

    pipeline: Pipeline
    bind_group: Any


@dataclass(frozen=True, eq=False)
class Copy:
    """A copy between buffers, recorded after the pass. Offsets and sizes are multiples of 4 bytes."""

    source: Buffer
    target: Buffer
    size: int
    source_offset: int = 0
    target_offset: int = 0


def record(
    device: Device,
    launches: Sequence[Launch],
    grids: Sequence[tuple[int, int, int]],
    copies: Sequence[Copy] = (),
    timestamps: dict[str, Any] | None = None,
) -> Any:
    """Return a finished command buffer: all launches in one pass, in order, then the copies."""
    set_pipeline = lib.wgpuComputePassEncoderSetPipeline
    set_bind_group = lib.wgpuComputePassEncoderSetBindGroup
    dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
    null = ffi.NULL
    with device.errors("recording a pass"):
        encoder = device.handle.create_command_encoder()
        if launches:
            compute_pass = (
                encoder.begin_compute_pass(timestamp_writes=timestamps) if timestamps else encoder.begin_compute_pass()
            )
            raw = compute_pass._internal
            last = None
            for launch, (x, y, z) in zip(launches, grids, strict=True):
                if not x:
                    continue  # a kernel that this call has no use for
                if launch.pipeline is not last:
                    last = launch.pipeline
                    set_pipeline(raw, last.handle._internal)
                set_bind_group(raw, 0, launch.bind_group._internal, 0, null)
                dispatch(raw, x, y, z)
            compute_pass.end()
        for copy in copies:
            encoder.copy_buffer_to_buffer(
                copy.source.handle, copy.source_offset, copy.target.handle, copy.target_offset, copy.size
            )
        return encoder.finish()
