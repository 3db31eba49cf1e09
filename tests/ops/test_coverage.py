"""No operator without a reference, a golden case, and a call below the exported bound where its shape can vary."""

from __future__ import annotations

from goldens import goldens

from executorch_webgpu.ops.registry import lowerings, references

# Operators that PyTorch's exporter cannot be made to write; each has the reason and is tested elsewhere.
REMOVED = "the exporter takes it out of every graph; tests/ops/test_unexported.py has it"
RUNTIME_NAME = "only runtimes know the name; tests/ops/test_runtime_names.py has it"
MOVE = "the exporter writes another name for it; tests/ops/test_moves.py has it"
WITHOUT_GOLDEN: dict[str, str] = {
    "aten.alias_copy.default": REMOVED,
    "aten.copy.default": REMOVED,
    "aten.hardshrink.default": "the exporter decomposes it; tests/ops/test_unexported.py has it",
    "aten.max_pool2d.default": "the exporter writes it with indices; tests/ops/test_pools.py has it",
    "aten.permute.default": MOVE,
    "aten.repeat_interleave.self_int": MOVE,
    "aten.scalar_tensor.default": "the partitioner leaves it to the CPU; tests/ops/test_unexported.py has it",
    "aten.select.int": MOVE,
    "aten.slice.Tensor": MOVE,
    "aten.t_copy.default": MOVE,
    "conv_with_clamp.default": "only runtimes know the name; tests/ops/test_products.py has it",
    "dim_order_ops._clone_dim_order.default": REMOVED,
    "et_vk.adamw_step.default": "its aliased outputs cannot be exported; tests/ops/test_kernel_choice.py has it",
    "et_vk.conv2d_q8ta_q8csw_q8to.default": RUNTIME_NAME,
    "et_vk.conv2d_q8ta_q8csw_q8to_dw.default": RUNTIME_NAME,
    "et_vk.linear_q8csw.default": RUNTIME_NAME,
    "et_vk.q4gsw_linear.default": RUNTIME_NAME,
    "et_vk.q8ta_conv2d_general.default": RUNTIME_NAME,
    "et_vk.q8ta_conv2d_im2col.default": RUNTIME_NAME,
    "llama.custom_sdpa.default": "always fused with its cache's update; tests/ops/test_kernel_choice.py has it",
}

# Operators whose shape never varies in an exported program, each with the reason.
STATIC: dict[str, str] = {
    "et_vk.q8ta_linear_gemv.default": "the exporter chooses it for exactly one row",
}


def exported() -> set[str]:
    """The operators that files may hold: not those which the package itself makes of several others."""
    return {name for name in lowerings() if name != "cast" and not name.startswith(("fused.", "choice."))}


def covered(*, below_bound: bool = False) -> set[str]:
    """The operators that are in a golden case, or in one that is called below its exported bound."""
    return {name for golden in goldens() if golden.below_bound or not below_bound for name in golden.operators}


def test_every_lowering_has_a_reference() -> None:
    assert sorted(exported() - set(references())) == []


def test_every_operator_has_a_golden_case() -> None:
    assert sorted(exported() - covered() - set(WITHOUT_GOLDEN)) == []


def test_every_operator_has_a_case_below_its_bound() -> None:
    assert sorted(exported() - covered(below_bound=True) - {*WITHOUT_GOLDEN, *STATIC}) == []


def test_no_exception_outlives_its_reason() -> None:
    assert sorted(covered() & set(WITHOUT_GOLDEN)) == []
    assert sorted(covered(below_bound=True) & set(STATIC)) == []
    assert sorted({*WITHOUT_GOLDEN, *STATIC} - set(lowerings())) == []
