"""Scalars of a blob under the types that an operator's function asks for.

The exporter stores scalars that are equal in Python once: where 0.0 came first, a dim of 0 arrives as the float 0.0.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

_INT = re.compile(r"\b(int|IntLike)\b")
_FLOAT = re.compile(r"\bfloat\b")


@functools.lru_cache(maxsize=4096)
def int_parameters(function: Callable[..., Any]) -> tuple[bool, ...]:
    """Return for each parameter after the first whether it takes ints (or lists of them) and no floats."""
    annotations = [str(parameter.annotation) for parameter in inspect.signature(function).parameters.values()]
    return tuple(bool(_INT.search(text)) and not _FLOAT.search(text) for text in annotations[1:])


def with_ints(function: Callable[..., Any], args: Sequence[Any]) -> list[Any]:
    """Return the arguments that follow the first parameter, whole floats as ints where ``function`` takes ints."""
    takes = int_parameters(function)
    return [_int(arg) if index < len(takes) and takes[index] else arg for index, arg in enumerate(args)]


def _int(value: Any) -> Any:
    if isinstance(value, list):
        return [_int(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
