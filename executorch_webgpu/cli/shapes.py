"""Shapes on the command line: ``1x3x224x224``, ``scalar`` for rank 0, several with commas."""

from __future__ import annotations

import re

import click

_SHAPE = re.compile(r"\d+(x\d+)*")
Shapes = list[tuple[int, ...] | None]


def parse_shapes(_ctx: click.Context, _param: click.Parameter, value: str | tuple[str, ...] | None) -> Shapes:
    """Return the shapes of an option's value (or values); None for one that is left empty."""
    texts = () if value is None else (value,) if isinstance(value, str) else value
    if any(not text.strip() for text in texts):
        raise click.BadParameter("it is empty; expected shapes such as 1x3,2x4")
    return [_parse(part.strip().lower()) for text in texts for part in text.split(",")]


def _parse(text: str) -> tuple[int, ...] | None:
    if not text:
        return None
    if text == "scalar":
        return ()
    if not _SHAPE.fullmatch(text):
        raise click.BadParameter(f"{text!r} is not a shape such as 1x3x224x224 (or 'scalar')")
    return tuple(map(int, text.split("x")))
