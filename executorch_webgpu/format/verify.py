"""A verifier of FlatBuffers: walks a buffer by the schema's layout and checks whatever an accessor would follow.

Every table, vtable, vector, string and union tag is checked to lie inside the buffer before the generated code sees it.
The walk follows every reference as often as a reader would, and is refused once it has seen more bytes than a few times
the buffer: neither reading nor verifying a hostile file (with parts inside parts) costs more than linear time.
"""

from __future__ import annotations

import functools
import json
import struct
from importlib import resources
from typing import Any

from executorch_webgpu.errors import ExecuTorchError, InvalidProgram
from executorch_webgpu.format.accessors import damaged

# How often a byte may be visited on average: writers share vtables (not counted), short strings and little else.
_SHARING = 4
_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")

# One thing to check in tables of a shape: (form, offset in the table, detail of the layout, field name).
_Check = tuple[str, int, Any, str]


@functools.cache
def _layouts() -> Any:
    text = resources.files("executorch_webgpu.format.generated").joinpath("layouts.json").read_text(encoding="utf-8")
    return json.loads(text)


def verify(
    buffer: memoryview, schema: str, identifier: bytes, what: str, error: type[ExecuTorchError] = InvalidProgram
) -> None:
    """Check that ``buffer`` is a FlatBuffer of ``schema``; ``what`` names it in the error, which is ``error``.

    Raises:
        ExecuTorchError: An offset, length, tag or enum is out of range.
    """
    if len(buffer) < 8 or bytes(buffer[4:8]) != identifier:
        found = bytes(buffer[4:8])
        raise error(f"{what}: the file identifier is {found!r}, expected {identifier!r}; export it again")
    layout = _layouts()[schema]
    walker = _Walker(buffer, layout["tables"], {k: frozenset(v) for k, v in layout["enums"].items()}, what, error)
    walker.walk(layout["root"])


class _Walker:
    def __init__(
        self,
        buffer: memoryview,
        tables: dict[str, list[tuple[str, str, Any]]],
        enums: dict[str, frozenset[int]],
        what: str,
        error: type[ExecuTorchError],
    ) -> None:
        self.buffer = buffer
        self.size = len(buffer)
        self.tables = tables
        self.enums = enums
        self.what = what
        self.error = error
        self.pending: list[tuple[str, int]] = []
        self.shapes: dict[tuple[str, int], tuple[int, int, list[_Check]]] = {}
        self.budget = _SHARING * self.size

    def fail(self, name: str, why: str) -> ExecuTorchError:
        return damaged(self.error, self.what, f"{name} {why}")

    def span(self, start: int, length: int, name: str) -> None:
        if start < 0 or start + length > self.size:
            raise self.fail(name, f"lies at bytes {start} to {start + length} of {self.size}")

    def follow(self, at: int, name: str) -> int:
        """Return the target of the offset at ``at``, where 4 aligned bytes are."""
        target = at + int(_U32.unpack_from(self.buffer, at)[0])
        if target == at or target & 3:
            raise self.fail(name, f"has an offset to byte {target}, expected another one divisible by 4")
        if target + 4 > self.size:
            raise self.fail(name, f"lies at byte {target} of {self.size}")
        return target

    def walk(self, root: str) -> None:
        pending, shapes, buffer = self.pending, self.shapes, self.buffer
        pending.append((root, self.follow(0, root)))
        while pending:
            kind, at = pending.pop()
            vtable = at - _I32.unpack_from(buffer, at)[0]
            shape = shapes.get((kind, vtable))
            if shape is None:
                shape = shapes[kind, vtable] = self.shape(kind, vtable)
            size, wide, checks = shape
            if at + size > self.size:
                self.span(at, size, kind)
            if wide and (at + wide) & 7:
                raise self.fail(kind, f"at byte {at} has a misaligned number")
            self.spend(size, kind)
            for check in checks:
                self.check(kind, at, check)

    def spend(self, nbytes: int, name: str) -> None:
        self.budget -= nbytes
        if self.budget < 0:
            raise self.fail(name, f"and other parts overlap: they come to over {_SHARING} times the file")

    def shape(self, kind: str, vtable: int) -> tuple[int, int, list[_Check]]:
        """Return what tables of one vtable have in common: size, offset of a wide number (or 0), and checks."""
        buffer, name = self.buffer, f"the vtable of {kind}"
        self.span(vtable, 4, name)
        vtable_size, table_size = _U16.unpack_from(buffer, vtable)[0], _U16.unpack_from(buffer, vtable + 2)[0]
        if vtable & 1 or vtable_size < 4 or vtable_size & 1 or table_size < 4:
            raise self.fail(name, f"is malformed (at byte {vtable}, sizes {vtable_size} and {table_size})")
        self.span(vtable, vtable_size, name)
        checks: list[_Check] = []
        wide = tag = 0
        for slot, (field, form, detail) in enumerate(self.tables[kind]):
            place = 4 + 2 * slot
            offset = _U16.unpack_from(buffer, vtable + place)[0] if place < vtable_size else 0
            if form == "union":
                if tag or offset:
                    checks.append((form, offset, (tag, detail), field))
                if not tag and offset:
                    raise self.fail(f"{kind}.{field}", "has a value but no tag")
            elif form == "tag":
                tag = offset
            elif offset and form != "scalar":
                checks.append((form, offset, detail, field))
            if not offset:
                continue
            width = detail if form == "scalar" else 1 if form in ("enum", "tag") else 4
            if offset < 4 or offset + width > table_size:
                raise self.fail(f"{kind}.{field}", f"lies outside of its table (byte {offset} of {table_size})")
            if offset % min(width, 4) or (width == 8 and wide and (offset - wide) % 8):
                raise self.fail(f"{kind}.{field}", f"is misaligned (byte {offset} of its table)")
            if width == 8:
                wide = offset
        return table_size, wide, checks

    def check(self, kind: str, table: int, check: _Check) -> None:
        form, offset, detail, field = check
        at = table + offset
        if form == "enum":
            if self.buffer[at] not in self.enums[detail]:
                raise self.fail(f"{kind}.{field}", f"is {self.buffer[at]}, which is no {detail} known here")
            return
        name = f"{kind}.{field}"
        if form == "union":
            place, names = detail
            tag = self.buffer[table + place]
            if not offset:
                if tag:
                    raise self.fail(name, f"has the tag {tag} but no value")
            elif not 1 <= tag <= len(names):
                raise self.fail(name, f"has the tag {tag}, expected 1 to {len(names)}")
            else:
                self.pending.append((names[tag - 1], self.follow(at, name)))
            return
        target = self.follow(at, name)
        if form == "table":
            self.pending.append((detail, target))
            return
        count = int(_U32.unpack_from(self.buffer, target)[0])
        start = target + 4
        if form == "string":
            self.span(start, count + 1, name)
            self.spend(4 + count, name)
            self.text(start, count, name)
        elif form == "vector":
            self.span(start, count * detail, name)
            self.spend(4 + count * detail, name)
        else:
            self.span(start, count * 4, name)
            self.spend(4 + count * 4, name)
            self.pending += [(detail, self.follow(place, name)) for place in range(start, start + 4 * count, 4)]

    def text(self, start: int, count: int, name: str) -> None:
        if self.buffer[start + count]:
            raise self.fail(name, "does not end in a zero byte")
        try:
            str(self.buffer[start : start + count], "utf-8")
        except UnicodeDecodeError:
            raise self.fail(name, "is not UTF-8") from None
