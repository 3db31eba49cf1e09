"""Every way in which a program can hold its parts, read from small exported files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram, NotFound
from executorch_webgpu.format import open_program, read_vulkan_graph
from executorch_webgpu.format import plan as p
from tests.hostile.patching import program_patch, value

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "format"
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)
BIAS = np.array([10, 20], np.float32)
FLOAT = np.dtype(np.float32)


def floats(value: p.PlanValue) -> np.ndarray:
    assert isinstance(value, p.TensorValue)
    assert value.data is not None
    return np.frombuffer(value.data, value.dtype).reshape(value.sizes).copy()


def open_fixture(name: str, *data: str):
    return open_program(FIXTURES / name, [FIXTURES / file for file in data])


@pytest.mark.parametrize("name", ["segment.pte", "inline.pte", "bundled.bpte"])
def test_weights_in_the_file(name):
    with open_fixture(name) as file:
        (plan,) = file.program.plans
        assert plan.name == "forward"
        assert [operator.full_name for operator in plan.operators] == ["aten::permute_copy.out", "aten::addmm.out"]
        weight, bias = (value for value in plan.values if isinstance(value, p.TensorValue) and value.is_constant)
        assert (floats(weight) == WEIGHT).all()
        assert (floats(bias) == BIAS).all()
        assert weight.allocation is None
        assert not weight.external
        (chain,) = plan.chains
        assert chain == (p.KernelCall(0, (0, 6, 3, 3)), p.KernelCall(1, (1, 2, 3, 8, 9, 7, 7)))
        assert plan.inputs == (2,)
        assert plan.outputs == (7,)
        assert plan.values[6] == p.IntListValue((4, 5))
        assert plan.arena_sizes == (0, 80)
        assert plan.values[2] == p.TensorValue(
            FLOAT, (2, 3), (0, 1), p.Dynamism.STATIC, None, p.Allocation(1, 32), None, False
        )


def test_what_the_files_are_made_of():
    with open_fixture("segment.pte") as file:
        assert file.info.kind == ".pte"
        assert file.info.segments == (40,)
        assert file.info.constant_bytes == 32
        assert file.info.flatbuffer_bytes < file.info.file_bytes == (FIXTURES / "segment.pte").stat().st_size
    with open_fixture("inline.pte") as file:
        assert file.info.segments == ()
        assert file.info.constant_bytes == 32
        assert file.info.flatbuffer_bytes == file.info.file_bytes
        assert (FIXTURES / "inline.pte").read_bytes()[8:12] != b"eh00"
    with open_fixture("bundled.bpte") as file:
        assert file.info.kind == ".bpte"
        assert file.info.file_bytes == (FIXTURES / "bundled.bpte").stat().st_size
    with open_fixture("mutable.pte") as file:
        assert (file.info.constant_bytes, file.info.mutable_bytes) == (8, 12)
    with open_fixture("delegate.pte") as file:
        assert file.info.named_data_bytes == 32
        assert file.info.segments == (0, 704, 24, 8)


def test_a_buffer_that_two_tensors_share_counts_once():
    patch, plan = program_patch("segment.pte")
    with open_program(patch.field(value(plan, 1), 5, 1)) as file:
        assert [v.nbytes for v in file.program.plans[0].values[:2]] == [24, 8]
        assert file.info.constant_bytes == 24


def test_a_program_without_segments_has_no_header():
    data = (FIXTURES / "lists.pte").read_bytes()
    assert data[8:12] != b"eh00"
    with open_program(data) as file:
        assert file.info.flatbuffer_bytes == len(data)
        assert file.info.segments == (0,)  # an empty one is listed all the same


def test_a_program_with_segments_needs_its_header():
    data = bytearray((FIXTURES / "segment.pte").read_bytes())
    data[8:12] = bytes(4)
    with pytest.raises(InvalidProgram, match="its header does not say where"):
        open_program(bytes(data))


def test_the_shorter_header_of_the_first_version():
    data = bytearray((FIXTURES / "segment.pte").read_bytes())
    data[12:16] = (24).to_bytes(4, "little")
    data[32:40] = b"\xff" * 8  # the size of all segments, which this version did not have
    with open_program(bytes(data)) as file:
        assert (floats(file.program.plans[0].values[0]) == WEIGHT).all()


@pytest.mark.parametrize("name", ["delegate.pte", "delegate_inline.pte"])
def test_delegates_with_named_data(name):
    with open_fixture(name) as file:
        (plan,) = file.program.plans
        (delegate,) = plan.delegates
        assert delegate.backend_id == "VulkanBackend"
        assert delegate.compile_specs == ()
        assert plan.chains == ((p.DelegateCall(0, (0, 1)),),)
        graph = read_vulkan_graph(delegate.payload, file.program.named_data, "delegate 0")
        payloads = {bytes(constant.data) for constant in graph.constants}
        assert payloads == {WEIGHT.tobytes(), BIAS.tobytes()}
        assert {constant.named_key for constant in graph.constants} == set(file.program.named_data)
        assert [call.name for call in graph.chain] == ["aten.linear.default"]


def test_external_weights():
    with open_fixture("external.pte", "external.ptd") as file:
        weight, bias = file.program.plans[0].values[:2]
        assert (floats(weight) == WEIGHT).all()
        assert (floats(bias) == BIAS).all()
        assert weight.external
        assert weight.is_constant
        assert weight.fully_qualified_name == "weight"
        assert file.info.external_files == (str(FIXTURES / "external.ptd"),)


def test_external_weights_that_were_not_given():
    with pytest.raises(InvalidExternalData, match=r"method 'forward': value 0: the tensor 'weight'.*--data"):
        open_fixture("external.pte")
    with pytest.raises(InvalidExternalData, match=r"'weight' is in an external data file, not in .*split_0.ptd"):
        open_fixture("external.pte", "split_0.ptd")
    with pytest.raises(NotFound, match="no such file"):
        open_fixture("external.pte", "none.ptd")


def test_external_weights_given_twice():
    with pytest.raises(InvalidExternalData, match="is also in"):
        open_fixture("external.pte", "external.ptd", "external.ptd")


def test_external_constants_of_a_delegate():
    with open_fixture("split.pte", "split_0.ptd", "split_1.ptd") as file:
        (delegate,) = file.program.plans[0].delegates
        assert delegate.compile_specs == (("external_constants_max_data_bytes", (24).to_bytes(8, "little")),)
        graph = read_vulkan_graph(delegate.payload, file.program.named_data, "delegate 0")
        assert {bytes(constant.data) for constant in graph.constants} == {WEIGHT.tobytes(), BIAS.tobytes()}
    with (
        open_fixture("split.pte", "split_0.ptd") as file,
        pytest.raises(InvalidExternalData, match=r"delegate 0: constant . .*--data"),
    ):
        read_vulkan_graph(file.program.plans[0].delegates[0].payload, file.program.named_data, "delegate 0")


def test_initial_values():
    with open_fixture("mutable.pte") as file:
        total = file.program.plans[0].values[0]
        assert floats(total).tolist() == [1, 2, 3]
        assert total.allocation == p.Allocation(1, 48)
        assert not total.is_constant


def test_control_flow():
    with open_fixture("branch.pte") as file:
        (plan,) = file.program.plans
        jump, _, _, move, goto, *_ = plan.chains[0]
        assert jump == p.JumpFalseCall(0, 5)
        assert move == p.MoveCall(7, 2)
        assert goto == p.JumpFalseCall(14, 8)
        assert plan.values[14] is False
        assert plan.values[0].dtype == np.bool_


def test_lists_and_bounds():
    with open_fixture("lists.pte") as file:
        (plan,) = file.program.plans
        x, index = (plan.values[item] for item in plan.inputs)
        assert x.sizes == (8, 3)
        assert x.dynamism is p.Dynamism.DYNAMIC_BOUND
        assert index.dtype == np.int64
        assert index.dynamism is p.Dynamism.STATIC
        assert p.TensorListValue((-1, 1), True) in plan.values
        assert p.TensorListValue((2, 0), False) in plan.values


def test_methods_and_constants():
    with open_fixture("methods.pte") as file:
        plans = {plan.name: plan for plan in file.program.plans}
        assert set(plans) == {"double", "again", "get_size", "get_scale", "use_cache", "get_name", "get_ids"}
        found = {name: [plan.values[i] for i in plan.outputs] for name, plan in plans.items() if not plan.inputs}
        assert found == {
            "get_size": [7],
            "get_scale": [0.25],
            "use_cache": [True],
            "get_name": ["tiny"],
            "get_ids": [1, 2],
        }
        assert type(found["use_cache"][0]) is bool


@pytest.mark.parametrize(
    ("name", "expected"),
    [("external.ptd", "an ExecuTorch tensor data file.*--data"), ("blob.bin", "a Vulkan delegate blob")],
)
def test_other_files_in_place_of_a_program(name, expected):
    with pytest.raises(InvalidProgram, match=expected):
        open_fixture(name)


@pytest.mark.parametrize("name", ["segment.pte", "blob.bin"])
def test_other_files_in_place_of_external_data(name):
    with pytest.raises(InvalidExternalData, match="expected a tensor data file"):
        open_fixture("external.pte", name)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("segment.pte", ()),
        ("inline.pte", ()),
        ("bundled.bpte", ()),
        ("delegate.pte", ()),
        ("external.pte", ("external.ptd",)),
        ("split.pte", ("split_0.ptd", "split_1.ptd")),
    ],
)
def test_nothing_stays_mapped_after_close(tmp_path, name, data):
    for each in (name, *data):
        shutil.copy(FIXTURES / each, tmp_path / each)
    file = open_program(tmp_path / name, [tmp_path / each for each in data])
    program = file.program
    graphs = [
        read_vulkan_graph(delegate.payload, program.named_data, "d")
        for plan in program.plans
        for delegate in plan.delegates
    ]
    assert str(tmp_path) in Path("/proc/self/maps").read_text()
    file.close()
    # The dataclasses are still held: that must not keep the files.
    assert program.plans
    assert len(graphs) == (name in ("delegate.pte", "split.pte"))
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    file.close()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")
def test_a_file_that_is_refused_does_not_stay_mapped(tmp_path):
    path = tmp_path / "model.pte"
    path.write_bytes((FIXTURES / "segment.pte").read_bytes()[:900])
    with pytest.raises(InvalidProgram) as caught:
        open_program(path)
    assert caught.value.__traceback__ is not None
    assert str(path) not in Path("/proc/self/maps").read_text()


def test_weights_are_views_of_the_bytes_given():
    data = bytearray((FIXTURES / "segment.pte").read_bytes())
    with open_program(data) as file:
        weight = file.program.plans[0].values[0]
        at = bytes(data).index(WEIGHT.tobytes())
        data[at : at + 4] = np.float32(99).tobytes()
        assert floats(weight)[0, 0] == 99
