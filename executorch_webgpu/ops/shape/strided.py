"""The one way to move elements: a copy that reads with strides. Most operators of this family are one call of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from executorch_webgpu.errors import NotSupported
from executorch_webgpu.ops.broadcasting import contiguous_strides, wrap_dim
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.symbols import IntLike

RANK = 16  # of strided.wgsl: operators such as repeat split each dim in two


@dataclass(frozen=True)
class Axis:
    """One dim of a copy: ``size`` outputs, ``stride`` input elements apart (0 repeats, negative turns round).

    ``low`` and ``valid`` are for padding: the outputs from ``low`` to ``low + valid`` read the input, others the fill.
    """

    size: int
    stride: int
    low: int = 0
    valid: int | None = None

    @property
    def padded(self) -> bool:
        """Whether some outputs lie outside of the input, or the input is shifted."""
        return self.low != 0 or (self.valid is not None and self.valid != self.size)


def axes_of(tensor: Tensor) -> list[Axis]:
    """Return the axes that copy a whole tensor."""
    return [Axis(size, stride) for size, stride in zip(tensor.shape, contiguous_strides(tensor.shape), strict=True)]


def select_axes(ctx: Lowering, x: Tensor, dim: int, index: IntLike) -> tuple[list[Axis], IntLike]:
    """Return the axes that copy slice ``index`` along ``dim`` and where it starts.

    Raises:
        InvalidArgument: The index is outside of the dim; for a live one at the call.
    """
    axes = axes_of(x)
    axis = axes.pop(wrap_dim(dim, x.rank))
    if isinstance(index, int):
        index = wrap_dim(index, axis.size)
    ctx.guard(index, 0, axis.size - 1, f"the index into a dim of size {axis.size}")
    return axes, index * axis.stride


def collapse(axes: Sequence[Axis]) -> list[Axis]:
    """Return the same copy with as few axes as can be: the fewer, the fewer divisions an element."""
    result: list[Axis] = []
    for axis in axes:
        if axis.size == 1 and not axis.padded:
            continue
        outer = result[-1] if result else None
        if outer and not outer.padded and not axis.padded and outer.stride == axis.stride * axis.size:
            result[-1] = Axis(outer.size * axis.size, axis.stride)
        else:
            result.append(axis)
    return result


def same_dtype(x: Tensor, out: Tensor) -> None:
    """Raise NotSupported unless an operator that only moves elements keeps their dtype."""
    if x.dtype != out.dtype:
        raise NotSupported(f"an operator that moves elements is asked to turn {x.dtype} into {out.dtype}")


def strided_copy(
    ctx: Lowering, x: Tensor, out: Tensor, axes: Sequence[Axis], offset: IntLike = 0, fill: tuple[int, int] = (0, 0)
) -> None:
    """Record the copy of ``x`` to ``out``, whose elements in order are those of ``axes``, outermost first.

    ``offset`` is the input element of the first output, possibly live; ``fill`` are the bits of a padding element.
    """
    same_dtype(x, out)
    if out.numel == 0:
        return
    axes = collapse(axes)
    if len(axes) > RANK:
        raise NotSupported(f"a copy along {len(axes)} dims; at most {RANK} are supported")
    padded = any(axis.padded for axis in axes)
    quads = -(-out.numel // 4)
    params: dict[str, IntLike | Sequence[IntLike]] = {
        "quads": quads,
        "count": out.numel,
        "rank": len(axes),
        "offset": offset,
        "dims": _align([axis.size for axis in axes], 1),
        "strides": _align([axis.stride for axis in axes], 0),
    }
    if padded:
        params["fill"] = fill
        params["low"] = _align([axis.low for axis in axes], 0)
        params["size"] = _align([axis.size if axis.valid is None else axis.valid for axis in axes], 1)
    inner = not padded and bool(axes) and axes[-1].size % 4 == 0
    ctx.dispatch(
        "shape/strided.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out},
        params=params,
        defines={
            "BYTES": str(x.dtype.itemsize),
            "PAD": "1" if padded else "",
            "INNER": "1" if inner else "",
        },
    )


def _align(values: Sequence[int], fill: int) -> tuple[int, ...]:
    return (*([fill] * (RANK - len(values))), *values)
