"""Exported programs on the CPU, against eager PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu import errors, load
from tests.runtime.programs import assert_equal, calls, open_fixture, path

RUNNING = [
    "accumulator",
    "add",
    "branch",
    "cache",
    "channels_last",
    "dynamic",
    "dynamic_int",
    "dynamic_portable",
    "integers",
    "loop",
    "methods",
    "outputs",
    "portable",
    "rank0",
    "scalars",
    "shared_buffers",
    "two_delegates",
    "views",
    "weights",
]


@pytest.mark.parametrize("name", RUNNING)
def test_calls_agree_with_pytorch(name):
    with open_fixture(name) as program:
        for _ in range(2):
            for method, inputs, expected in calls(name):
                assert_equal(program.load_method(method).execute(inputs), expected)
            # The same calls again must give the same: reset restores the initial state of every method.
            for method, _, _ in calls(name):
                program.load_method(method).reset()


def test_half_precision_inside_the_delegate():
    ((_, inputs, expected),) = calls("half")
    with open_fixture("half") as program:
        assert_equal(program.load_method("forward").execute(inputs), expected, tolerance=2e-3)


def test_uninitialised_buffers_start_at_zero():
    with open_fixture("accumulator_zero") as program:
        method = program.load_method("forward")
        assert method.execute([np.ones(3, np.float32)])[0].tolist() == [2, 2, 2]
        assert method.execute([np.ones(3, np.float32)])[0].tolist() == [4, 4, 4]


def test_state_belongs_to_the_program_that_was_loaded():
    one = np.ones(3, np.float32)
    with open_fixture("cache") as first, open_fixture("cache") as second:
        assert first.load_method("forward") is first.load_method("forward")
        before = first.load_method("forward").execute([one])[0]
        after = first.load_method("forward").execute([one])[0]
        assert not np.array_equal(before, after)
        assert np.array_equal(second.load_method("forward").execute([one])[0], before)


def test_constant_methods():
    with open_fixture("methods") as program:
        assert program.method_names == {
            "double",
            "negate",
            "get_size",
            "get_scale",
            "use_cache",
            "get_name",
            "get_ids",
            "get_table",
        }
        answers = {name: program.load_method(name).execute([]) for name in program.method_names if "_" in name}
    table = answers.pop("get_table")
    assert answers == {
        "get_size": [7],
        "get_scale": [0.25],
        "use_cache": [True],
        "get_name": ["tiny"],
        "get_ids": [1, 2],
    }
    assert table[0].tolist() == [1.5, 2.5]


def test_state_that_the_program_drops_is_refused():
    with open_fixture("dropped_state") as program, pytest.raises(errors.NotSupported, match="alias_buffer_mutations"):
        program.load_method("forward")


def test_foreign_delegates_are_named():
    with open_fixture("foreign") as program, pytest.raises(errors.NotFound, match=r"'forward'.*XnnpackBackend"):
        program.load_method("forward")


def test_missing_kernels_are_named():
    with open_fixture("missing") as program, pytest.raises(errors.OperatorMissing, match=r"'forward'.*special_zeta"):
        program.load_method("forward")


def test_values_beyond_int32_cannot_enter_a_delegate():
    with open_fixture("integers") as program:
        method = program.load_method("forward")
        with pytest.raises(errors.InvalidArgument, match="int32"):
            method.execute([np.array([2**31, 0, 0])])


def test_bytes_and_file_objects_are_programs_too():
    ((_, inputs, expected), *_) = calls("add")
    content = path("add").read_bytes()
    for source in (content, bytearray(content), str(path("add"))):
        with load(source, device="cpu") as program:
            assert_equal(program.load_method("forward").execute(inputs), expected)
    with path("add").open("rb") as file, load(file, device="cpu") as program:
        assert_equal(program.load_method("forward").execute(inputs), expected)
