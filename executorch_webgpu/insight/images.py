"""Image files as inputs: scaled to 0..1 and laid out as the input's shape says. Needs the extra ``image``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument, MissingExtra
from executorch_webgpu.runtime import TensorInfo

Array = np.ndarray[Any, np.dtype[Any]]
Bounds = tuple[tuple[int, int], ...]

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"})
_CHANNELS = {1: "L", 3: "RGB"}


def read_image(path: Path, info: TensorInfo, where: str, remark: Callable[[str], None]) -> Array:
    """Return an image as [H, W], [C, H, W], [H, W, C] or these with a batch of 1, C being 1 (grey) or 3 (RGB).

    Floats are scaled to 0..1, uint8 stays 0..255. An image of another size than the input's is resized.

    Raises:
        MissingExtra: pillow is not installed.
        InvalidArgument: The file is no image, or the input's shape is not that of an image.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra(f"{path}: images need the extra 'image': pip install 'executorch-webgpu[image]'") from error
    dtype = info.numpy_dtype()
    if dtype.kind != "f" and dtype.name != "uint8":
        raise InvalidArgument(f"{where} is {dtype}; an image gives float or uint8 values")
    channels, first, (rows, columns) = _layout(info.bounds(), where)
    try:
        with Image.open(path) as opened:
            # 16 bits a pixel would be cut off, not scaled, by convert.
            shallow = opened.point(lambda value: value / 257) if opened.mode.startswith("I") else opened
            picture = shallow.convert(_CHANNELS[channels])
    except Exception as error:  # whatever the decoder of a format raises at a damaged file
        raise InvalidArgument(f"{path} is not an image that can be read: {error}") from error
    width, height = (min(max(size, low), high) for size, (low, high) in zip(picture.size, (columns, rows), strict=True))
    if picture.size != (width, height):
        remark(f"{path}: resized from {picture.width}x{picture.height} to {width}x{height}")
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    pixels = np.asarray(picture).reshape(height, width, channels)
    scaled = pixels if dtype.name == "uint8" else (pixels.astype(np.float32) / 255).astype(dtype)
    rank = len(info.bounds())
    laid = scaled[:, :, 0] if rank == 2 else scaled.transpose(2, 0, 1) if first else scaled
    return np.ascontiguousarray(laid[np.newaxis] if rank == 4 else laid)


def _layout(bounds: Bounds, where: str) -> tuple[int, bool, Bounds]:
    """Return channels, whether they come before rows and columns, and the bounds of rows and columns."""
    dims = bounds[1:] if len(bounds) == 4 and bounds[0][0] <= 1 else bounds
    if len(dims) == 2:
        return 1, True, dims
    if len(dims) == 3 and len(bounds) in (3, 4):
        for axis, rest in ((0, dims[1:]), (2, dims[:2])):
            if dims[axis][1] in _CHANNELS:
                return dims[axis][1], axis == 0, rest
    sizes = [high for _, high in bounds]
    raise InvalidArgument(
        f"{where} has shape {sizes}; an image fits [H, W], [C, H, W] or [H, W, C] with C 1 or 3, with or without a "
        "batch of 1"
    )
