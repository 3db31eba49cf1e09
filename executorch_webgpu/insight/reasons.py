"""Why an exporter left an operator on the CPU, where that is known.

Source of the facts: what VulkanPartitioner of ExecuTorch 1.5.1 does with some 1,400 programs.
"""

from __future__ import annotations

import functools

from executorch_webgpu.format.plan import ExecutionPlan, JumpFalseCall, KernelCall, TensorValue
from executorch_webgpu.ops.registry import lowerings

_MASK_PARTS = frozenset({"aten::mul.Scalar_out", "aten::any.dims_out", "aten::any.out", "aten::scalar_tensor.out"})
_NEVER = frozenset({"arange", "cumsum", "fmod", "sort", "topk"})


def has_jumps(plan: ExecutionPlan) -> bool:
    """Return whether a plan has control flow."""
    return any(isinstance(instruction, JumpFalseCall) for chain in plan.chains for instruction in chain)


def why_on_cpu(plan: ExecutionPlan, call: KernelCall, jumps: bool) -> str | None:
    """Return why the partitioner did not take a kernel call, None where it is not known.

    ``jumps`` is what ``has_jumps`` says of the plan.
    """
    operator = plan.operators[call.op_index]
    space, _, stem = operator.name.partition("::")
    tensors = [value for index in call.args if isinstance(value := plan.values[index], TensorValue)]
    dtypes = {tensor.dtype_name for tensor in tensors}
    opaque = sorted({tensor.opaque for tensor in tensors if tensor.opaque is not None})
    if not plan.delegates:
        return "nothing in this method is delegated: it was exported without a partitioner"
    if space == "executorch_prim":
        return "arithmetic of the execution plan itself"
    if opaque:
        return f"{opaque[0]} is not delegated"
    if "float64" in dtypes:
        return "float64 is not delegated"
    if stem == "convolution":
        return _why_convolution(plan, call, tensors)
    if jumps:
        return "control flow (torch.cond, map, while) is not partitioned"
    if operator.full_name in _MASK_PARTS:
        return "as a rule part of scaled_dot_product_attention, whose masking is not delegated"
    if stem in _NEVER:
        return f"{stem} is not delegated"
    if stem == "index" and any(tensor.dtype.name in ("bool", "int64") for tensor in tensors[1:]):
        return "an index with bool or int64 indices is not delegated"
    if f"{space}.{stem}" not in _delegated_stems():
        return f"the Vulkan partitioner has no {stem}"
    if tensors and all(tensor.dtype.kind in "iu" for tensor in tensors):
        return f"{stem} of {tensors[0].dtype.name} is not delegated"
    return None


def _why_convolution(plan: ExecutionPlan, call: KernelCall, tensors: list[TensorValue]) -> str | None:
    if not tensors:
        return None
    sizes = tensors[0].sizes
    transposed = len(call.args) > 6 and plan.values[call.args[6]] is True
    if len(sizes) == 5:
        return "3-d convolutions are not delegated"
    if len(sizes) == 3 and transposed:
        return "transposed 1-d convolutions are not delegated"
    if len(sizes) == 4 and sizes[0] > 1:
        return f"a convolution is delegated for a batch of 1 only; here the batch is {sizes[0]}"
    return None


@functools.cache
def _delegated_stems() -> frozenset[str]:
    return frozenset(name.rsplit(".", 1)[0] for name in lowerings())
