"""Records matrix products: which kernel for which shape, and the parameters that all kernels share.

A product is ``a[m, k] x b[k, n]`` for each of ``batch`` independent ``z``. Convolutions are products too: the weights
are ``a``, the image (or its patches) is ``b``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from executorch_webgpu.errors import OutOfResources
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import MAX_GRID, DeviceFacts, ParamValue, Tensor, threads_1d
from executorch_webgpu.ops.matmul.variants import Block, Rows, Tile, Variant, choose

INFINITY = float("inf")


@dataclass(frozen=True)
class Shape:
    """The sizes of a product. ``layout`` of ``b``: kn, nk, or image for the patches of a convolution."""

    batch: int
    m: int
    n: int
    k: int
    layout: str = "kn"


@dataclass(frozen=True)
class Epilogue:
    """What becomes of the sums: ``clamp(alpha * sum + beta * bias + residual, low, high)``.

    ``bias_strides`` are the elements of ``bias`` from one product, row and column to the next.
    """

    bias: Tensor | None = None
    bias_strides: tuple[int, int, int] = (0, 0, 0)
    alpha: float = 1.0
    beta: float = 1.0
    low: float = -INFINITY
    high: float = INFINITY
    residual: Tensor | None = None


@dataclass(frozen=True)
class Image:
    """How the rows of ``b`` are patches of an image: sizes and steps as (height, width)."""

    kernel: tuple[int, int]
    size: tuple[int, int]
    out_width: int
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]


@dataclass(frozen=True)
class Product:
    """One call. Product ``z`` reads ``a`` from ``(z % period) * m * k`` and ``b`` from ``z * b_batch``."""

    shape: Shape
    a: Tensor
    b: Tensor
    out: Tensor
    period: int
    b_batch: int
    epilogue: Epilogue = field(default_factory=Epilogue)
    image: Image | None = None


def record(ctx: Lowering, product: Product, variant: Variant | None = None) -> None:
    """Record a product with the kernel that ``choose`` finds best, or with ``variant``."""
    shape = product.shape
    if product.out.numel == 0:
        return
    if variant is None:
        variant = choose(shape.batch, shape.m, shape.n, shape.k, shape.layout, ctx.facts)
    # Half rows that do not start at whole words cannot be written in parts.
    ragged = product.out.dtype.itemsize < 4 and shape.n % 4 != 0
    if variant.splits > 1 or ragged:
        partial = ctx.scratch((shape.batch * variant.splits, shape.m, shape.n))
        _check_size(ctx.facts, partial)
        _dispatch(ctx, replace(product, out=partial), variant, partial=True)
        _finish(ctx, product, partial, variant.splits)
    else:
        _dispatch(ctx, product, variant, partial=False)


def _check_size(facts: DeviceFacts, tensor: Tensor) -> None:
    if tensor.nbytes > facts.max_binding_bytes:
        raise OutOfResources(
            f"partial sums of shape {list(tensor.shape)} take {tensor.nbytes} bytes; "
            f"the limit is {facts.max_binding_bytes} bytes a binding"
        )


def _dispatch(ctx: Lowering, product: Product, variant: Variant, *, partial: bool) -> None:
    shape = product.shape
    a, b, out = product.a, product.b, product.out
    chunk = variant.slice_depth
    per_split = -(-shape.k // (variant.splits * chunk)) * chunk
    params: dict[str, ParamValue] = {
        "m": shape.m,
        "n": shape.n,
        "k": shape.k,
        "period": product.period,
        "a_batch": shape.m * shape.k,
        "b_batch": product.b_batch,
        "splits": variant.splits,
        "per_split": per_split,
    }
    defines = {
        "A": a.dtype.name,
        "B": b.dtype.name,
        "OUT": out.dtype.name,
        "A_VEC": _flag(shape.k % 4 == 0),
        "B_LAYOUT": shape.layout,
        "B_VEC": _flag((shape.k if shape.layout == "nk" else shape.n) % 4 == 0),
        "N_VEC": _flag(shape.n % 4 == 0),
        "PARTIAL": _flag(partial),
    }
    bindings = {"a": a, "b": b, "out": out}
    if not partial:
        _add_epilogue(product.epilogue, params, defines, bindings)
    if product.image is not None:
        image = product.image
        defines |= {"KERNEL_H": str(image.kernel[0]), "KERNEL_W": str(image.kernel[1])}
        params |= {
            "out_width": image.out_width,
            "size": image.size,
            "stride": image.stride,
            "padding": image.padding,
            "dilation": image.dilation,
        }
    shader, columns, rows, more = _kernel(variant)
    across, down, deep = -(-shape.n // columns), -(-shape.m // rows), shape.batch * variant.splits
    if max(across, down, deep) > MAX_GRID:
        raise OutOfResources(f"a product of {shape} needs more than {MAX_GRID} workgroups in a dimension")
    ctx.dispatch(shader, grid=(across, down, deep), bindings=bindings, params=params, defines=defines | more)


def _kernel(variant: Variant) -> tuple[str, int, int, dict[str, str]]:
    """Return the shader, the columns and rows of one workgroup and the defines of a variant."""
    match variant:
        case Tile():
            defines = {
                "ROWS": str(variant.rows),
                "COLUMNS": str(variant.columns),
                "SLICE": str(variant.depth),
                "GROUPS": str(variant.groups),
                "MICRO": str(variant.micro),
                "LOADS": str(variant.loads),
                "TILE": str(variant.workgroup_bytes // 16),
                "INVOCATIONS": str(variant.invocations),
            }
            return "matmul/tiled.wgsl", variant.columns, variant.rows, defines
        case Rows():
            return "matmul/rows.wgsl", 4, variant.rows, {"ROWS": str(variant.rows)}
        case Block():
            return "matmul/block.wgsl", 64, 64, {}


def _add_epilogue(
    epilogue: Epilogue, params: dict[str, ParamValue], defines: dict[str, str], bindings: dict[str, Tensor]
) -> None:
    bias, residual = epilogue.bias, epilogue.residual
    params |= {
        "alpha": epilogue.alpha,
        "beta": epilogue.beta,
        "low": epilogue.low,
        "high": epilogue.high,
        "bias_strides": (*epilogue.bias_strides, 0),
    }
    defines |= {
        "CLAMP": _flag(epilogue.low != -INFINITY or epilogue.high != INFINITY),
        "BIAS": bias.dtype.name if bias is not None else "",
        "RESIDUAL": residual.dtype.name if residual is not None else "",
    }
    if bias is not None:
        bindings["bias"] = bias
    if residual is not None:
        bindings["residual"] = residual


def _finish(ctx: Lowering, product: Product, partial: Tensor, splits: int) -> None:
    shape, out = product.shape, product.out
    quads = -(-out.numel // 4)
    params: dict[str, ParamValue] = {
        "quads": quads,
        "count": out.numel,
        "splits": splits,
        "m": shape.m,
        "n": shape.n,
        "period": product.period,
    }
    defines = {"OUT": out.dtype.name, "N_VEC": "1", "PARTIAL": ""}
    bindings = {"partial": partial, "out": out}
    _add_epilogue(product.epilogue, params, defines, bindings)
    ctx.dispatch("matmul/finish.wgsl", grid=threads_1d(quads), bindings=bindings, params=params, defines=defines)


def _flag(on: bool) -> str:
    return "1" if on else ""
