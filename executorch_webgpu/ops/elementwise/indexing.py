"""How the operands of an elementwise operator are read: dims joined where every operand allows it."""

from __future__ import annotations

from executorch_webgpu.ops.broadcasting import align_right, contiguous_strides
from executorch_webgpu.ops.dispatch import ParamValue
from executorch_webgpu.ops.registry import Shape


def operand_params(out: Shape, operands: dict[str, Shape]) -> dict[str, ParamValue]:
    """Return the members of Params that elementwise/operand.wgsl needs for operands broadcast to ``out``.

    Dims of size 1 go and neighbours are joined where no operand repeats one of the two only, which leaves most
    broadcasts with one or two dims and so with few divisions.
    """
    dims: list[int] = []
    strides: dict[str, list[int]] = {name: [] for name in operands}
    full = {name: _strides(shape, out) for name, shape in operands.items()}
    for axis, size in enumerate(out):
        if size == 1:
            continue
        if dims and all(strides[name][-1] == full[name][axis] * size for name in operands):
            dims[-1] *= size
            for name in operands:
                strides[name][-1] = full[name][axis]
            continue
        dims.append(size)
        for name in operands:
            strides[name].append(full[name][axis])
    params: dict[str, ParamValue] = {
        "rank": len(dims),
        "whole_quads": int(bool(dims) and dims[-1] % 4 == 0),
        "out_dims": align_right(dims, 1),
    }
    for name in operands:
        flat = strides[name] == contiguous_strides(dims)
        params[f"{name}_mode"] = 0 if flat else 1 if not any(strides[name]) else 2
        params[f"{name}_strides"] = align_right(strides[name], 0)
    return params


def _strides(shape: Shape, out: Shape) -> list[int]:
    """Return strides of ``shape`` in the dims of ``out``, 0 where it repeats."""
    own = [0 if size == 1 else stride for size, stride in zip(shape, contiguous_strides(shape), strict=True)]
    return [0] * (len(out) - len(shape)) + own
