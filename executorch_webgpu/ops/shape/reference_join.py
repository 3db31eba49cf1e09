"""The meaning of operators that join, split, repeat and pad."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.ops.promotion import Array, cast, result_type
from executorch_webgpu.ops.registry import Out, reference


@reference("aten.cat.default", "aten::cat.out")
def cat(out: Out, tensors: Sequence[Array], dim: int = 0) -> Array:
    """The tensors one after the other along ``dim``; an empty one of rank 1 is left out whatever its shape."""
    dtype = result_type(*tensors)
    kept = [x for x in tensors if x.shape != (0,)] or [tensors[0]]
    return np.concatenate([cast(x, dtype) for x in kept], axis=dim)


@reference("aten.stack.default", "aten::stack.out")
def stack(out: Out, tensors: Sequence[Array], dim: int = 0) -> Array:
    """The tensors side by side along a new ``dim``."""
    dtype = result_type(*tensors)
    return np.stack([cast(x, dtype) for x in tensors], axis=dim)


def _pieces(x: Array, sizes: Sequence[int], dim: int) -> list[Array]:
    return np.split(x, np.cumsum(sizes)[:-1].tolist(), axis=dim)


@reference("aten.split_copy.Tensor", "aten::split_copy.Tensor_out", outputs=-1)
def split(outs: Sequence[Out], x: Array, split_size: int, dim: int = 0) -> list[Array]:
    """Pieces of ``split_size`` along ``dim``; the last may be smaller."""
    size = x.shape[dim]
    if split_size == 0:
        return [x]
    return _pieces(x, [min(split_size, size - at) for at in range(0, size, split_size)] or [0], dim)


@reference("aten.split_with_sizes_copy.default", "aten::split_with_sizes_copy.out", outputs=-1)
def split_with_sizes(outs: Sequence[Out], x: Array, split_sizes: Sequence[int], dim: int = 0) -> list[Array]:
    """Pieces of the given sizes along ``dim``.

    Raises:
        InvalidArgument: The sizes do not add up to that of the dim.
    """
    if sum(split_sizes) != x.shape[dim]:
        raise InvalidArgument(f"split sizes {list(split_sizes)} do not add up to {x.shape[dim]}")
    return _pieces(x, split_sizes, dim)


@reference("aten.unbind_copy.int", "aten::unbind_copy.int_out", outputs=-1)
def unbind(outs: Sequence[Out], x: Array, dim: int = 0) -> list[Array]:
    """The elements along ``dim``, which goes away."""
    return [np.asarray(item) for item in np.moveaxis(x, dim, 0)]


@reference("aten.repeat.default", "aten::repeat.out")
def repeat(out: Out, x: Array, repeats: Sequence[int]) -> Array:
    """``x`` laid out ``repeats[i]`` times along dim ``i``."""
    return np.tile(x, tuple(repeats)) if len(repeats) else x


@reference("aten.repeat_interleave.self_int")
def repeat_interleave(
    out: Out, x: Array, repeats: int, dim: int | None = None, output_size: int | None = None
) -> Array:
    """Each element along ``dim`` (of the flat tensor without one) ``repeats`` times in a row."""
    return np.repeat(x, repeats, axis=dim)


@reference("aten.repeat_interleave.Tensor", "aten::repeat_interleave.Tensor_out")
def repeat_indices(out: Out, repeats: Array, output_size: int | None = None) -> Array:
    """Index ``i`` ``repeats[i]`` times in a row."""
    return np.repeat(np.arange(repeats.size, dtype=np.int64), repeats)


def _per_dim(pad: Sequence[int], rank: int) -> list[tuple[int, int]]:
    """Return the padding before and after each dim; ``pad`` lists pairs from the last dim backwards."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (rank - len(pairs)) + pairs[::-1]


@reference("aten.constant_pad_nd.default", "aten::constant_pad_nd.out")
def constant_pad(out: Out, x: Array, pad: Sequence[int], value: float | None = 0) -> Array:
    """``x`` with ``value`` around it; negative padding cuts off."""
    pairs = _per_dim(pad, x.ndim)
    kept = x[tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in zip(pairs, x.shape, strict=True))]
    fill = cast(0 if value is None else value, x.dtype)
    return np.pad(kept, [(max(0, a), max(0, b)) for a, b in pairs], constant_values=fill)


def _padded(x: Array, padding: Sequence[int], mode: str) -> Array:
    """Pad through an index for each dim; negative padding cuts off."""
    result = x
    for axis, (before, after) in enumerate(_per_dim(padding, x.ndim)):
        size = x.shape[axis]
        index = np.arange(-before, size + after)
        if mode == "reflect":
            if max(before, after) >= size:
                raise InvalidArgument(f"reflection padding {list(padding)} is not below the size {size} of dim {axis}")
            index = np.abs(index)
            index = np.where(index >= size, 2 * (size - 1) - index, index)
        result = np.take(result, np.clip(index, 0, max(size - 1, 0)), axis=axis)
    return result


@reference(
    "aten.reflection_pad1d.default",
    "aten.reflection_pad2d.default",
    "aten.reflection_pad3d.default",
    "aten::reflection_pad1d.out",
    "aten::reflection_pad2d.out",
    "aten::reflection_pad3d.out",
)
def reflection_pad(out: Out, x: Array, padding: Sequence[int]) -> Array:
    """``x`` continued by its mirror image; the edge is not repeated."""
    return _padded(x, padding, "reflect")


@reference(
    "aten.replication_pad1d.default",
    "aten.replication_pad2d.default",
    "aten.replication_pad3d.default",
    "aten::replication_pad1d.out",
    "aten::replication_pad2d.out",
    "aten::replication_pad3d.out",
)
def replication_pad(out: Out, x: Array, padding: Sequence[int]) -> Array:
    """``x`` continued by its edge."""
    return _padded(x, padding, "edge")
