"""Times single lowerings on a device: random operands, several sets of them in turn, GPU timestamps."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from executorch_webgpu.gpu.device import Device
from executorch_webgpu.gpu.recording import record
from executorch_webgpu.gpu.timing import PassTimer
from executorch_webgpu.graph.compiler import Compiled, State
from executorch_webgpu.graph.delegate import device_facts
from executorch_webgpu.graph.executable import Executable
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor


class Bench:
    """Gives lowerings tensors with random contents and times what they record."""

    def __init__(self, device: Device, warm_up: float = 0.3) -> None:
        self.device = device
        self.warm_up = warm_up
        self.facts = device_facts(device)
        self.random = np.random.default_rng(0)
        self._buffers: list[Any] = []
        self._scratch: list[int] = []
        self._scratch_buffers: list[Any] = []
        self._host: dict[int, np.ndarray] = {}

    def tensor(self, array: np.ndarray, constant: bool = True) -> Tensor:
        buffer = self.device.buffer(array.nbytes, "a benchmark operand")
        self.device.write(buffer, np.ascontiguousarray(array))
        self._buffers.append(buffer)
        self._host[len(self._buffers) - 1] = array
        return Tensor(array.shape, array.dtype, len(self._buffers) - 1, constant)

    def floats(self, *shape: int, scale: float = 1.0) -> Tensor:
        return self.tensor((self.random.standard_normal(shape) * scale).astype(np.float32))

    def nibbles(self, rows: int, columns: int) -> Tensor:
        return self.tensor(self.random.integers(0, 256, (rows, columns // 2), dtype=np.uint8))

    def empty(self, *shape: int) -> Tensor:
        return self.tensor(np.zeros(shape, np.float32), constant=False)

    def host(self, tensor: Tensor) -> np.ndarray:
        return self._host[tensor.storage]

    def time(self, build: Callable[[Lowering, int], Any], sets: int, outs: list[Tensor], repeats: int = 7) -> float:
        """Return the median GPU seconds of one launch of ``build(ctx, set)`` over all sets in turn."""
        dispatches = []
        for index in range(sets):
            ctx = Lowering("bench", (), range(len(outs)), self.facts, self._memory(outs))
            build(ctx, index)
            dispatches += ctx.dispatches
        compiled = Compiled(tuple(dispatches), tuple(self._scratch), (), (), State(), tuple(range(len(dispatches))))
        resources = SimpleNamespace(buffer=self._buffers.__getitem__, scratch=self._scratch_buffer, where="bench")
        executable = Executable(compiled, resources, self.device)
        executable.write_live({})
        # A card that idled runs at low clocks for a while.
        begin = time.perf_counter()
        while time.perf_counter() - begin < self.warm_up:
            self.device.wait(self.device.submit(record(self.device, executable.launches, executable.grids({}))))
        timer = PassTimer(self.device, repeats)
        for index in range(repeats):
            commands = record(self.device, executable.launches, executable.grids({}), timestamps=timer.writes(index))
            self.device.wait(self.device.submit(commands))
        executable.close()
        return statistics.median(timer.seconds()) / sets

    def read(self, tensor: Tensor) -> np.ndarray:
        data = self.device.queue.read_buffer(self._buffers[tensor.storage].handle, 0, (tensor.nbytes + 3) & ~3)
        return np.frombuffer(data, tensor.dtype, tensor.numel).reshape(tensor.shape)

    def clear(self) -> None:
        for buffer in self._buffers:
            self.device.free(buffer)
        self._buffers.clear()
        self._host.clear()
        for buffer in self._scratch_buffers:
            self.device.free(buffer)
        self._scratch_buffers.clear()
        self._scratch.clear()

    def _scratch_buffer(self, _index: int, nbytes: int) -> Any:
        buffer = self.device.buffer(nbytes, "scratch")
        self._scratch_buffers.append(buffer)
        return buffer

    def _memory(self, outs: list[Tensor]) -> Any:
        used = [0]

        def place_scratch(nbytes: int) -> int:
            index = used[0]
            used[0] += 1
            if index == len(self._scratch):
                self._scratch.append(0)
            self._scratch[index] = max(self._scratch[index], nbytes)
            return -1 - index

        return SimpleNamespace(
            place_output=lambda value, shape: Tensor(shape, outs[value].dtype, outs[value].storage),
            place_scratch=place_scratch,
            constant_data=lambda tensor: self._host[tensor.storage],
            repack=lambda tensors, key, build: self.tensor(build(*[self._host[t.storage] for t in tensors])),
            pin=int,
            guard=lambda *_: None,
        )
