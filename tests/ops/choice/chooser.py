"""Runs a token choice on a device: compiled once for a shape and settings, then called with logits and positions."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import numpy as np

from executorch_webgpu.gpu.device import Buffer, Device
from executorch_webgpu.gpu.recording import record
from executorch_webgpu.graph.compiler import Compiled, State
from executorch_webgpu.graph.delegate import device_facts
from executorch_webgpu.graph.executable import Executable
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import lowerings
from executorch_webgpu.ops.symbols import live

POSITION = -1


class Chooser:
    """``choice.greedy`` without settings, ``choice.sample`` with (temperature, top_k, top_p, min_p, seed)."""

    def __init__(self, device: Device, shape: tuple[int, ...], dtype: str = "float32", settings: Any = ()) -> None:
        self.device = device
        kind = np.dtype(dtype)
        logits = Tensor(shape, kind, 0)
        self.buffers = [device.buffer(nbytes, "choice") for nbytes in (logits.nbytes, 4, 16)]
        scratch: list[int] = []

        def place_scratch(nbytes: int) -> int:
            scratch.append(nbytes)
            return -len(scratch)

        memory: Any = SimpleNamespace(place_scratch=place_scratch)
        self.name = "choice.sample" if settings else "choice.greedy"
        context = Lowering(self.name, (), (), device_facts(device), memory)
        arguments = (live(POSITION), *settings) if settings else ()
        token, result = Tensor((1,), np.dtype(np.int32), 1), Tensor((4,), np.dtype(np.uint32), 2)
        lowerings()[self.name].function(context, logits, token, result, *arguments)
        self.dispatches = context.dispatches
        compiled = Compiled(tuple(context.dispatches), tuple(scratch), (), (), State(), (0,) * len(self.dispatches))
        resources: Any = SimpleNamespace(buffer=self.buffers.__getitem__, scratch=self._scratch, where="choice")
        self.executable = Executable(compiled, resources, device)

    def _scratch(self, _index: int, nbytes: int) -> Buffer:
        # Not zeroed between calls, as in a program; whatever is in it must not matter.
        buffer = self.device.buffer(nbytes, "scratch")
        self.device.write(buffer, np.full(nbytes // 4, 0xA5A5A5A5, np.uint32))
        return buffer

    def choose(self, logits: np.ndarray[Any, Any], position: int = 0) -> tuple[int, float, bool]:
        """Return token, log-probability and whether a logit was NaN."""
        self.device.write(self.buffers[0], np.ascontiguousarray(logits))
        return self.again(position)

    def again(self, position: int) -> tuple[int, float, bool]:
        """Choose from the same logits at another position."""
        environment = {POSITION: position}
        self.executable.write_live(environment)
        grids = self.executable.grids(environment)
        self.device.wait(self.device.submit(record(self.device, self.executable.launches, grids)))
        (fed,) = struct.unpack("<i", self._read(1, 4))
        token, logprob, nan, _ = struct.unpack("<IfII", self._read(2, 16))
        assert fed == token
        return token, logprob, bool(nan)

    def close(self) -> None:
        self.executable.close()
        for buffer in self.buffers:
            self.device.free(buffer)

    def _read(self, index: int, nbytes: int) -> bytes:
        return bytes(self.device.queue.read_buffer(self.buffers[index].handle, 0, nbytes))
