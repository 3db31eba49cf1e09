"""Parses the C types that opening a device needs in one go: cffi takes tens of milliseconds for each by itself.

cffi parses a type's name together with all that wgpu's header declares, and remembers the result by the name. Parsing
the names once, as the parameters of one function type, and remembering each saves a second before the first call.
Without cffi's memory, or with other types in it, nothing is lost but the time.
"""

from __future__ import annotations

import functools
import re

# As wgpu 0.32 and this package write them.
NAMES = (
    "WGPUInstanceDescriptor *",
    "WGPUAdapter[]",
    "WGPUAdapterInfo *",
    "WGPUChainedStruct *",
    "WGPUChainedStruct * ",
    "WGPUNativeLimits *",
    "WGPULimits *",
    "char []",
    "char[]",
    "WGPUQueueDescriptor *",
    "WGPUDeviceExtras *",
    "void(WGPUDevice const *, WGPUDeviceLostReason, WGPUStringView, void *, void *)",
    "WGPUDeviceLostCallbackInfo *",
    "void(WGPUDevice const *, WGPUErrorType, WGPUStringView, void *, void *)",
    "WGPUUncapturedErrorCallbackInfo *",
    "WGPUFeatureName[]",
    "WGPUDeviceDescriptor *",
    "void(WGPURequestDeviceStatus, WGPUDevice, WGPUStringView, void *, void *)",
    "WGPURequestDeviceCallbackInfo *",
    "WGPUBufferDescriptor *",
    "int *",
    "WGPUBufferBindingLayout *",
    "WGPUBindGroupLayoutEntry *",
    "WGPUBindGroupLayoutEntry[]",
    "WGPUBindGroupLayoutDescriptor *",
    "WGPUBindGroupLayout[]",
    "WGPUPipelineLayoutDescriptor *",
    "WGPUShaderSourceWGSL *",
    "WGPUShaderModuleDescriptor *",
    "WGPUConstantEntry *",
    "WGPUConstantEntry[]",
    "WGPUComputeState *",
    "WGPUComputePipelineDescriptor *",
    "WGPUBindGroupEntry *",
    "WGPUBindGroupEntry[]",
    "WGPUBindGroupDescriptor *",
    "WGPUCommandEncoderDescriptor *",
    "WGPUComputePassDescriptor *",
    "WGPUCommandBufferDescriptor *",
    "WGPUCommandBuffer[]",
    "WGPUBufferMapCallbackInfo *",
    "WGPUSubmissionIndex *",
    "uint8_t []",
    "uint8_t *",
    "uintptr_t",
)


@functools.cache
def prepare_types() -> None:
    """Have cffi know the types of NAMES."""
    from wgpu.backends.wgpu_native import ffi

    known = {name for names in ffi.list_types() for name in names}
    wanted = [name for name in NAMES if known.issuperset(re.findall(r"WGPU\w+", name))]
    memory = getattr(ffi, "_parsed_types", None)
    if not isinstance(memory, dict):
        return
    parameters = ffi.typeof(f"void (*)({', '.join(map(_parameter, wanted))})").args
    for name, found in zip(wanted, parameters, strict=True):
        memory.setdefault(name, (found.item if name.endswith("[]") else found, name.startswith("void(")))


def _parameter(name: str) -> str:
    """Return a parameter whose type is, or points to, the named one."""
    if name.endswith("[]"):
        return f"{name[:-2]} (*)[]"
    return name.replace("void(", "void (*)(", 1) if name.startswith("void(") else name
