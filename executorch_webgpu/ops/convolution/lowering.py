"""Lowerings of convolutions: as matrix products where there are channels enough, else depthwise or value by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.matmul.product import Epilogue, Image, Product, Shape, record
from executorch_webgpu.ops.registry import lowering

Pair = tuple[int, int]
LEAST_CHANNELS = 8  # outputs of a group below which tiles of a product are mostly idle
SMALL_PLANE = 1024  # output pixels below which a depthwise invocation makes one value: there are too few of four


@dataclass(frozen=True)
class Geometry:
    """A convolution in two dimensions; one dimension counts as height 1. Pairs are (height, width)."""

    batch: int
    channels: int
    out_channels: int
    groups: int
    size: Pair
    out_size: Pair
    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair
    transposed: bool

    @property
    def pointwise(self) -> bool:
        """Whether every output pixel reads the input pixel at its own place alone."""
        plain = (self.kernel, self.stride, self.padding) == ((1, 1), (1, 1), (0, 0))
        return plain and not self.transposed and self.size == self.out_size

    @property
    def depthwise(self) -> bool:
        """Whether every output channel reads one input channel."""
        return self.groups == self.channels and not self.transposed


@dataclass(frozen=True)
class After:
    """What follows the sums: a bias a channel, an addend of the output's shape, and bounds."""

    bias: Tensor | None = None
    low: float = -float("inf")
    high: float = float("inf")
    residual: Tensor | None = None


def choose(geometry: Geometry) -> str:
    """Return the kind of kernel: depthwise, product or direct."""
    if geometry.depthwise:
        return "depthwise"
    if geometry.transposed or geometry.out_channels // geometry.groups < min(LEAST_CHANNELS, geometry.out_channels):
        return "direct"
    return "product"


