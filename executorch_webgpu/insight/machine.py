"""What this machine has and lacks: interpreter, packages, drivers, adapters, features, and what to install."""

from __future__ import annotations

import ctypes.util
import importlib.metadata
import importlib.util
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

from executorch_webgpu.gpu.adapters import DeviceInfo, find_adapter, list_devices
from executorch_webgpu.version import __version__

__all__ = ["DeviceInfo", "Fact", "advice", "facts", "list_devices"]

REQUIRED = ("wgpu", "numpy", "flatbuffers", "click")
EXTRAS = {"llm": ("tokenizers", "tiktoken", "sentencepiece", "jinja2"), "image": ("PIL",)}
# feature -> what serves in its place
FALLBACKS = {
    "shader-f16": "float16 tensors are unpacked to float32 in the shaders",
    "subgroup": "reductions go through workgroup memory",
    "timestamp-query": "GPU times are measured from the host",
}
SWITCHES = {
    "EXECUTORCH_WEBGPU_CHECKED": "shader modules with bounds checks (slow)",
    "EXECUTORCH_WEBGPU_FEATURES": "'none' leaves optional features and raised limits unused",
    "EXECUTORCH_WEBGPU_SHADERS": "shaders are read from this folder",
    "WGPU_BACKEND": "wgpu looks at this backend only",
    "VK_ICD_FILENAMES": "the Vulkan loader reads these drivers only",
    "VK_DRIVER_FILES": "the Vulkan loader reads these drivers only",
}
_ICD_FOLDERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d")


@dataclass(frozen=True)
class Fact:
    """One line of the report. ``state`` is ok, missing (something serves in its place) or bad (to be acted on)."""

    topic: str
    name: str
    value: str
    state: str = "ok"


def facts() -> list[Fact]:
    """Return all that is worth knowing about this machine."""
    found = [*_software(), *_driver_facts()]
    devices = list_devices()
    if not devices:
        found.append(Fact("device", "adapters", "none: programs run on the CPU, in numpy", "bad"))
        return [*found, *_switches()]
    found += [Fact("device", f"adapter {d.index}", f"{d.name} ({d.kind}, {d.backend})") for d in devices]
    chosen = find_adapter("auto")
    if chosen is None:
        found.append(Fact("device", "auto", "cpu: only OpenGL adapters are here, used when named", "bad"))
    else:
        found += _adapter_facts(chosen[0])
    return [*found, *_switches()]


def _software() -> list[Fact]:
    found = [
        Fact("software", "executorch_webgpu", __version__),
        Fact("software", "Python", f"{platform.python_version()} at {sys.executable}"),
        Fact("software", "system", f"{platform.system()} {platform.release()} {platform.machine()}"),
    ]
    found += [Fact("software", name, importlib.metadata.version(name)) for name in REQUIRED]
    for extra, modules in EXTRAS.items():
        absent = [module for module in modules if importlib.util.find_spec(module) is None]
        if absent:
            text = f"lacks {', '.join(absent)}: pip install 'executorch-webgpu[{extra}]'"
            found.append(Fact("software", f"extra {extra}", text, "missing"))
        else:
            found.append(Fact("software", f"extra {extra}", "installed"))
    return found


def _driver_facts() -> list[Fact]:
    if sys.platform != "linux":
        return []
    loader = ctypes.util.find_library("vulkan")
    found = [
        Fact("driver", "Vulkan loader", loader)
        if loader
        else Fact("driver", "Vulkan loader", "libvulkan.so.1 was not found", "bad")
    ]
    manifests = sorted(path.name for folder in _ICD_FOLDERS for path in Path(folder).glob("*.json"))
    if manifests:
        found.append(Fact("driver", "Vulkan drivers", ", ".join(manifests)))
    else:
        found.append(Fact("driver", "Vulkan drivers", f"no manifest in {', '.join(_ICD_FOLDERS)}", "bad"))
    nodes = sorted(Path("/dev/dri").glob("renderD*"))
    closed = [str(node) for node in nodes if not os.access(node, os.R_OK | os.W_OK)]
    if closed:
        text = f"no access to {', '.join(closed)}: add the user to the group 'render' and log in again"
        found.append(Fact("driver", "render nodes", text, "bad"))
    elif nodes:
        found.append(Fact("driver", "render nodes", ", ".join(map(str, nodes))))
    elif not list(Path("/dev").glob("nvidia[0-9]*")):
        found.append(Fact("driver", "render nodes", "none: this machine shows no GPU", "missing"))
    return found


def _adapter_facts(device: DeviceInfo) -> list[Fact]:
    state = "missing" if device.kind == "software" else "ok"
    found = [
        Fact("device", "auto", f"{device.name} ({device.kind}, {device.backend})", state),
        Fact("device", "driver", device.driver or "unknown"),
    ]
    found += [Fact("limits", name, str(value)) for name, value in device.limits.items()]
    plain = os.environ.get("EXECUTORCH_WEBGPU_FEATURES") == "none"
    for feature, fallback in FALLBACKS.items():
        if feature not in device.features:
            found.append(Fact("features", feature, f"absent: {fallback}", "missing"))
        elif plain:
            found.append(Fact("features", feature, f"switched off: {fallback}", "missing"))
        else:
            found.append(Fact("features", feature, "present"))
    return found


def _switches() -> list[Fact]:
    return [
        Fact("environment", name, f"{os.environ[name]}: {meaning}", "missing")
        for name, meaning in SWITCHES.items()
        if os.environ.get(name)
    ]


def advice(found: list[Fact], system: str) -> list[str]:
    """Return what to do about the facts on ``system`` (Linux, Windows or Darwin); empty where a GPU serves."""
    device = next((fact for fact in found if fact.name == "auto"), None)
    lines = [fact.value for fact in found if fact.name == "render nodes" and fact.state == "bad"]
    if device is not None and device.state == "ok":
        return lines
    if device is not None and device.state == "missing":
        lines.append("Only a software adapter was found: programs run right but slowly.")
    if system == "Linux":
        lines += [
            "AMD and Intel GPUs: apt-get install mesa-vulkan-drivers libvulkan1 (Fedora: dnf install "
            "mesa-vulkan-drivers; Arch: pacman -S vulkan-radeon or vulkan-intel).",
            "NVIDIA GPUs: the vendor's driver with its Vulkan part (Debian: nvidia-vulkan-icd; Ubuntu: "
            "libnvidia-gl-VERSION; in a container: NVIDIA_DRIVER_CAPABILITIES=all).",
            "Without a GPU: the same mesa-vulkan-drivers bring a software adapter, llvmpipe.",
        ]
    elif system == "Windows":
        lines += [
            "Install the current driver of the GPU's maker (AMD, Intel or NVIDIA): it brings Vulkan and DirectX 12.",
            "Without a GPU, DirectX 12's software adapter (Microsoft Basic Render Driver) is part of Windows.",
        ]
    elif system == "Darwin":
        lines.append(
            "Metal is part of macOS 11 and later on every Mac with Apple silicon; in a virtual machine it may be "
            "missing: use --device cpu there."
        )
    else:
        lines.append("Install a Vulkan driver for the GPU, or use --device cpu.")
    return lines
