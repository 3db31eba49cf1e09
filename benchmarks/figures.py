"""Figures of a benchmark: printed as they come, kept in a JSON file, errors of one section never stop the next."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Figures:
    """Collects values by name. The file is written anew after each, so that a crash loses nothing."""

    def __init__(self, path: str | None) -> None:
        self.path = Path(path) if path else None
        self.values: dict[str, Any] = {}
        self.errors: list[str] = []

    def add(self, name: str, value: float, unit: str, note: str = "") -> None:
        print(f"{name:<52} {value:12.5g} {unit:<10} {note}".rstrip(), flush=True)
        self.values[name] = value
        self._write()

    def say(self, name: str, text: str) -> None:
        """Keep a text (a version, a name)."""
        print(f"{name:<52} {text}", flush=True)
        self.values[name] = text
        self._write()

    @contextlib.contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Turn an error into one line."""
        try:
            yield
        except (Exception, SystemExit) as error:
            line = " ".join(str(error).split())[:300] or type(error).__name__
            self.errors.append(f"{name}: {line}")
            print(f"{name}: {type(error).__name__}: {line}", file=sys.stderr, flush=True)
            self._write()

    def _write(self) -> None:
        if self.path:
            self.path.write_text(json.dumps({"values": self.values, "errors": self.errors}))
