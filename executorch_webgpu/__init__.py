"""Run ExecuTorch programs made for the Vulkan backend on any GPU through WebGPU, or on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from executorch_webgpu.version import __version__

if TYPE_CHECKING:
    from executorch_webgpu import errors
    from executorch_webgpu.runtime import (
        BackendRegistry,
        Method,
        MethodMeta,
        OperatorRegistry,
        Program,
        Runtime,
        TensorInfo,
        Verification,
        load,
    )

__all__ = [
    "BackendRegistry",
    "Method",
    "MethodMeta",
    "OperatorRegistry",
    "Program",
    "Runtime",
    "TensorInfo",
    "Verification",
    "__version__",
    "errors",
    "load",
]


def __getattr__(name: str) -> Any:
    # The command line must start fast: numpy and the rest are imported when a name is first used.
    if name in __all__:
        import importlib

        if name == "errors":
            return importlib.import_module("executorch_webgpu.errors")
        return getattr(importlib.import_module("executorch_webgpu.runtime"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
