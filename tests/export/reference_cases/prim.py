"""Operators on the numbers of an execution plan; the answers are Python's."""

from __future__ import annotations

from reference_cases.case import Case, some, tensor


def number(name: str, expect: object, *args: object) -> Case:
    return Case(f"executorch_prim::{name}", *args, expect=expect)


X = some(3, 5, 7)

CASES = [
    number("add.Scalar", 7, 3, 4),
    number("add.Scalar", 3.5, 3, 0.5),
    number("sub.Scalar", -1, 3, 4),
    number("mul.Scalar", 12, 3, 4),
    number("floordiv.Scalar", -2, -7, 4),
    number("floordiv.int", -2, -7, 4),
    number("truediv.Scalar", -1.75, -7, 4),
    number("mod.Scalar", 1, -7, 4),
    number("mod.int", 1, -7, 4),
    number("neg.Scalar", -3, 3),
    number("ceil.Scalar", 3, 2.25),
    number("round.Scalar", 2, 2.5),
    number("round.Scalar", 4, 3.5),
    number("trunc.Scalar", -2, -2.75),
    number("eq.Scalar", True, 3, 3),
    number("gt.Scalar", False, 3, 3),
    number("ge.Scalar", True, 3, 3),
    number("lt.Scalar", True, 2, 3),
    number("le.Scalar", False, 4, 3),
    number("sym_float.Scalar", 3.0, 3),
    number("sym_int.Scalar", -3, -3.75),
    number("sym_not.Scalar", True, False),
    number("sym_ite.Scalar", 5, True, 5, 7),
    number("sym_ite.Scalar", 7, False, 5, 7),
    number("sym_max.Scalar", 5, 3, 5),
    number("sym_min.Scalar", 3, 3, 5),
    number("et_view.default", X.reshape(21, 5), X, [21, -1]),
    number("et_copy_index.tensor", X[:2], some(3, 5, 7)[:1], X[1], 1),
    number("et_copy_index.tensor", X[:1], some(3, 2, 2), X[0], 0),
    Case("aten::sym_size.int", X, -1, expect=7),
    Case("aten::sym_size.int", X, 0, expect=3),
    Case("aten::sym_numel", X, expect=105),
    Case("aten::_local_scalar_dense", tensor([7], "int32"), expect=7),
    Case("aten::_local_scalar_dense", tensor(2.5), expect=2.5),
    Case("aten::_local_scalar_dense", tensor(True, "bool"), expect=True),
]
