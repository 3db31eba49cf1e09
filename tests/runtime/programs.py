"""The exported programs of tests/fixtures/plan and the calls that eager PyTorch answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from executorch_webgpu import Program, load

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "plan"


def path(name: str) -> Path:
    """Return the file of a program."""
    return FIXTURES / f"{name}.pte"


def open_fixture(name: str, device: str = "cpu") -> Program:
    """Load a program."""
    return load(path(name), device=device)


def calls(name: str) -> list[tuple[str, list[Any], list[Any]]]:
    """Return (method, inputs, outputs) of every call."""
    told = json.loads((FIXTURES / f"{name}.json").read_text())["calls"]
    return [
        (call["method"], [_value(v) for v in call["inputs"]], [_value(v) for v in call["outputs"]]) for call in told
    ]


def _value(told: Any) -> Any:
    if isinstance(told, dict):
        return np.array(told["values"], told["dtype"]).reshape(told["shape"])
    return told


def assert_equal(got: list[Any], expected: list[Any], tolerance: float = 1e-6) -> None:
    """Fail unless values, shapes and dtypes agree."""
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        if isinstance(b, np.ndarray):
            assert isinstance(a, np.ndarray)
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            assert a == b
            assert type(a) is type(b)
