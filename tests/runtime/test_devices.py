"""Which device runs what, and the exported programs on a GPU where there is one (a software adapter counts)."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu import errors, load
from executorch_webgpu.gpu import device as gpu
from tests.runtime.programs import assert_equal, calls, open_fixture, path
from tests.runtime.test_programs import RUNNING

X = np.ones((2, 3), np.float32)


@pytest.fixture(scope="module")
def adapter():
    found = gpu.select_device("auto")
    if found is None:
        pytest.skip("no WebGPU adapter")
    return found


@pytest.mark.parametrize("name", [*RUNNING, "half"])
def test_programs_on_the_gpu(adapter, name):
    with open_fixture(name, "gpu") as program:
        for _ in range(2):
            for method, inputs, expected in calls(name):
                got = program.load_method(method).execute(inputs)
                assert_equal(got, expected, tolerance=2e-3 if name == "half" else 1e-5)
            for method, _, _ in calls(name):
                program.load_method(method).reset()


def test_the_device_is_named(adapter):
    for spec in ("auto", "gpu", "GPU", 0, "0", adapter.name):
        with open_fixture("add", spec) as program:
            program.load_method("forward").execute([X, X])
            assert adapter.name in program.device
    with open_fixture("add", "CPU") as program:
        assert program.device == "cpu"


def test_reload_on_the_gpu(adapter):
    one = np.ones(3, np.float32)
    with open_fixture("cache", "gpu") as program:
        method = program.load_method("forward")
        first = method.execute([one])[0]
        program.reload()
        assert np.array_equal(method.execute([one])[0], first)


def test_closing_frees_gpu_memory(adapter):
    before = adapter.allocated
    with open_fixture("weights", "gpu") as program:
        program.load_method("forward").execute([X])
        assert adapter.allocated > before
    assert adapter.allocated == before


def test_a_lost_device_is_replaced_by_reload(adapter, monkeypatch):
    with open_fixture("add", "gpu") as program:
        method = program.load_method("forward")
        method.execute([X, X])
        delegate, _, _ = method._single_delegate()

        def lose(inputs):
            adapter.lost = True
            raise errors.DeviceLost("gone")

        monkeypatch.setattr(delegate, "execute", lose)
        with pytest.raises(errors.DeviceLost):
            method.execute([X, X])
        program.reload()
        assert np.array_equal(method.execute([X, X])[0], X + X)


def test_auto_falls_back_to_the_cpu(monkeypatch):
    monkeypatch.setattr(gpu, "select_device", lambda spec: None)
    with open_fixture("add", "auto") as program:
        assert np.array_equal(program.load_method("forward").execute([X, X])[0], X + X)
        assert program.device == "cpu"


def test_operators_without_a_shader_fail_at_load_on_a_gpu_only(monkeypatch):
    from executorch_webgpu.ops import registry

    kept = {name: found for name, found in registry.lowerings().items() if name != "aten.add.Tensor"}
    monkeypatch.setattr("executorch_webgpu.graph.nodes.lowerings", lambda: kept)
    with open_fixture("add", "gpu") as program, pytest.raises(errors.OperatorMissing, match=r"aten\.add\.Tensor"):
        program.load_method("forward")
    monkeypatch.setattr(gpu, "select_device", lambda spec: None)
    with open_fixture("add", "auto") as program:
        assert np.array_equal(program.load_method("forward").execute([X, X])[0], X + X)


def test_unknown_devices():
    with load(path("add"), device="no such card") as program:
        method = program.load_method("forward")
        with pytest.raises(errors.DeviceNotFound, match="no such card"):
            method.execute([X, X])


def test_single_delegate_tells_the_mapping():
    with open_fixture("outputs") as program:
        assert program.load_method("forward")._single_delegate() is None
    with open_fixture("portable") as program:
        assert program.load_method("forward")._single_delegate() is None
    with open_fixture("add") as program:
        delegate, inputs, outputs = program.load_method("forward")._single_delegate()
        assert (inputs, outputs) == ((0, 1), (0,))
        assert np.array_equal(delegate.execute([X, X])[0], X + X)
