"""Reads the package's .wgsl files and applies the tiny preprocessor.

``#include "common/tensor.wgsl" NAME=x BINDING=0`` pastes a file with more names defined; ``#if A == b``, ``#if A``,
``#elif``, ``#else``, ``#endif`` choose lines; ``${NAME}`` is replaced. Values are words, never code.
``EXECUTORCH_WEBGPU_SHADERS`` names a folder to read instead of the package.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from executorch_webgpu.errors import Internal

_SUBSTITUTION = re.compile(r"\$\{(\w+)\}")


def shader_source(path: str, defines: tuple[tuple[str, str], ...]) -> str:
    """Return the WGSL of shader ``path`` (below ops/) in the variant that ``defines`` choose."""
    folder = os.environ.get("EXECUTORCH_WEBGPU_SHADERS")
    if folder:
        return "\n".join(_expand(path, dict(defines), _Folder(Path(folder))))
    return _packaged(path, defines)


@functools.cache
def _packaged(path: str, defines: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(_expand(path, dict(defines), _Package()))


class _Package:
    def read(self, path: str) -> str:
        return _package_text(path)


@functools.cache
def _package_text(path: str) -> str:
    return resources.files("executorch_webgpu.ops").joinpath(path).read_text(encoding="utf-8")


class _Folder:
    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> str:
        found = self.root / path
        return found.read_text(encoding="utf-8") if found.is_file() else _package_text(path)


def _expand(path: str, defines: Mapping[str, str], files: _Package | _Folder) -> list[str]:
    lines: list[str] = []
    # One entry per open #if: (this branch is on, some branch was on, the surroundings are on).
    branches: list[tuple[bool, bool, bool]] = []
    for number, line in enumerate(files.read(path).splitlines(), 1):
        word, _, rest = line.strip().partition(" ")
        active = all(on for on, _, _ in branches)
        match word:
            case "#if":
                on = active and _holds(rest, defines)
                branches.append((on, on, active))
            case "#elif":
                _, taken, outer = _top(branches, path, number)
                on = outer and not taken and _holds(rest, defines)
                branches[-1] = (on, taken or on, outer)
            case "#else":
                _, taken, outer = _top(branches, path, number)
                branches[-1] = (outer and not taken, True, outer)
            case "#endif":
                _top(branches, path, number)
                branches.pop()
            case "#include" if active:
                name, *pairs = shlex.split(_substitute(rest, defines, path, number))
                extra = dict(pair.split("=", 1) for pair in pairs)
                lines += _expand(name, {**defines, **extra}, files)
            case _ if active and not word.startswith("#include"):
                lines.append(_substitute(line, defines, path, number))
    if branches:
        raise Internal(f"{path}: an #if has no #endif")
    return lines


def _top(branches: list[tuple[bool, bool, bool]], path: str, number: int) -> tuple[bool, bool, bool]:
    if not branches:
        raise Internal(f"{path}:{number}: no #if is open here")
    return branches[-1]


def _holds(condition: str, defines: Mapping[str, str]) -> bool:
    """Evaluate ``A``, ``!A``, ``A == b``, ``A != b`` and these joined by ``||`` or ``&&`` (no mixing)."""
    if "||" in condition:
        return any(_holds(part, defines) for part in condition.split("||"))
    if "&&" in condition:
        return all(_holds(part, defines) for part in condition.split("&&"))
    words = condition.split()
    if len(words) == 3:
        equal = defines.get(words[0], "") == words[2]
        return equal if words[1] == "==" else not equal
    name = words[0]
    return not defines.get(name[1:]) if name.startswith("!") else bool(defines.get(name))


def _substitute(line: str, defines: Mapping[str, str], path: str, number: int) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in defines:
            raise Internal(f"{path}:{number}: {name} is not defined")
        return defines[name]

    return _SUBSTITUTION.sub(value, line)
