"""Loops without an end are refused; all others run."""

from __future__ import annotations

import time

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.format.plan import FreeCall, JumpFalseCall, KernelCall, MoveCall
from tests.executor.plans import machine, plan, tensor

BOOL = tensor(at=64, dtype=np.bool_)
NOT = "aten::logical_not.out"


def loop(*instructions, values=(), operators=()):
    """A method whose input, value 0, is a bool tensor; value 1 is False, value 2 True."""
    return plan([BOOL, False, True, *values], (0,), (0,), list(instructions), operators)


@pytest.mark.parametrize(
    "instructions",
    [
        (JumpFalseCall(1, 0),),
        (MoveCall(0, 0), JumpFalseCall(1, 0)),
        (JumpFalseCall(2, 9), JumpFalseCall(1, 0), MoveCall(0, 0)),
        (JumpFalseCall(1, 2), JumpFalseCall(1, 0), JumpFalseCall(1, 1)),
        (JumpFalseCall(0, 1), JumpFalseCall(1, 0)),
    ],
)
def test_a_chain_without_a_way_out_is_refused_at_load(instructions):
    with pytest.raises(InvalidProgram, match=r"^test.pte: method 'forward': chain 0 of its instructions never ends"):
        machine(loop(*instructions))


@pytest.mark.parametrize(
    "instructions",
    [
        (JumpFalseCall(0, 0),),
        (MoveCall(2, 1), JumpFalseCall(0, 1)),
        (FreeCall(0), JumpFalseCall(0, 0)),
        (MoveCall(0, 0), JumpFalseCall(0, 0)),
        (JumpFalseCall(0, 2), MoveCall(0, 0), JumpFalseCall(1, 3), JumpFalseCall(0, 2)),
    ],
)
def test_a_loop_whose_condition_cannot_change_is_refused_when_entered(instructions):
    run = machine(loop(*instructions))
    assert run.run([np.array(True)])[0]
    start = time.perf_counter()
    with pytest.raises(InvalidProgram, match=r"'forward': chain 0: the jump at instruction \d never ends"):
        run.run([np.array(False)])
    assert time.perf_counter() - start < 0.2


def test_a_loop_that_writes_its_condition_runs():
    made = loop(KernelCall(0, (0, 0, 0)), JumpFalseCall(0, 0), operators=(NOT,))
    assert machine(made).run([np.array(True)])[0]
    assert machine(made).run([np.array(False)])[0]


def test_a_loop_that_writes_its_condition_through_an_alias_runs():
    made = loop(KernelCall(0, (3, 3, 3)), JumpFalseCall(0, 0), values=(BOOL,), operators=(NOT,))
    assert machine(made).run([np.array(False)])[0]


def test_a_loop_with_a_way_out_runs():
    made = loop(JumpFalseCall(3, 3), MoveCall(1, 3), JumpFalseCall(1, 0), MoveCall(0, 0), values=(True,))
    assert not machine(made).run([np.array(False)])[0]


def test_jumps_over_parts_that_never_end_are_fine():
    made = loop(JumpFalseCall(1, 2), JumpFalseCall(1, 1))
    assert machine(made).run([np.array(True)])[0]


def test_a_condition_that_kernels_only_read_does_not_change():
    copy = KernelCall(0, (0, 1, 0, 0))
    with pytest.raises(InvalidProgram, match="never ends"):
        machine(loop(copy, JumpFalseCall(1, 0), operators=("aten::full_like.out",)))
