"""The numpy references against PyTorch's answers, stored by tests/export/reference_goldens.py."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from executorch_webgpu.ops.registry import Out, references

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "references"
FAMILIES = sorted(path.stem for path in FIXTURES.glob("*.npz"))


@dataclass(frozen=True)
class Call:
    """One call of a kernel."""

    name: str
    args: list[Any]
    answers: list[Any]
    rtol: float
    atol: float
    random: bool


def _decode(told: Any, block: bytes) -> Any:
    if isinstance(told, dict):
        count = int(np.prod(told["shape"], dtype=np.int64))
        array = np.frombuffer(block, told["dtype"], count, told["at"]) if count else np.zeros(0, told["dtype"])
        return array.reshape(told["shape"])
    return [_decode(item, block) for item in told] if isinstance(told, list) else told


@functools.cache
def calls(family: str) -> tuple[Call, ...]:
    with np.load(FIXTURES / f"{family}.npz") as arrays:
        block = arrays["block"].tobytes()
        told = json.loads(arrays["meta"].tobytes())
    return tuple(
        Call(**{**item, "args": _decode(item["args"], block), "answers": _decode(item["answers"], block)})
        for item in told
    )


def bound(answer: Any) -> Out:
    """What a program might say of an output: a shape larger than the call's."""
    if isinstance(answer, np.ndarray):
        return Out(tuple(size + 1 for size in answer.shape), answer.dtype)
    return Out((), np.dtype(np.int64 if answer is None else type(answer)))


def laid_out(value: Any, order: str) -> Any:
    """A writable copy, row-major or column-major."""
    if isinstance(value, np.ndarray):
        return np.array(value, order=order)  # type: ignore[call-overload]
    return [laid_out(item, order) for item in value] if isinstance(value, list) else value


def difference(got: Any, want: Any, call: Call) -> str | None:
    if want is None:
        return None
    if not isinstance(want, np.ndarray):
        return None if type(got) is type(want) and got == want else f"{got!r} is not {want!r}"
    if not isinstance(got, np.ndarray):
        return f"{type(got).__name__} is not an array"
    if got.shape != want.shape:
        return f"shape {got.shape} is not {want.shape}"
    if call.random:
        return None
    with np.errstate(all="ignore"):
        got = got.astype(want.dtype)
        if want.dtype.kind in "biu":
            fine = got == want
        else:
            rtol, atol = (2e-3, 1e-3) if want.dtype == np.float16 else (call.rtol, call.atol)
            wide = np.complex128 if want.dtype.kind == "c" else np.float64
            a, b = got.astype(wide), want.astype(wide)
            near = np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b))
            fine = (a == b) | (np.isnan(a) & np.isnan(b)) | near
    if np.all(fine):
        return None
    at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(~fine)))
    pair = np.atleast_1d(got)[at], np.atleast_1d(want)[at]
    return f"{np.count_nonzero(~fine)} of {want.size} values differ, at {list(at)} {pair[0]} is not {pair[1]}"


def fault(call: Call, order: str) -> str | None:
    """Make the call and say what is wrong with the answer or with what became of the arguments."""
    reference = references()[call.name]
    args, before = laid_out(call.args, order), laid_out(call.args, order)
    outs = tuple(map(bound, call.answers))
    result = reference.function(outs[0] if reference.outputs == 1 else outs, *args)
    results = list(result) if isinstance(result, list | tuple) else [result]
    if len(results) != len(call.answers):
        return f"{len(results)} results are not {len(call.answers)}"
    for got, want in zip(results, call.answers, strict=True):
        found = difference(got, want, call)
        if found:
            return found
    for position, (after, original) in enumerate(zip(args, before, strict=True)):
        if position not in reference.writes and isinstance(after, np.ndarray):
            np.testing.assert_array_equal(after, original, f"argument {position} was changed")
    if reference.writes and call.name.endswith("_"):
        return difference(args[0], call.answers[0], call)
    return None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("family", FAMILIES)
def test_references_agree_with_pytorch(family: str, order: str) -> None:
    faults = []
    for index, call in enumerate(calls(family)):
        found = fault(call, order)
        if found:
            told = [f"{a.dtype}{list(a.shape)}" if isinstance(a, np.ndarray) else a for a in call.args]
            faults.append(f"{index}: {call.name}{told}: {found}")
    assert faults == []


def test_every_kernel_has_a_golden() -> None:
    known = {call.name for family in FAMILIES for call in calls(family)}
    kernels = {name for name in references() if name.startswith(("aten::", "dim_order_ops::", "executorch_prim::"))}
    assert sorted(kernels - known) == []


def test_every_delegated_aten_operator_has_a_golden_or_shares_its_function_with_one_that_has() -> None:
    known = {references()[call.name].function for family in FAMILIES for call in calls(family)}
    ours = {
        name: found.function for name, found in references().items() if name.startswith(("aten.", "dim_order_ops."))
    }
    # An 8-bit linear layer: its goldens are programs.
    ours.pop("aten._weight_int8pack_mm.default")
    assert sorted(name for name, function in ours.items() if function not in known) == []


def test_every_golden_is_of_a_registered_operator() -> None:
    assert sorted({call.name for family in FAMILIES for call in calls(family)} - set(references())) == []
