"""Lowerings of max and average pooling in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import lowering

Pair = tuple[int, int]


def pair(values: Sequence[int], default: Pair | None = None) -> Pair:
    """Return (height, width) from a list of two, of one that counts for both, or of none: ``default``."""
    if len(values) == 0 and default is not None:
        return default
    if len(values) not in (1, 2):
        raise InvalidProgram(f"{list(values)} is not a value for height and width")
    return int(values[0]), int(values[-1])


def _outputs(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Return the windows along one dim; in ceil mode one may hang over the end, but must start inside."""
    free = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (free + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    if count <= 0:
        raise InvalidProgram(f"a window of {kernel} does not fit in {size} with padding {padding}")
    return count


def _out_size(size: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair, ceil_mode: bool) -> Pair:
    height, width = (
        _outputs(size[axis], kernel[axis], stride[axis], padding[axis], dilation[axis], ceil_mode) for axis in (0, 1)
    )
    return height, width


@lowering("aten.max_pool2d_with_indices.default", "aten.max_pool2d.default")
def max_pool2d(
    ctx: Lowering,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> None:
    """The largest value of each window, and where the program asks for it its place in the plane."""
    kernel = pair(kernel_size)
    steps, pads, gaps = pair(stride, kernel), pair(padding), pair(dilation)
    size = (x.shape[-2], x.shape[-1])
    out_size = _out_size(size, kernel, steps, pads, gaps, ceil_mode)
    out = ctx.out((*x.shape[:-2], *out_size))
    bindings = {"x": x, "out": out}
    index = ""
    if len(ctx.outs) > 1:
        if 0 in ctx.outs[1].shape:  # the exporter leaves an unused output without elements
            ctx.out(ctx.outs[1].shape, 1)
        else:
            bindings["index"] = ctx.out(out.shape, 1)
            index = bindings["index"].dtype.name
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "pooling/max_pool.wgsl",
        grid=threads_1d(quads),
        bindings=bindings,
        params={
            "quads": quads,
            "count": out.numel,
            "size": size,
            "out_size": out_size,
            "kernel": kernel,
            "stride": steps,
            "padding": pads,
            "dilation": gaps,
        },
        defines={"X": x.dtype.name, "INDEX": index},
    )


@lowering("aten.avg_pool2d.default")
def avg_pool2d(
    ctx: Lowering,
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> None:
    """The mean of each window."""
    kernel = pair(kernel_size)
    steps, pads = pair(stride, kernel), pair(padding)
    size = (x.shape[-2], x.shape[-1])
    out_size = _out_size(size, kernel, steps, pads, (1, 1), ceil_mode)
    out = ctx.out((*x.shape[:-2], *out_size))
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "pooling/avg_pool.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            "include_padding": int(count_include_pad),
            "divisor": int(divisor_override or 0),
            "size": size,
            "out_size": out_size,
            "kernel": kernel,
            "stride": steps,
            "padding": pads,
        },
        defines={"X": x.dtype.name},
    )
