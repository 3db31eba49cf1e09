"""Reads strings and vectors of verified flatbuffers, and words what is wrong with a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from executorch_webgpu.errors import ExecuTorchError

Error = TypeVar("Error", bound=ExecuTorchError)
_SHOWN = 100  # characters of a name in a message, at most
_LISTED = 16  # numbers of a list in a message, at most: no tensor has more dims


def damaged(error: type[Error], what: str, why: str) -> Error:
    """Return the error for a file (or a part of it) whose contents contradict themselves."""
    return error(f"{what} is damaged: {why}; copy or export it again")


def text(value: bytes | None) -> str:
    """Return a string, empty where the file has none."""
    return value.decode("utf-8") if value else ""


def name_of(value: bytes | None, what: str, fail: Callable[[str], ExecuTorchError]) -> str:
    """Return the name of ``what``, which must have one that a line of text can hold: messages quote it as it is."""
    found = text(value)
    if not found:
        raise fail(f"{what} has no name")
    if not found.isprintable():
        raise fail(f"{what} has the name {shown(found)}, expected one that can be printed")
    return found


def numbers(count: int, as_numpy: Callable[[], Any]) -> tuple[Any, ...]:
    """Return a vector of ``count`` numbers; ``as_numpy`` is the accessor that gives it as an array."""
    return tuple(as_numpy().tolist()) if count else ()


def shown(name: str) -> str:
    """Return a name as a message quotes it: on one line and not too long."""
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


def listed(items: Sequence[int]) -> str:
    """Return numbers as a message shows them."""
    return str(list(items)) if len(items) <= _LISTED else f"{list(items[:8])}... ({len(items)} numbers)"


def checked_indices(
    items: tuple[int, ...], count: int, what: str, fail: Callable[[str], ExecuTorchError]
) -> tuple[int, ...]:
    """Return ``items`` if all are at least 0 and below ``count``; ``what`` names one of them in the error."""
    if items and (min(items) < 0 or max(items) >= count):
        wrong = next(item for item in items if not 0 <= item < count)
        raise fail(f"{what} is value {wrong} of {count}")
    return items
