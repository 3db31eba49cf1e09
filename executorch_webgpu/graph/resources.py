"""The GPU memory of one delegate: buffers by storage number, made on first use and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidState, OutOfResources
from executorch_webgpu.format.files import trim_mappings
from executorch_webgpu.format.vulkan_graph import GraphTensor, VulkanGraph
from executorch_webgpu.gpu.device import Buffer, Device
from executorch_webgpu.graph.constants import constant_array, constant_pieces
from executorch_webgpu.graph.storage import StoragePlan, tensor_bytes
from executorch_webgpu.ops.dispatch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

UPLOAD_PIECE = 1 << 22  # elements
TRIM_AFTER = 1 << 24  # bytes of the file that may lie in memory beside their copy on the device


class Resources:
    """Buffers of constants (uploaded once, straight from the file), of state, and of the plan's pool."""

    def __init__(self, graph: VulkanGraph, plan: StoragePlan, device: Device, where: str) -> None:
        self.graph = graph
        self.plan = plan
        self.device = device
        self.where = where
        self._buffers: dict[int, Buffer] = {}
        self._repacked: dict[tuple[Any, ...], Tensor] = {}
        self._extra: dict[int, Buffer] = {}
        self._scratch: dict[int, Buffer] = {}
        self._untrimmed = 0

    def check_limits(self) -> None:
        """Raise OutOfResources if a constant or state is larger than what the device can bind at once."""
        limit = self.device.limits["max-storage-buffer-binding-size"]
        places = [(storage, offset) for storage, filled in self.plan.constants.items() for offset in filled]
        for storage, offset in (*places, *((storage, 0) for storage in self.plan.state)):
            nbytes = tensor_bytes(self._tensor(storage, offset))
            if nbytes > limit:
                raise OutOfResources(
                    f"{self.where}: {self._name(storage, offset)} has {nbytes} bytes; "
                    f"the limit of {self.device.name} is {limit} bytes a binding: use device 'cpu' or another card"
                )

    def constant(self, storage: int, offset: int = 0) -> Array:
        """Return the payload of a constant (or the initial value of a state) as an array over the file."""
        return constant_array(self.graph, self._tensor(storage, offset))

    def buffer(self, storage: int) -> Buffer:
        """Return the buffer of a storage, made and filled on first use.

        Raises:
            OutOfResources: The storage is larger than the device can bind; the message names it.
        """
        found = self._buffers.get(storage) or self._extra.get(storage)
        if found is None:
            nbytes = self.plan.nbytes[storage]
            found = self.device.buffer(nbytes, f"{self.where}: {self._name(storage)}")
            self._buffers[storage] = found
            if storage in self.plan.constants or storage in self.plan.state:
                self._fill(storage)
        return found

    def add(self, nbytes: int, what: str) -> int:
        """Make a buffer beside those of the plan and return its storage number."""
        number = len(self.plan.nbytes) + len(self._extra)
        self._extra[number] = self.device.buffer(nbytes, f"{self.where}: {what}")
        return number

    def scratch(self, index: int, nbytes: int) -> Buffer:
        """Return scratch buffer ``index`` with at least ``nbytes``; it grows by doubling."""
        found = self._scratch.get(index)
        if found is None or found.size < nbytes:
            # Graphs compiled before keep the smaller buffer alive as long as they need it.
            found = self.device.buffer(1 << max(5, (nbytes - 1).bit_length()), f"{self.where}: scratch memory")
            self._scratch[index] = found
        return found

    def repacked(self, tensors: Sequence[Tensor], key: str, build: Callable[[], Array]) -> Tensor:
        """Return constants in another layout; ``build`` gives it on the host, once."""
        name = key, *((tensor.storage, tensor.offset) for tensor in tensors)
        found = self._repacked.get(name)
        if found is None:
            array = np.ascontiguousarray(build())
            number = self.add(array.nbytes, f"{self._name(tensors[0].storage, tensors[0].offset)} as {key}")
            self.device.write(self._extra[number], array)
            self._trim(array.nbytes)
            found = Tensor(array.shape, array.dtype, number, constant=True)
            self._repacked[name] = found
        return found

    def reset(self) -> None:
        """Give every state its initial value again: the payload."""
        for storage in self.plan.state:
            if storage in self._buffers:
                self._fill(storage)

    def close(self) -> None:
        """Destroy all buffers."""
        for buffer in (*self._buffers.values(), *self._extra.values(), *self._scratch.values()):
            self.device.free(buffer)
        self._buffers.clear()
        self._extra.clear()
        self._scratch.clear()
        self._repacked.clear()

    def _fill(self, storage: int) -> None:
        try:
            for offset in self.plan.constants.get(storage, (0,)):
                for piece in constant_pieces(self.graph, self._tensor(storage, offset), UPLOAD_PIECE):
                    self.device.write(self._buffers[storage], piece, offset)
                    offset += piece.nbytes
                    self._trim(piece.nbytes)
        except ValueError as error:  # the file was closed under it
            raise InvalidState(f"{self.where}: the program is closed") from error

    def _trim(self, nbytes: int) -> None:
        """Count bytes that were read from the file, and let its pages go now and then."""
        self._untrimmed += nbytes
        if self._untrimmed >= TRIM_AFTER:
            trim_mappings()
            self._untrimmed = 0

    def _tensor(self, storage: int, offset: int) -> GraphTensor:
        value = self.plan.state[storage] if storage in self.plan.state else self.plan.constants[storage][offset]
        tensor = self.graph.values[value]
        assert isinstance(tensor, GraphTensor)
        return tensor

    def _name(self, storage: int, offset: int = 0) -> str:
        if storage not in self.plan.constants and storage not in self.plan.state:
            return f"memory object {storage}"
        tensor = self._tensor(storage, offset)
        return f"constant {tensor.constant_id} ({tensor.dtype} {list(tensor.sizes)})"
