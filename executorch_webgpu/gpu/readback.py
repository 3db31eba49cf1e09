"""Reading back: a ring of mappable buffers that are made once and waited for by submission index."""

from __future__ import annotations

import time
from typing import Any

from wgpu.backends.wgpu_native import ffi, lib

from executorch_webgpu.errors import DeviceLost
from executorch_webgpu.gpu.device import Device

_MAP_READ = 1
_CALLBACK_SECONDS = 5.0


@ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]
def _mapped(status: int, _message: Any, userdata: Any, _unused: Any) -> None:
    ffi.cast("int *", userdata)[0] = status


class Readback:
    """A staging buffer with its map state."""

    def __init__(self, device: Device, nbytes: int) -> None:
        self.device = device
        self.buffer = device.staging(nbytes)
        self._status = ffi.new("int *", 0)
        self._size = 0

    def request(self, nbytes: int) -> None:
        """Ask for the first ``nbytes`` to be mapped; to be called after the copy into it was submitted."""
        self._size = (nbytes + 3) & ~3
        self._status[0] = 0
        info = ffi.new("WGPUBufferMapCallbackInfo *")
        info.mode = lib.WGPUCallbackMode_AllowProcessEvents
        info.callback = _mapped
        info.userdata1 = self._status
        lib.wgpuBufferMapAsync(self.buffer.handle._internal, _MAP_READ, 0, self._size, info[0])

    def take(self, submission: int) -> bytearray:
        """Wait for ``submission`` and return a copy of what was requested.

        Raises:
            DeviceLost: The device went away before the copy was done.
        """
        self.device.wait(submission)
        # A submission on another thread may have taken the callback on itself: it runs within moments.
        deadline = time.monotonic() + _CALLBACK_SECONDS
        while not self._status[0] and time.monotonic() < deadline:
            time.sleep(0)
        if self._status[0] != lib.WGPUMapAsyncStatus_Success:
            self.device.lost = True
            raise DeviceLost(f"the device {self.device.name} was lost; reload the program")
        handle = self.buffer.handle._internal
        pointer = lib.wgpuBufferGetConstMappedRange(handle, 0, self._size)
        data = bytearray(ffi.buffer(pointer, self._size))
        lib.wgpuBufferUnmap(handle)
        return data


class ReadbackRing:
    """Hands out staging buffers in turn, large enough for the request."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._free: list[Readback] = []

    def get(self, nbytes: int) -> Readback:
        """Return a free staging buffer of at least ``nbytes``."""
        for index, readback in enumerate(self._free):
            if readback.buffer.size >= nbytes:
                return self._free.pop(index)
        return Readback(self.device, max(4096, 1 << (nbytes - 1).bit_length()))

    def put(self, readback: Readback) -> None:
        """Give a staging buffer back after ``take``."""
        self._free.append(readback)
        if len(self._free) > 8:
            smallest = min(self._free, key=lambda item: item.buffer.size)
            self._free.remove(smallest)
            smallest.buffer.handle.destroy()
