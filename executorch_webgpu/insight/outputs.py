"""What can be said of a method's outputs, and saving them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidArgument

VALUES_LIMIT = 1000
Array = np.ndarray[Any, np.dtype[Any]]


def describe_output(index: int, value: Any) -> dict[str, Any]:
    """Return name, kind, dtype, shape, min, max, mean, argmax over the last axis and the values up to 1,000, in order.

    What JSON has no number for is a string: "nan", "inf", "-inf". NaNs do not count for min, max and mean.
    """
    described: dict[str, Any] = {"name": f"out{index}"}
    if not isinstance(value, np.ndarray):
        kind = "none" if value is None else type(value).__name__
        return {**described, "kind": kind, "value": plain(value)}
    described |= {"kind": "tensor", "dtype": value.dtype.name, "shape": list(value.shape)}
    described |= dict.fromkeys(("min", "max", "mean", "argmax"))
    wide = value.astype(np.float64) if value.dtype.kind == "f" else value
    real = wide[~np.isnan(wide)] if value.dtype.kind == "f" else wide
    if real.size:
        with np.errstate(all="ignore"):
            mean = float(real.mean(dtype=np.float64))
        described |= {"min": plain(real.min()), "max": plain(real.max()), "mean": plain(mean)}
    if value.size and value.ndim:
        described["argmax"] = value.argmax(-1).tolist()
    described["values"] = [plain(item) for item in value.reshape(-1)[:VALUES_LIMIT]]
    return described


def plain(value: Any) -> Any:
    """Return a number, or a list of numbers and arrays, as JSON can hold it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def output_path(text: str) -> Path:
    """Return the .npz file or the folder that outputs can be saved to.

    Raises:
        InvalidArgument: The path is empty or has another suffix.
    """
    path = Path(text)
    if not text or (path.suffix and path.suffix.lower() != ".npz" and not path.is_dir()):
        raise InvalidArgument(f"{text or 'the empty path'}: outputs are written to an .npz file or a folder")
    return path


def save_outputs(path: Path, outputs: Sequence[Any]) -> None:
    """Write the outputs to an .npz file (out0, out1, ...) or a folder (out0.npy, ...); a None is left out.

    Raises:
        InvalidArgument: An output is a list of tensors that make no array.
    """
    arrays = {f"out{i}": _array(f"out{i}", value) for i, value in enumerate(outputs) if value is not None}
    if path.suffix.lower() == ".npz":
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **arrays)  # type: ignore[arg-type]
        return
    path.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(path / f"{name}.npy", array)


def _array(name: str, value: Any) -> Array:
    try:
        return np.asarray(value)
    except ValueError:
        raise InvalidArgument(f"{name} is a list of tensors of several shapes, which cannot be saved") from None
