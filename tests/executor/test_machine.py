"""Instructions, memory and control flow on plans made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidArgument, NotFound, OperatorMissing, OutOfResources
from executorch_webgpu.executor.memory import SharedMemory
from executorch_webgpu.format.plan import (
    Delegate,
    Dynamism,
    FreeCall,
    IntListValue,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    TensorListValue,
)
from tests.executor.plans import machine, plan, program, tensor

ADD = "aten::add.out"


def array(*items: float) -> np.ndarray:
    return np.array(items, np.float32)


def test_kernel_call_reads_arguments_and_writes_its_output():
    made = plan(
        [tensor(2), tensor(2, at=16), 1, tensor(2, at=32)], (0, 1), (3,), [KernelCall(0, (0, 1, 2, 3, 3))], (ADD,)
    )
    assert machine(made).run([array(1, 2), array(10, 20)])[0].tolist() == [11, 22]


def test_result_is_cast_to_the_output_dtype():
    made = plan(
        [tensor(2), 1, 1, tensor(2, at=16, dtype=np.int64)],
        (0,),
        (3,),
        [KernelCall(0, (0, 1, 2, 3, 3))],
        ("aten::add.Scalar_out",),
    )
    result = machine(made).run([array(1.5, 2)])[0]
    assert result.dtype == np.int64
    assert result.tolist() == [2, 3]


def test_values_at_one_place_alias_each_other():
    # A view that the exporter elided: value 1 has value 0's place and another shape; no instruction links them.
    made = plan([tensor(2, 3), tensor(6), 1, tensor(6, at=64)], (0,), (3,), [KernelCall(0, (1, 1, 2, 3, 3))], (ADD,))
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert machine(made).run([data])[0].tolist() == [0, 2, 4, 6, 8, 10]


def test_outputs_are_fresh_on_every_call():
    made = plan([tensor(2)], (0,), (0, 0), [])
    run = machine(made)
    given = array(1, 2)
    first, again = run.run([given])
    first[0] = 99
    assert again.tolist() == [1, 2]
    assert given.tolist() == [1, 2]
    assert run.run([array(3, 4)])[0].tolist() == [3, 4]
    assert again.tolist() == [1, 2]


def test_outputs_of_every_kind():
    constant = tensor(2, at=None, data=[5, 6])
    made = plan([constant, 7, True, "text", None, 0.5], (), (0, 1, 2, 3, 4, 5), [])
    outputs = machine(made).run([])
    assert outputs[0].tolist() == [5, 6]
    assert outputs[0].flags.writeable
    assert outputs[1:] == [7, True, "text", None, 0.5]


@pytest.mark.parametrize(("flag", "expected"), [(True, [1, 1]), (False, [2, 2])])
@pytest.mark.parametrize("as_tensor", [True, False])
def test_jump_false(flag, expected, as_tensor):
    condition = tensor(at=64, dtype=np.bool_) if as_tensor else flag
    made = plan(
        [condition, tensor(2, at=None, data=[1, 1]), tensor(2, at=None, data=[2, 2]), tensor(2), False],
        (0,) if as_tensor else (),
        (3,),
        [JumpFalseCall(0, 3), MoveCall(1, 3), JumpFalseCall(4, 4), MoveCall(2, 3)],
    )
    assert machine(made).run([np.array(flag)] if as_tensor else [])[0].tolist() == expected


def test_condition_of_several_elements_is_refused():
    made = plan([tensor(2, dtype=np.bool_)], (0,), (0,), [JumpFalseCall(0, 1)])
    with pytest.raises(InvalidArgument, match="2 elements"):
        machine(made).run([np.array([True, False])])


def test_moves_copy_the_contents():
    # The place of value 1 is used again by value 2 before value 3, which got its contents, is read.
    made = plan(
        [tensor(2, at=64), tensor(2), tensor(2), tensor(2, at=16), 1],
        (0,),
        (3, 2),
        [KernelCall(0, (0, 0, 4, 1, 1)), MoveCall(1, 3), KernelCall(0, (3, 0, 4, 2, 2))],
        (ADD,),
    )
    assert [o.tolist() for o in machine(made).run([array(1, 2)])] == [[2, 4], [3, 6]]


def test_ints_written_in_a_call_do_not_outlive_it():
    made = plan(
        [0, 5, tensor(dtype=np.bool_)],
        (2,),
        (0,),
        [JumpFalseCall(2, 3), MoveCall(1, 0), KernelCall(0, (0, 1, 0))],
        ("executorch_prim::add.Scalar",),
    )
    run = machine(made)
    assert run.run([np.array(True)]) == [10]
    assert run.run([np.array(False)]) == [0]


def test_mutable_buffer_keeps_its_value_and_reset_restores_the_initial_one():
    buffer = tensor(2, at=64, data=[1, 2])
    zero = tensor(2, at=96)
    made = plan(
        [tensor(2), 1, buffer, zero],
        (0,),
        (2, 3),
        [KernelCall(0, (2, 0, 1, 2, 2)), KernelCall(0, (3, 0, 1, 3, 3))],
        (ADD,),
    )
    run = machine(made)
    assert [o.tolist() for o in run.run([array(1, 1)])] == [[2, 3], [1, 1]]
    assert [o.tolist() for o in run.run([array(1, 1)])] == [[3, 4], [2, 2]]
    run.reset()
    assert [o.tolist() for o in run.run([array(1, 1)])] == [[2, 3], [1, 1]]


def shared_pair(sizes: tuple[int, int]):
    def method(name: str, size: int, initial: list[float] | None):
        values = [tensor(2), 1, tensor(2, at=0, area=2, data=initial)]
        return plan(values, (0,), (2,), [KernelCall(0, (2, 0, 1, 2, 2))], (ADD,), (0, 64, size), name)

    whole = program(method("a", sizes[0], [1, 2]), method("b", sizes[1], None))
    shared = SharedMemory(whole)
    return [machine(made, whole, shared) for made in whole.plans]


def test_methods_share_the_areas_that_the_exporter_shared():
    a, b = shared_pair((16, 16))
    assert a.shares_memory
    assert a.run([array(1, 1)])[0].tolist() == [2, 3]
    assert b.run([array(1, 1)])[0].tolist() == [3, 4]
    assert a.run([array(0, 0)])[0].tolist() == [3, 4]
    b.reset()
    assert a.run([array(0, 0)])[0].tolist() == [1, 2]


def test_methods_with_different_areas_share_nothing():
    a, b = shared_pair((16, 32))
    assert not a.shares_memory
    assert a.run([array(1, 1)])[0].tolist() == [2, 3]
    assert b.run([array(1, 1)])[0].tolist() == [1, 1]


def test_dynamic_shapes_follow_the_input():
    bound = Dynamism.DYNAMIC_BOUND
    made = plan(
        [tensor(4, 2, dynamism=bound), 1, tensor(4, 2, at=64, dynamism=bound)],
        (0,),
        (2,),
        [KernelCall(0, (0, 0, 1, 2, 2))],
        (ADD,),
    )
    run = machine(made)
    for rows in (4, 2, 0, 3):
        assert run.run([np.ones((rows, 2), np.float32)])[0].shape == (rows, 2)


def test_unbound_memory_follows_the_result_and_is_freed():
    made = plan(
        [
            tensor(1, dynamism=Dynamism.DYNAMIC_UNBOUND, at=None),
            1,
            tensor(1, dynamism=Dynamism.DYNAMIC_UNBOUND, at=None),
        ],
        (0,),
        (2,),
        [KernelCall(0, (0, 0, 1, 2, 2)), FreeCall(0)],
        (ADD,),
    )
    run = machine(made)
    assert run.run([array(1, 2, 3)])[0].tolist() == [2, 4, 6]
    assert run.run([array(*range(100))])[0].shape == (100,)


def test_result_beyond_the_bound_is_refused():
    made = plan([tensor(4), 1, tensor(3, at=64)], (0,), (2,), [KernelCall(0, (0, 0, 1, 2, 2))], (ADD,))
    with pytest.raises(InvalidArgument, match=r"instruction 0 .*aten::add.out.*shape \[4\].*\[3\]"):
        machine(made).run([array(1, 2, 3, 4)])


def test_dim_order_is_honoured():
    data = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    last = np.ascontiguousarray(data.transpose(0, 2, 3, 1))
    constant = tensor(1, 2, 3, 4, at=None, data=last, order=(0, 2, 3, 1))
    made = plan([constant, tensor(1, 2, 3, 4, order=(0, 2, 3, 1))], (1,), (0, 1), [])
    first, second = machine(made).run([data])
    assert np.array_equal(first, data)
    assert np.array_equal(second, data)
    assert first.flags.c_contiguous


def test_lists_are_resolved_when_the_kernel_runs():
    # The size list refers to values, one of which is an input.
    made = plan(
        [tensor(6), None, 2, IntListValue((1, 2)), tensor(3, 2, at=64)],
        (0, 1),
        (4,),
        [KernelCall(0, (0, 3, 4))],
        ("executorch_prim::et_view.default",),
    )
    assert machine(made).run([array(*range(6)), 3])[0].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_tensor_lists_come_in_and_go_out():
    made = plan(
        [tensor(4), 2, 0, TensorListValue((4, 5), False), tensor(2, at=32), tensor(2, at=48)],
        (0,),
        (4, 5),
        [KernelCall(0, (0, 1, 2, 3, 3))],
        ("aten::split_copy.Tensor_out",),
    )
    assert [o.tolist() for o in machine(made).run([array(1, 2, 3, 4)])] == [[1, 2], [3, 4]]


def test_all_missing_operators_are_told_at_once():
    made = plan(
        [tensor(2), tensor(2, at=16)],
        (0,),
        (1,),
        [KernelCall(0, (0, 1, 1)), KernelCall(1, (0, 1, 1))],
        ("my::first.out", "my::second.out"),
    )
    with pytest.raises(OperatorMissing) as caught:
        machine(made)
    for part in ("my::first.out", "my::second.out", "float32", "'forward'", "instruction 0", "instruction 1"):
        assert part in str(caught.value)


def test_foreign_backend_is_named_with_its_method():
    made = plan([tensor(2)], (0,), (0,), [], name="encode")
    made = type(made)(**{**made.__dict__, "delegates": (Delegate("OtherBackend", memoryview(b""), ()),)})
    with pytest.raises(NotFound, match=r"'encode'.*OtherBackend"):
        machine(made)


def test_numpy_errors_of_a_kernel_become_the_packages():
    made = plan(
        [tensor(2), tensor(3, at=16), 1, tensor(2, at=64)], (0, 1), (3,), [KernelCall(0, (0, 1, 2, 3, 3))], (ADD,)
    )
    with pytest.raises(InvalidArgument, match=r"aten::add\.out"):
        machine(made).run([array(1, 2), array(1, 2, 3)])


def test_memory_that_no_machine_has_is_refused():
    made = plan([tensor(2), 1, tensor(2, at=1 << 60)], (0,), (2,), [KernelCall(0, (0, 0, 1, 2, 2))], (ADD,))
    with pytest.raises(OutOfResources, match=str((1 << 60) + 8)):
        machine(made).run([array(1, 2)])


def test_memory_that_no_tensor_takes_is_not_asked_for():
    made = plan([tensor(2), 1, tensor(2, at=16)], (0,), (2,), [KernelCall(0, (0, 0, 1, 2, 2))], (ADD,), (0, 1 << 60))
    run = machine(made)
    assert run.run([array(1, 2)])[0].tolist() == [2, 4]
    run.reset()
    whole = program(*(plan([tensor(2, at=8, area=2)], (0,), (0,), [], (), (0, 64, 1 << 60), name) for name in "ab"))
    shared = SharedMemory(whole)
    first, second = (machine(made, whole, shared) for made in whole.plans)
    assert first.shares_memory
    assert second.run([array(3, 4)])[0].tolist() == [3, 4]
    first.reset()


def test_a_null_is_no_number():
    made = plan(
        [tensor(2), None, 1, tensor(2, at=32)], (0,), (3,), [KernelCall(0, (0, 1, 2, 3, 3))], ("aten::add.Scalar_out",)
    )
    with pytest.raises(InvalidArgument, match=r"instruction 0 \(aten::add.Scalar_out\)"):
        machine(made).run([array(1, 2)])
