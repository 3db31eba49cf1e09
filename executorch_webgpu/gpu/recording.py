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


@dataclass(frozen=True, eq=False)
class Recording:
    """A pass whose dispatches are recorded; ``finish`` makes a command buffer of it."""

    encoder: Any
    compute_pass: Any


def begin(
    device: Device,
    launches: Sequence[Launch],
    grids: Sequence[tuple[int, int, int]],
    timestamps: dict[str, Any] | None = None,
) -> Recording:
    """Record all launches into one pass, in order. Those whose grid is empty are left out: nothing needs them."""
    set_pipeline = lib.wgpuComputePassEncoderSetPipeline
    set_bind_group = lib.wgpuComputePassEncoderSetBindGroup
    dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
    null = ffi.NULL
    with device.errors("recording a pass"):
        encoder = device.handle.create_command_encoder()
        if not launches:
            return Recording(encoder, None)
        compute_pass = (
            encoder.begin_compute_pass(timestamp_writes=timestamps) if timestamps else encoder.begin_compute_pass()
        )
        raw = compute_pass._internal
        last = None
        for launch, (x, y, z) in zip(launches, grids, strict=True):
            if not x:
                continue
            if launch.pipeline is not last:
                last = launch.pipeline
                set_pipeline(raw, last.handle._internal)
            set_bind_group(raw, 0, launch.bind_group._internal, 0, null)
            dispatch(raw, x, y, z)
    return Recording(encoder, compute_pass)


def finish(device: Device, recording: Recording, copies: Sequence[Copy] = ()) -> Any:
    """Return the finished command buffer of a recording, with copies after the pass.

    About half of the time of a call goes here, most of it outside of Python: it may run on a thread of its own.
    """
    encoder = recording.encoder
    with device.errors("recording a pass"):
        if recording.compute_pass is not None:
            recording.compute_pass.end()
        for copy in copies:
            encoder.copy_buffer_to_buffer(
                copy.source.handle, copy.source_offset, copy.target.handle, copy.target_offset, copy.size
            )
        return encoder.finish()


def record(
    device: Device,
    launches: Sequence[Launch],
    grids: Sequence[tuple[int, int, int]],
    copies: Sequence[Copy] = (),
    timestamps: dict[str, Any] | None = None,
) -> Any:
    """Return a finished command buffer: all launches in one pass, in order, then the copies."""
    return finish(device, begin(device, launches, grids, timestamps), copies)
