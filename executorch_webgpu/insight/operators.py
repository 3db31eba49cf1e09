"""The table of operators: what runs on a GPU, what runs on the CPU, and which known names are refused."""

from __future__ import annotations

from dataclasses import dataclass

from executorch_webgpu.graph.nodes import PREPACK, SYMINT_OPERATORS
from executorch_webgpu.ops.registry import lowerings, references

# Names that ExecuTorch's Vulkan runtime registers but no exporter writes: kernel variants, aliases, old spellings.
RUNTIME_ONLY = (
    "aten.hardsigmoid.default",
    "aten.relu6.default",
    "aten.repeat_interleave.self_int",
    "aten.select.int",
    "aten.slice.Tensor",
    "aten.tan.default",
    "aten.var.dim",
    "conv_with_clamp.default",
    "et_vk.conv1d_dw.default",
    "et_vk.conv1d_pw.default",
    "et_vk.conv2d_gemm.default",
    "et_vk.conv2d_q8csw.default",
    "et_vk.conv2d_q8ta_q8csw.default",
    "et_vk.conv2d_q8ta_q8csw_q8to.default",
    "et_vk.conv2d_q8ta_q8csw_q8to_dw.default",
    "et_vk.linear_q8csw.default",
    "et_vk.q4gsw_linear.default",
    "et_vk.q8ta_conv2d_general.default",
    "et_vk.q8ta_conv2d_im2col.default",
    "etvk.choose_qparams_per_row.default",
    "etvk.test_conv2d_q8ta_q8csw_q8to.default",
    "testing.compute_attn_weight_with_kv_cache.default",
)


@dataclass(frozen=True)
class OperatorRow:
    """One name. ``kind`` is delegate, cpu or refused; ``dtypes`` are those of the first tensor."""

    name: str
    kind: str
    family: str
    dtypes: tuple[str, ...]


def operator_rows() -> list[OperatorRow]:
    """Return all operators: delegated ones, then kernels of the plan, then refused names, each sorted."""
    table = lowerings()
    rows = [OperatorRow(name, "delegate", _family(item.function), item.dtypes) for name, item in table.items()]
    # The graph computes ints on the host and uploads prepacked constants itself.
    rows += [OperatorRow(name, "delegate", "graph", ("int32",)) for name in SYMINT_OPERATORS if name not in table]
    rows += [OperatorRow(PREPACK, "delegate", "graph", ("any",))] * (PREPACK not in table)
    rows += [
        OperatorRow(name, "cpu", _family(item.function), ("any",))
        for name, item in references().items()
        if "::" in name
    ]
    served = {row.name for row in rows}
    rows += [OperatorRow(name, "refused", "", ()) for name in RUNTIME_ONLY if name not in served]
    order = {"delegate": 0, "cpu": 1, "refused": 2}
    return sorted(rows, key=lambda row: (order[row.kind], row.name))


def _family(function: object) -> str:
    """Return the folder below ops/ that defines a function."""
    parts = getattr(function, "__module__", "").split(".")
    return parts[2] if len(parts) > 2 else ""
