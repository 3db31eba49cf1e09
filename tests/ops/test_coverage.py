"""No operator without a reference, a golden case, and a call below the exported bound where its shape can vary."""

from __future__ import annotations

from goldens import goldens

from executorch_webgpu.ops.registry import lowerings, references

# Operators that PyTorch's exporter cannot be made to write; each has the reason and is tested elsewhere.
WITHOUT_GOLDEN: dict[str, str] = {
    name: "the exporter takes it out of every graph; tests/ops/test_copies.py has it"
    for name in ("aten.alias_copy.default", "aten.copy.default", "dim_order_ops._clone_dim_order.default")
}

# Operators whose shape never varies in an exported program, each with the reason.
STATIC: dict[str, str] = {}


def test_every_lowering_has_a_reference() -> None:
    assert sorted(set(lowerings()) - set(references()) - {"cast"}) == []


def test_every_operator_has_a_golden_case() -> None:
    covered = frozenset[str]().union(*(golden.operators for golden in goldens()))
    assert sorted(set(lowerings()) - covered - set(WITHOUT_GOLDEN) - {"cast"}) == []


def test_every_operator_has_a_case_below_its_bound() -> None:
    covered = frozenset[str]().union(*(golden.operators for golden in goldens() if golden.below_bound))
    exempt = {*WITHOUT_GOLDEN, *STATIC, "cast"}
    assert sorted(set(lowerings()) - covered - exempt) == []


def test_no_exception_outlives_its_reason() -> None:
    covered = frozenset[str]().union(*(golden.operators for golden in goldens()))
    varied = frozenset[str]().union(*(golden.operators for golden in goldens() if golden.below_bound))
    assert sorted(covered & set(WITHOUT_GOLDEN)) == []
    assert sorted(varied & set(STATIC)) == []
    assert sorted(({*WITHOUT_GOLDEN, *STATIC}) - set(lowerings())) == []