def geometry_of(
    x: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Geometry:
    """Return the geometry that a convolution's arguments describe.

    Raises:
        InvalidProgram: The shapes do not fit each other.
    """
    dims = weight.rank - 2
    if dims not in (1, 2) or x.rank not in (dims + 1, dims + 2):
        raise InvalidProgram(f"a convolution of {list(x.shape)} with weights {list(weight.shape)}")
    batch, channels = (x.shape[0], x.shape[1]) if x.rank == dims + 2 else (1, x.shape[0])
    out_channels = weight.shape[1] * groups if transposed else weight.shape[0]
    ins = weight.shape[0] if transposed else weight.shape[1] * groups
    if groups < 1 or ins != channels or out_channels % groups:
        raise InvalidProgram(
            f"weights {list(weight.shape)} in {groups} groups do not fit {channels} channels of {list(x.shape)}"
        )
    size, kernel = _pair(x.shape[-dims:], 1), _pair(weight.shape[2:], 1)
    steps, pads = _pair(_spread(stride, dims), 1), _pair(_spread(padding, dims), 0)
    gaps, extra = _pair(_spread(dilation, dims), 1), _pair(_spread(output_padding, dims), 0)
    height, width = (
        (size[i] - 1) * steps[i] - 2 * pads[i] + gaps[i] * (kernel[i] - 1) + extra[i] + 1
        if transposed
        else (size[i] + 2 * pads[i] - gaps[i] * (kernel[i] - 1) - 1) // steps[i] + 1
        for i in (0, 1)
    )
    if height < 0 or width < 0:
        raise InvalidProgram(f"a kernel of {list(kernel)} does not fit in {list(size)} with padding {list(pads)}")
    return Geometry(
        batch, channels, out_channels, groups, size, (height, width), kernel, steps, pads, gaps, bool(transposed)
    )


def _spread(values: Sequence[int], dims: int) -> tuple[int, ...]:
    """Return one value a dim; a single one counts for all."""
    return tuple(values) if len(values) == dims else tuple(values) * dims


def _pair(values: Sequence[int], fill: int) -> Pair:
    return (values[0], values[1]) if len(values) == 2 else (fill, values[0])


def _out_shape(x: Tensor, weight: Tensor, geometry: Geometry) -> tuple[int, ...]:
    """Return the shape of the result: one or two dimensions, with a batch dim where ``x`` has one."""
    spatial = geometry.out_size if weight.rank == 4 else geometry.out_size[1:]
    batch = (geometry.batch,) if x.rank == weight.rank else ()
    return (*batch, geometry.out_channels, *spatial)


def convolve(ctx: Lowering, x: Tensor, weight: Tensor, out: Tensor, geometry: Geometry, after: After) -> None:
    """Record a convolution into ``out``."""
    if out.numel == 0:
        return
    match choose(geometry):
        case "depthwise":
            _depthwise(ctx, x, weight, out, geometry, after)
        case "product":
            _product(ctx, x, weight, out, geometry, after)
        case _:
            _direct(ctx, x, weight, out, geometry, after)


def _product(ctx: Lowering, x: Tensor, weight: Tensor, out: Tensor, geometry: Geometry, after: After) -> None:
    """Weights times pixels, ``[out, in * taps] x [in * taps, pixels]``, for each image and group."""
    groups = geometry.groups
    ins, m = geometry.channels // groups, geometry.out_channels // groups
    taps = geometry.kernel[0] * geometry.kernel[1]
    n = geometry.out_size[0] * geometry.out_size[1]
    k = ins * taps
    single = geometry.pointwise and n == 1 and groups == 1
    epilogue = Epilogue(
        bias=after.bias,
        # One pixel: the image is the row of a matrix, and the weights lie as those of a linear layer.
        bias_strides=(0, 0, 1) if single else (m, 1, 0),
        low=after.low,
        high=after.high,
        residual=after.residual,
    )
    if single:
        shape = Shape(1, geometry.batch, m, k, "nk")
        record(ctx, Product(shape, x, weight, out, period=1, b_batch=0, epilogue=epilogue))
        return
    image = None
    if not geometry.pointwise:
        image = Image(
            kernel=geometry.kernel,
            size=geometry.size,
            out_width=geometry.out_size[1],
            stride=geometry.stride,
            padding=geometry.padding,
            dilation=geometry.dilation,
        )
    shape = Shape(geometry.batch * groups, m, n, k, "image" if image else "kn")
    step = ins * geometry.size[0] * geometry.size[1]
    record(ctx, Product(shape, weight, x, out, period=groups, b_batch=step, epilogue=epilogue, image=image))


def _depthwise(ctx: Lowering, x: Tensor, weight: Tensor, out: Tensor, geometry: Geometry, after: After) -> None:
    wide = geometry.out_size[1] % 4 == 0
    small = geometry.out_size[0] * geometry.out_size[1] < SMALL_PLANE
    one = not wide and small and out.dtype.itemsize == 4
    invocations = out.numel if one else -(-out.numel // 4)
    bindings = {"x": x, "weight": weight, "out": out}
    if after.bias is not None:
        bindings["bias"] = after.bias
    ctx.dispatch(
        "convolution/depthwise.wgsl",
        grid=threads_1d(invocations),
        bindings=bindings,
        params={
            "invocations": invocations,
            "count": out.numel,
            "out_channels": geometry.out_channels,
            "multiplier": geometry.out_channels // geometry.channels,
            "low": after.low,
            "high": after.high,
            "size": geometry.size,
            "out_size": geometry.out_size,
            "stride": geometry.stride,
            "padding": geometry.padding,
            "dilation": geometry.dilation,
        },
        defines={
            "X": x.dtype.name,
            "W": weight.dtype.name,
            "OUT": out.dtype.name,
            "BIAS": after.bias.dtype.name if after.bias is not None else "",
            "KERNEL_H": str(geometry.kernel[0]),
            "KERNEL_W": str(geometry.kernel[1]),
            "ROW": "1" if wide else "",
            "ONE": "1" if one else "",
        },
    )


def _direct(ctx: Lowering, x: Tensor, weight: Tensor, out: Tensor, geometry: Geometry, after: After) -> None:
    quads = -(-out.numel // 4)
    bindings = {"x": x, "weight": weight, "out": out}
    if after.bias is not None:
        bindings["bias"] = after.bias
    ctx.dispatch(
        "convolution/direct.wgsl",
        grid=threads_1d(quads),
        bindings=bindings,
        params={
            "quads": quads,
            "count": out.numel,
            "channels": geometry.channels,
            "out_channels": geometry.out_channels,
            "groups": geometry.groups,
            "low": after.low,
            "high": after.high,
            "size": geometry.size,
            "out_size": geometry.out_size,
            "kernel": geometry.kernel,
            "stride": geometry.stride,
            "padding": geometry.padding,
            "dilation": geometry.dilation,
        },
        defines={
            "X": x.dtype.name,
            "W": weight.dtype.name,
            "OUT": out.dtype.name,
            "BIAS": after.bias.dtype.name if after.bias is not None else "",
            "TRANSPOSED": "1" if geometry.transposed else "",
        },
    )


@lowering("aten.convolution.default", "et_vk.conv_with_clamp.default", "conv_with_clamp.default")
def convolution(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_min: float | None = None,
    output_max: float | None = None,
) -> None:
    """A convolution of an image or a sequence, its values then limited to ``output_min`` and ``output_max``."""
    geometry = geometry_of(x, weight, stride, padding, dilation, transposed, output_padding, groups)
    out = ctx.out(_out_shape(x, weight, geometry))
    after = After(
        bias=bias,
        low=-float("inf") if output_min is None else float(output_min),
        high=float("inf") if output_max is None else float(output_max),
    )
    convolve(ctx, x, weight, out, geometry, after)


def _add_to(ctx: Lowering, residual: Tensor, x: Tensor, weight: Tensor, geometry: Geometry, after: After) -> bool:
    """Record a convolution with an addend, unless its kernel takes none or the addend is broadcast."""
    shape = _out_shape(x, weight, geometry)
    if choose(geometry) != "product" or residual.shape != shape or ctx.outs[0].dtype != x.dtype:
        return False
    convolve(ctx, x, weight, ctx.out(shape), geometry, after)
    return True


@lowering("fused.conv_add")
def conv_add(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    residual: Tensor,
) -> bool:
    """``convolution(x) + residual``."""
    geometry = geometry_of(x, weight, stride, padding, dilation, transposed, output_padding, groups)
    return _add_to(ctx, residual, x, weight, geometry, After(bias, residual=residual))


@lowering("fused.conv_add_relu")
def conv_add_relu(
    ctx: Lowering,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    residual: Tensor,
) -> bool:
    """``relu(convolution(x) + residual)``."""
    geometry = geometry_of(x, weight, stride, padding, dilation, transposed, output_padding, groups)
    return _add_to(ctx, residual, x, weight, geometry, After(bias, low=0.0, residual=residual))
