"""Lowerings of upsampling, grid sampling and anchor points."""

from __future__ import annotations

from collections.abc import Sequence

from executorch_webgpu.errors import InvalidProgram, NotSupported
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import NUMBERS, lowering
from executorch_webgpu.ops.symbols import IntLike

Pair = tuple[int, int]


def _output_size(
    ctx: Lowering, size: Pair, output_size: Sequence[IntLike] | None, scale_factors: Sequence[float] | None
) -> Pair:
    """Return (height, width) of the result from the one of the two arguments that is given."""
    if output_size is not None and len(output_size) == 2:
        return ctx.pin(output_size[0]), ctx.pin(output_size[1])
    if scale_factors is not None and len(scale_factors) == 2:
        return int(size[0] * scale_factors[0]), int(size[1] * scale_factors[1])
    raise InvalidProgram("an upsampling has neither an output size nor scale factors for height and width")


def _ratio(size: int, out_size: int, factor: float | None) -> float:
    """Return input pixels per output pixel: of the factor where there is one, which need not divide evenly."""
    return 1.0 / factor if factor is not None and factor > 0 else size / out_size


def _upsample(
    ctx: Lowering, x: Tensor, out: Tensor, mode: str, scale: tuple[float, float], align_corners: bool = False
) -> None:
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "resampling/upsample.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            "align_corners": int(align_corners),
            "size": x.shape[-2:],
            "out_size": out.shape[-2:],
            "scale": scale,
        },
        defines={"X": x.dtype.name, "MODE": mode},
    )


def _factors(output_size: Sequence[IntLike] | None, scale_factors: Sequence[float] | None) -> Sequence[float | None]:
    return (None, None) if output_size is not None or not scale_factors else scale_factors


@lowering("aten.upsample_nearest2d.vec")
def upsample_nearest2d(
    ctx: Lowering, x: Tensor, output_size: Sequence[IntLike] | None, scale_factors: Sequence[float] | None = None
) -> None:
    """Each output pixel is the input pixel at ``floor(position * size / output size)``."""
    size = (x.shape[-2], x.shape[-1])
    out_size = _output_size(ctx, size, output_size, scale_factors)
    given = _factors(output_size, scale_factors)
    out = ctx.out((*x.shape[:-2], *out_size))
    # Whole ratios as PyTorch takes them, whatever the factor says.
    ratios = [
        1.0 if many == few else 0.5 if many == 2 * few else _ratio(few, many, factor)
        for few, many, factor in zip(size, out_size, given, strict=True)
    ]
    _upsample(ctx, x, out, "nearest", (ratios[0], ratios[1]))


@lowering("aten.upsample_bilinear2d.vec")
def upsample_bilinear2d(
    ctx: Lowering,
    x: Tensor,
    output_size: Sequence[IntLike] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None = None,
) -> None:
    """The mean of the four nearest input pixels, weighted by their distance."""
    size = (x.shape[-2], x.shape[-1])
    out_size = _output_size(ctx, size, output_size, scale_factors)
    given = _factors(output_size, scale_factors)
    out = ctx.out((*x.shape[:-2], *out_size))
    ratios = [
        ((few - 1) / (many - 1) if many > 1 else 0.0) if align_corners else _ratio(few, many, factor)
        for few, many, factor in zip(size, out_size, given, strict=True)
    ]
    _upsample(ctx, x, out, "bilinear", (ratios[0], ratios[1]), align_corners)


@lowering("aten.grid_sampler_2d.default")
def grid_sampler_2d(
    ctx: Lowering, x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> None:
    """Bilinear samples with border padding and aligned corners, the one form that is delegated."""
    if (interpolation_mode, padding_mode, bool(align_corners)) != (0, 1, True):
        raise NotSupported(
            "grid_sampler_2d is supported with bilinear interpolation (0), border padding (1) and align_corners; "
            f"given {interpolation_mode}, {padding_mode}, {bool(align_corners)}"
        )
    batch, channels, height, width = x.shape
    out = ctx.out((batch, channels, *grid.shape[1:3]))
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "resampling/grid_sample.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "grid": grid, "out": out},
        params={
            "quads": quads,
            "count": out.numel,
            "channels": channels,
            "out_plane": out.shape[2] * out.shape[3],
            "size": (height, width),
        },
        defines={"X": x.dtype.name, "GRID": grid.dtype.name},
    )


@lowering("et_vk.grid_priors.default", dtypes=NUMBERS)
def grid_priors(ctx: Lowering, x: Tensor, stride: int, offset: float) -> None:
    """The points ``((column + offset) * stride, (row + offset) * stride)`` of the pixels of ``x``, row by row."""
    height, width = x.shape[-2:]
    out = ctx.out((height * width, 2))
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "resampling/grid_priors.wgsl",
        grid=threads_1d(quads),
        bindings={"out": out},
        params={"quads": quads, "width": width, "stride": float(stride), "offset": float(offset)},
        defines={"OUT": out.dtype.name},
    )
