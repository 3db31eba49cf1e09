"""The devices that the operator tests run on."""

from __future__ import annotations

import functools

import pytest

# name of the mode -> (device, environment): as shipped, with checked shader modules, with base features only
MODES: dict[str, tuple[str, dict[str, str]]] = {
    "cpu": ("cpu", {}),
    "gpu": ("gpu", {}),
    "gpu-checked": ("gpu", {"EXECUTORCH_WEBGPU_CHECKED": "1", "EXECUTORCH_WEBGPU_FEATURES": "none"}),
}


@functools.cache
def has_adapter() -> bool:
    """Whether wgpu finds any adapter, a software one included."""
    import wgpu

    return bool(wgpu.gpu.enumerate_adapters_sync())


@pytest.fixture(params=list(MODES))
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A device to load on, with the environment that its mode asks for."""
    name, environment = MODES[request.param]
    if name == "gpu" and not has_adapter():
        pytest.skip("no GPU adapter and no software adapter")
    for key in ("EXECUTORCH_WEBGPU_CHECKED", "EXECUTORCH_WEBGPU_FEATURES"):
        monkeypatch.delenv(key, raising=False)
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    return name
