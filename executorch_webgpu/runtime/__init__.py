"""Programs and methods under the names and signatures of ``executorch.runtime``."""

from executorch_webgpu.runtime.metadata import MethodMeta, TensorInfo
from executorch_webgpu.runtime.method import Method
from executorch_webgpu.runtime.program import Program, load
from executorch_webgpu.runtime.runtime import BackendRegistry, OperatorRegistry, Runtime, Verification

__all__ = [
    "BackendRegistry",
    "Method",
    "MethodMeta",
    "OperatorRegistry",
    "Program",
    "Runtime",
    "TensorInfo",
    "Verification",
    "load",
]
