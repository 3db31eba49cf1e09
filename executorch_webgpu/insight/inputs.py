"""Makes a method's inputs from what a person writes: files, literals, or words such as ``ones``.

A text is ``ones``, ``zeros``, ``random`` or ``random:SEED``; a .npy, .npz, .bin or image file; or a literal in JSON.
``NAME=TEXT`` names the input (in0, in1, ...), else texts count by position. What is not given is ones.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument, NotFound, OutOfResources, counted
from executorch_webgpu.format import identify
from executorch_webgpu.insight.images import IMAGE_SUFFIXES, read_image
from executorch_webgpu.runtime import MethodMeta, TensorInfo

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_RANDOM = re.compile(r"random(:(\d+))?")
_FILE_SUFFIXES = {".npy", ".npz", ".bin", *IMAGE_SUFFIXES}


def make_inputs(
    meta: MethodMeta,
    texts: Sequence[str] = (),
    shapes: Sequence[Shape | None] = (),
    remark: Callable[[str], None] = lambda text: None,
) -> list[Any]:
    """Return the inputs of a method.

    Args:
        meta: The method.
        texts: One text for each given input (see the head of this module).
        shapes: Shapes of the inputs by position for what is generated or raw; None leaves the exported one.
        remark: Is told what a person should know (an image that was resized).

    Raises:
        InvalidArgument: A text, a shape or a file does not suit its input.
        NotFound: A file does not exist.
    """
    count = meta.num_inputs()
    if len(shapes) > count:
        raise InvalidArgument(
            f"method {meta.name()!r} takes {counted(count, 'input')}; given {len(shapes)} input shapes"
        )
    given = _assign(meta, texts)
    inputs = []
    for index in range(count):
        shape = shapes[index] if index < len(shapes) else None
        item = given.get(index, "ones")
        inputs.append(item if isinstance(item, np.ndarray) else _make(meta, index, item, shape, remark))
    return inputs


def _assign(meta: MethodMeta, texts: Sequence[str]) -> dict[int, str | Array]:
    """Return a text, or an array of an .npz file, for each given input."""
    given: dict[int, str | Array] = {}
    place = 0
    for text in texts:
        named = _NAMED.fullmatch(text)
        if named and not Path(text).exists():
            name = re.fullmatch(r"in(\d+)", named[1])
            if name is None:
                raise InvalidArgument(f"there is no input {named[1]!r} ({text}): inputs are named in0, in1, ...")
            _put(meta, given, int(name[1]), named[2])
        elif Path(text).suffix.lower() == ".npz":
            for index, array in _read_npz(meta, text).items():
                _put(meta, given, index, array)
        else:
            while place in given:
                place += 1
            _put(meta, given, place, text)
    return given


def _put(meta: MethodMeta, given: dict[int, str | Array], index: int, item: str | Array) -> None:
    if index >= meta.num_inputs():
        count = counted(meta.num_inputs(), "input")
        raise InvalidArgument(f"there is no input {index}: method {meta.name()!r} takes {count}")
    if index in given:
        raise InvalidArgument(f"input {index} is given twice")
    given[index] = item


def _read_npz(meta: MethodMeta, path: str) -> dict[int, Array]:
    with _existing(path).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except MemoryError as error:
            raise OutOfResources(f"{path}: {error}") from error
        except Exception as error:  # whatever zipfile, zlib and numpy raise at a damaged file
            raise InvalidArgument(f"{path} is not an .npz file of arrays: {error}") from error
    if not arrays:
        raise InvalidArgument(f"{path} holds no arrays; expected in0, in1, ... or one for each input")
    names = [re.fullmatch(r"in(\d+)", name) for name in arrays]
    if all(names):
        return {int(name[1]): array for name, array in zip(names, arrays.values(), strict=True) if name}
    if len(arrays) != meta.num_inputs():
        raise InvalidArgument(
            f"{path} has {counted(len(arrays), 'array')} ({', '.join(arrays)}), not named in0, in1, ...; "
            f"method {meta.name()!r} takes {counted(meta.num_inputs(), 'input')}"
        )
    return dict(enumerate(arrays.values()))


def _make(meta: MethodMeta, index: int, text: str, shape: Shape | None, remark: Callable[[str], None]) -> Any:
    kind = meta.input_kind(index)
    if kind == "tensor":
        return _make_tensor(meta.input_tensor_meta(index), f"input {index}", text, shape, remark)
    if shape is not None:
        raise InvalidArgument(f"input {index} is not a tensor and has no shape: {kind}")
    if text in ("ones", "zeros") or _RANDOM.fullmatch(text):
        # A scalar of the plan must equal the exported value; an int that the plan leaves open may be anything.
        return meta.input_value(index) if kind != "none" else int(text != "zeros")
    if kind == "str":
        return text
    return _literal(text, f"input {index}")


def _make_tensor(info: TensorInfo, where: str, text: str, shape: Shape | None, remark: Callable[[str], None]) -> Array:
    dtype = info.numpy_dtype()
    target = info.sizes() if shape is None else shape
    random = _RANDOM.fullmatch(text)
    if random or text in ("ones", "zeros"):
        try:
            return _random(target, dtype, int(random[2] or 0)) if random else np.full(target, text == "ones", dtype)
        except (MemoryError, OverflowError, ValueError) as error:
            raise OutOfResources(
                f"{where}: {dtype} {list(target)} does not fit into memory (--input-shapes sets another shape)"
            ) from error
    suffix = Path(text).suffix.lower()
    if suffix in _FILE_SUFFIXES and not text.startswith(("[", "{")):
        path = _existing(text)
        if suffix in IMAGE_SUFFIXES:
            return read_image(path, info, where, remark)
        array = _read_bin(path, target, dtype, where) if suffix == ".bin" else _read_npy(path)
        if shape is not None and array.shape != shape:
            raise InvalidArgument(f"{where}: {text} has shape {list(array.shape)}, not {list(shape)}")
        return array
    return _from_literal(_literal(text, where), info, where, text)


def _existing(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise NotFound(f"{text}: no such file")
    return path


def _random(shape: Shape, dtype: np.dtype[Any], seed: int) -> Array:
    generator = np.random.default_rng(seed)
    if dtype.kind == "f":
        return generator.random(shape, np.float32).astype(dtype)
    return generator.integers(0, 2, shape).astype(dtype)


def _read_npy(path: Path) -> Array:
    with path.open("rb") as file:
        try:
            array = np.load(file, allow_pickle=False)
        except MemoryError as error:
            raise OutOfResources(f"{path}: {error}") from error
        except Exception as error:  # whatever numpy raises at a damaged file; its words advise to load pickled objects
            file.seek(0)
            head = file.read(4096)
            found = "damaged, or holds Python objects" if head.startswith(b"\x93NUMPY") else identify(head)
            raise InvalidArgument(f"{path} is not a .npy file of numbers: it is {found}") from error
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"{path} is not a .npy file of numbers but an archive; name it .npz")
    return array


def _read_bin(path: Path, shape: Shape, dtype: np.dtype[Any], where: str) -> Array:
    needed = math.prod(shape) * dtype.itemsize
    size = path.stat().st_size
    if size != needed:
        raise InvalidArgument(
            f"{where}: {path} has {size} bytes; {dtype} {list(shape)} needs {needed} "
            "(--input-shapes sets another shape)"
        )
    return np.fromfile(path, dtype).reshape(shape)


def _literal(text: str, where: str) -> Any:
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except ValueError:
        raise InvalidArgument(
            f"{where}: {text!r} is no literal ([[1, 2]]), no .npy, .npz, .bin or image file, "
            "and not ones, zeros or random"
        ) from None


def _from_literal(value: Any, info: TensorInfo, where: str, text: str) -> Array:
    dtype = info.numpy_dtype()
    try:
        natural = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(f"{where}: {text} is not a tensor: its rows must have one length and fit") from error
    if natural.size == 0:
        return np.empty(natural.shape, dtype)
    fits = {"b": "b", "i": "iuf", "u": "iuf", "f": "f"}.get(natural.dtype.kind, "")
    if dtype.kind not in fits:
        raise InvalidArgument(f"{where} must be {dtype}; {text} does not convert exactly")
    with np.errstate(all="ignore"):
        array = natural.astype(dtype)
        exact = natural.dtype.kind == "f" or bool((array.astype(natural.dtype) == natural).all())
    if not exact:
        raise InvalidArgument(f"{where} must be {dtype}; {text} does not convert exactly")
    if array.ndim == 0 and math.prod(info.sizes()) == 1:
        return array.reshape(info.sizes())
    return array
