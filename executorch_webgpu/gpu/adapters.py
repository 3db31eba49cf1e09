"""Adapters: listing them, and choosing one by the rules of the ``device`` argument.

``auto`` takes a discrete GPU, then an integrated one, then a software adapter; ``gpu`` the same but fails where there
is none; else an index or part of a name. A card seen through several backends counts once. OpenGL is listed last and
never chosen unless named.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import tempfile
from dataclasses import dataclass
from typing import Any

from executorch_webgpu.errors import DeviceNotFound
from executorch_webgpu.gpu.ffi_types import prepare_types

KINDS = {"DiscreteGPU": "discrete", "IntegratedGPU": "integrated", "CPU": "software"}
_PREFERENCE = {"discrete": 0, "integrated": 1, "unknown": 2, "software": 3}
_BACKENDS = {"Vulkan": 0, "Metal": 0, "D3D12": 1}
FEATURES = ("shader-f16", "subgroup", "timestamp-query", "timestamp-query-inside-passes", "immediates")
LIMITS = (
    "max-buffer-size",
    "max-storage-buffer-binding-size",
    "max-storage-buffers-per-shader-stage",
    "max-compute-invocations-per-workgroup",
    "max-compute-workgroup-size-x",
    "max-compute-workgroup-size-y",
    "max-compute-workgroup-storage-size",
    "max-compute-workgroups-per-dimension",
)


@dataclass(frozen=True)
class DeviceInfo:
    """An adapter. ``kind`` is discrete, integrated, software or unknown; limits are in bytes or counts."""

    index: int
    name: str
    kind: str
    backend: str
    driver: str
    limits: dict[str, int]
    features: tuple[str, ...]
    listed: bool  # False for a second backend's view of a card; still found by name


@functools.cache
def _quieten() -> None:
    """Keep drivers from chattering on stderr."""
    if not os.environ.get("XDG_RUNTIME_DIR"):
        folder = tempfile.TemporaryDirectory(prefix="executorch_webgpu-", ignore_cleanup_errors=True)
        os.environ["XDG_RUNTIME_DIR"] = folder.name
        atexit.register(folder.cleanup)


@functools.cache
def _adapters() -> tuple[tuple[DeviceInfo, Any], ...]:
    _quieten()
    import wgpu

    # Not before the import: wgpu insists on making its logger itself.
    logging.getLogger("wgpu").setLevel(logging.CRITICAL)
    prepare_types()
    try:
        found = wgpu.gpu.enumerate_adapters_sync()
    except Exception:  # no library or no loader: the same as no adapter
        return ()
    ranked = sorted(
        found, key=lambda a: (_is_opengl(a.info), _PREFERENCE[_kind(a.info)], _BACKENDS.get(_backend(a), 5))
    )
    # Two equal cards stay two: only another backend's view of a card is a duplicate.
    seen: dict[str, str] = {}
    kept: list[tuple[bool, Any]] = []
    for adapter in ranked:
        card = str(adapter.info["device"]).split("/")[0]
        kept.append((seen.setdefault(card, _backend(adapter)) == _backend(adapter), adapter))
    unique = [adapter for first, adapter in kept if first]
    others = [adapter for first, adapter in kept if not first]
    return tuple(
        (_describe(index, adapter, index < len(unique)), adapter) for index, adapter in enumerate(unique + others)
    )


def _backend(adapter: Any) -> str:
    return str(adapter.info["backend_type"])


def _is_opengl(info: Any) -> bool:
    return str(info["backend_type"]).startswith("OpenGL")


def _kind(info: Any) -> str:
    return KINDS.get(info["adapter_type"], "unknown")


def _describe(index: int, adapter: Any, listed: bool) -> DeviceInfo:
    info = adapter.info
    return DeviceInfo(
        index=index,
        name=str(info["device"]) or "unnamed",
        kind=_kind(info),
        backend=str(info["backend_type"]),
        driver=str(info["description"]),
        limits={name: int(adapter.limits.get(name, 0)) for name in LIMITS},
        features=tuple(name for name in FEATURES if name in adapter.features),
        listed=listed,
    )


def list_devices() -> list[DeviceInfo]:
    """Return the adapters of this machine, best first."""
    return [info for info, _ in _adapters() if info.listed]


def find_adapter(spec: str) -> tuple[DeviceInfo, Any] | None:
    """Return the adapter that ``spec`` names; None for ``auto`` where there is none.

    Raises:
        DeviceNotFound: Nothing answers to ``spec``.
    """
    adapters = _adapters()
    listed = [pair for pair in adapters if pair[0].listed]
    chosen = [pair for pair in adapters if not pair[0].backend.startswith("OpenGL")]
    if spec in ("auto", "gpu"):
        if chosen:
            return chosen[0]
        if spec == "auto":
            return None
        raise DeviceNotFound(
            "device 'gpu': no WebGPU adapter was found; install a Vulkan driver (on Debian or Ubuntu: apt-get install "
            "mesa-vulkan-drivers) or use device 'cpu'"
        )
    if spec.isdecimal():
        if int(spec) < len(listed):
            return listed[int(spec)]
        raise DeviceNotFound(f"device {spec}: there are {len(listed)} devices, counted from 0; see 'devices'")
    words = spec.lower()
    for pair in (*chosen, *adapters):
        if words in f"{pair[0].name} {pair[0].backend}".lower():
            return pair
    names = ", ".join(repr(info.name) for info, _ in listed) or "none"
    raise DeviceNotFound(f"device {spec!r}: no adapter has this in its name; there are: auto, gpu, cpu, {names}")
