"""The front door of code written for ``executorch.runtime``."""

from __future__ import annotations

import enum
import functools
import os
from typing import BinaryIO

from executorch_webgpu.executor.delegates import VULKAN
from executorch_webgpu.runtime.program import Program, load


class Verification(enum.Enum):
    """How thoroughly a file is checked. Both levels check everything: a bad file never gets further than loading."""

    Minimal = 0
    InternalConsistency = 1


class BackendRegistry:
    """The backends whose delegates can be run."""

    @property
    def registered_backend_names(self) -> list[str]:
        """The names of all backends."""
        return [VULKAN]

    def is_available(self, backend_name: str) -> bool:
        """Return whether delegates of the backend can be run."""
        return backend_name in self.registered_backend_names


class OperatorRegistry:
    """The kernels for what is not delegated."""

    @property
    def operator_names(self) -> set[str]:
        """The names of all kernels, as ``aten::add.out``."""
        from executorch_webgpu.ops.registry import references

        return {name for name in references() if "::" in name}


class Runtime:
    """The runtime: loads programs, tells what it can run."""

    def __init__(self) -> None:
        self.backend_registry = BackendRegistry()
        self.operator_registry = OperatorRegistry()

    @staticmethod
    @functools.cache
    def get() -> Runtime:
        """Return the runtime, always the same object."""
        return Runtime()

    def load_program(
        self,
        data: bytes | bytearray | BinaryIO | os.PathLike[str] | str,
        *,
        verification: Verification = Verification.InternalConsistency,
        enable_etdump: bool = False,
        debug_buffer_size: int = 0,
        data_path: os.PathLike[str] | str | None = None,
        device: str | int = "auto",
    ) -> Program:
        """Load a program on ``device``; the other parameters are those of ``executorch.runtime``."""
        return load(data, device=device, data=() if data_path is None else (data_path,))
