"""How commands write: results to stdout as tables or JSON, remarks and progress to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


def print_json(value: Any) -> None:
    """Write one JSON document. Floats that JSON lacks must be strings already."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, indent: str = "") -> None:
    """Write rows in columns; a column of numbers is aligned to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    right = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(header))]
    widths = [max(len(line[i]) for line in (header, *cells)) for i in range(len(header))]
    for line in (header, *cells):
        padded = (
            cell.rjust(width) if flag else cell.ljust(width)
            for cell, width, flag in zip(line, widths, right, strict=True)
        )
        click.echo((indent + "  ".join(padded)).rstrip())


def print_markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as a Markdown table."""
    for line in (header, ["---"] * len(header), *rows):
        click.echo("| " + " | ".join(str(cell) for cell in line) + " |")


def note(message: str) -> None:
    """Write a remark to stderr."""
    click.echo(message, err=True)


@contextmanager
def progress(message: str) -> Iterator[None]:
    """Show what is being done on stderr, where that is a terminal, and take it away at the end."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(f"\r\x1b[K{message} ...", err=True, nl=False)
    try:
        yield
    finally:
        click.echo("\r\x1b[K", err=True, nl=False)


def size_text(nbytes: float) -> str:
    """Return a number of bytes for people, in binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if nbytes < 1024 or unit == "GiB":
            break
        nbytes /= 1024
    return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.4g} {unit}"


def time_text(seconds: float) -> str:
    """Return a duration for people."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace(",", "").lstrip("-").isdecimal()
