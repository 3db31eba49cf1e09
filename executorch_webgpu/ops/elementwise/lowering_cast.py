"""Copies: a new name for the same elements where the dtype stays, a kernel where it changes."""

from __future__ import annotations

from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor, threads_1d
from executorch_webgpu.ops.registry import ALL, Shape, lowering, renaming


@renaming(
    "aten.clone.default",
    "aten._to_copy.default",
    "aten.alias_copy.default",
    "dim_order_ops._to_dim_order_copy.default",
    "dim_order_ops._clone_dim_order.default",
)
def copy(ctx: Lowering, x: Tensor, *options: object) -> Shape:
    """The same elements; the graph compiles ``cast`` where the output has another dtype."""
    return x.shape


@lowering("cast", dtypes=ALL)
def cast(ctx: Lowering, x: Tensor, shape: Shape) -> None:
    """Convert ``x`` to the output's dtype at ``shape``, which has as many elements."""
    out = ctx.out(shape)
    if out.numel == 0:
        return
    quads = -(-out.numel // 4)
    ctx.dispatch(
        "elementwise/cast.wgsl",
        grid=threads_1d(quads),
        bindings={"x": x, "out": out},
        params={"quads": quads},
        defines={
            "X": x.dtype.name,
            "OUT": out.dtype.name,
            "FROM": "f32" if x.dtype.kind == "f" else "i32",
            "TO": "f32" if out.dtype.kind == "f" else "i32",
        },
    )


@lowering("aten.copy.default", dtypes=ALL)
def copy_into(ctx: Lowering, destination: Tensor, source: Tensor, non_blocking: object = None) -> None:
    """The elements of ``source``: an exporter writes it only where both sides have one shape and dtype."""
    cast(ctx, source, destination.shape)
