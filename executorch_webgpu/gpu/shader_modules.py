"""Shader modules without naga's run-time checks: the package's own shaders guard their accesses themselves."""

from __future__ import annotations

from typing import Any

from wgpu.backends.wgpu_native import GPUShaderModule, ffi, lib


def create_module(device: Any, source: str, name: str, *, checked: bool) -> Any:
    """Return a module of WGSL ``source``; with ``checked`` the usual bounds and loop checks stay in.

    The unchecked call only logs a compile error, so the caller's pipeline creation is what fails then.
    """
    if checked:
        return device.create_shader_module(label=name, code=source)
    text = source.encode()
    label = name.encode()
    text_data, label_data = ffi.new("char[]", text), ffi.new("char[]", label)
    code = ffi.new("WGPUShaderSourceWGSL *")
    code.chain.sType = lib.WGPUSType_ShaderSourceWGSL
    code.code.data, code.code.length = text_data, len(text)
    descriptor = ffi.new("WGPUShaderModuleDescriptor *")
    descriptor.nextInChain = ffi.cast("WGPUChainedStruct *", code)
    descriptor.label.data, descriptor.label.length = label_data, len(label)
    handle = lib.wgpuDeviceCreateShaderModuleTrusted(device._internal, descriptor, 0)
    return GPUShaderModule(name, handle, device)
