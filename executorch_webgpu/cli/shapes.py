"""Shapes on the command line: ``1x3x224x224``, ``scalar`` for rank 0, several with commas."""

from __future__ import annotations

import re

import click

_SHAPE = re.compile(r"\d+(x\d+)*")


class ShapesType(click.ParamType):
    """A list of shapes, None for one that is left empty."""

    name = "shapes"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return how the value is written in help."""
        return "1x3,2x4"

    def convert(
        self, value: str | list[tuple[int, ...] | None], param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[int, ...] | None]:
        """Return the shapes of ``value``."""
        if isinstance(value, list):
            return value
        return [self._one(part.strip().lower(), param, ctx) for part in value.split(",")]

    def _one(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...] | None:
        if not text:
            return None
        if text == "scalar":
            return ()
        if not _SHAPE.fullmatch(text):
            self.fail(f"{text!r} is not a shape such as 1x3x224x224 (or 'scalar')", param, ctx)
        return tuple(map(int, text.split("x")))


SHAPES = ShapesType()
