"""Closing, reloading, metadata and the names of executorch.runtime."""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from executorch_webgpu import Runtime, Verification, errors, load
from tests.runtime.programs import FIXTURES, calls, open_fixture, path

X = np.ones((2, 3), np.float32)


def test_everything_raises_after_close():
    program = open_fixture("add")
    method = program.load_method("forward")
    method.execute([X, X])
    program.close()
    program.close()
    for use in (
        lambda: program.method_names,
        lambda: program.load_method("forward"),
        lambda: program.metadata("forward"),
        lambda: program.reload(),
        lambda: program.device,
        lambda: program.__enter__(),
        lambda: method.execute([X, X]),
        lambda: method.reset(),
        lambda: method.metadata,
    ):
        with pytest.raises(errors.InvalidState):
            use()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", ["weights", "accumulator", "outputs", "foreign", "missing", "dropped_state"])
def test_nothing_stays_mapped_after_close(tmp_path, name):
    copy = tmp_path / f"{name}.pte"
    shutil.copy(path(name), copy)
    program = load(copy, device="cpu")
    outputs = []
    try:
        for method, inputs, _ in calls(name):
            outputs += program.load_method(method).execute(inputs)
    except errors.ExecuTorchError:
        assert name in ("foreign", "missing", "dropped_state")
    program.close()
    assert str(copy) not in Path("/proc/self/maps").read_text()
    for output in outputs:
        assert output is None or np.isfinite(output).all()  # a view of the file would crash here


def test_reload_starts_again():
    one = np.ones(3, np.float32)
    for name in ("cache", "accumulator"):
        with open_fixture(name) as program:
            method = program.load_method("forward")
            first = method.execute([one])[0]
            method.execute([one])
            program.reload()
            assert program.load_method("forward") is method
            assert np.array_equal(method.execute([one])[0], first)


@pytest.mark.parametrize(("name", "expected"), [("cache", True), ("weights", False), ("accumulator", False)])
def test_methods_tell_whether_delegates_have_state(name, expected):
    with open_fixture(name) as program:
        assert program.load_method("forward").has_delegate_state is expected


def test_unknown_method_lists_those_that_exist():
    with open_fixture("add") as program:
        for use in (program.load_method, program.metadata):
            with pytest.raises(errors.NotFound, match=r"'nope'.*forward"):
                use("nope")
            with pytest.raises(KeyError):
                use("nope")
            with pytest.raises(TypeError):
                use(3)


def test_metadata():
    with open_fixture("dynamic") as program:
        meta = program.metadata("forward")
        assert meta.name() == "forward"
        assert (meta.num_inputs(), meta.num_outputs(), meta.num_attributes()) == (1, 1, 0)
        info = meta.input_tensor_meta(0)
        assert info.sizes() == (5, 2)
        assert info.bounds() == ((0, 5), (0, 2))
        assert info.dtype() == 6
        assert info.numpy_dtype() == np.float32
        assert info.nbytes() == 40
        assert info.is_memory_planned()
        assert "sizes=[5, 2]" in repr(meta)
        for index in (-1, 1):
            with pytest.raises(IndexError):
                meta.input_tensor_meta(index)
            with pytest.raises(errors.InvalidArgument):
                meta.output_tensor_meta(index)
    with open_fixture("scalars") as program:
        meta = program.load_method("forward").metadata
        assert [meta.input_kind(i) for i in range(5)] == ["tensor", "int", "float", "bool", "none"]
        assert [meta.input_value(i) for i in range(5)] == [None, 3, 0.5, True, None]
        assert meta.input_tensor_meta(0).bounds() == ((2, 2), (3, 3))
        with pytest.raises(IndexError, match="not a tensor"):
            meta.input_tensor_meta(1)


@pytest.mark.parametrize("index", ["0", None, 1.5])
def test_an_index_that_is_no_int(index):
    with open_fixture("rank0") as program:
        with pytest.raises(errors.InvalidType, match="must be an int"):
            program.metadata("forward").input_tensor_meta(index)
        assert program.metadata("forward").input_tensor_meta(np.int64(0)).sizes() is not None


def test_the_runtime_has_the_names_of_executorch():
    runtime = Runtime.get()
    assert runtime is Runtime.get()
    program = runtime.load_program(
        path("add"),
        verification=Verification.Minimal,
        enable_etdump=False,
        debug_buffer_size=0,
        data_path=None,
        device="cpu",
    )
    with program:
        assert program.method_names == {"forward"}
        assert program.load_method("forward").execute((X, X))[0].tolist() == (X + X).tolist()
    assert runtime.backend_registry.registered_backend_names == ["VulkanBackend"]
    assert runtime.backend_registry.is_available("VulkanBackend")
    assert not runtime.backend_registry.is_available("XnnpackBackend")
    assert "aten::add.out" in runtime.operator_registry.operator_names


@pytest.mark.parametrize("device", ["", " ", 1.5, None, True, -1])
def test_bad_device_arguments(device):
    with pytest.raises(errors.InvalidArgument, match="device"):
        load(path("add"), device=device)


@pytest.mark.parametrize("source", [3, None, object()])
def test_bad_sources(source):
    with pytest.raises(TypeError, match="path, bytes"):
        load(source)


def test_missing_file():
    with pytest.raises(errors.NotFound, match=r"nothing\.pte"):
        load(FIXTURES / "nothing.pte")


def test_threads_take_turns():
    with open_fixture("accumulator") as program:
        method = program.load_method("forward")
        method.execute([np.zeros(3, np.float32)])
        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [
                threading.Thread(target=lambda: [method.execute([np.ones(3, np.float32)]) for _ in range(25)])
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(switch)
        assert method.execute([np.zeros(3, np.float32)])[0].tolist() == [202, 204, 206]
