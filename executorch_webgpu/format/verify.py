"""A verifier of FlatBuffers: walks a buffer by the schema's layout and checks whatever an accessor would follow.

Every table, vtable, vector, string and union tag is checked to lie inside the buffer before the generated code sees it.
The walk is iterative and visits a table once for each type, so that hostile files cost linear time.
"""

from __future__ import annotations

import functools
import json
import struct
from importlib import resources
from typing import Any

from executorch_webgpu.errors import ExecuTorchError, InvalidProgram

_U16 = struct.Struct("<H")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")


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
        raise error(f"{what}: the file identifier is {found!r}, expected {identifier!r}")
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

    def walk(self, root: str) -> None:
        self.pending.append((root, _U32.unpack_from(self.buffer, 0)[0]))
        seen: set[tuple[str, int]] = set()
        while self.pending:
            item = self.pending.pop()
            if item not in seen:
                seen.add(item)
                self.table(*item)

    def fail(self, name: str, why: str) -> ExecuTorchError:
        return self.error(f"{self.what} is damaged: {name} {why}")

    def span(self, start: int, length: int, name: str) -> None:
        if start < 0 or start + length > self.size:
            raise self.fail(name, f"lies at bytes {start} to {start + length} of {self.size}")

    def follow(self, at: int, name: str) -> int:
        target = at + int(_U32.unpack_from(self.buffer, at)[0])
        self.span(target, 4, name)
        return target

    def table(self, kind: str, at: int) -> None:
        buffer = self.buffer
        self.span(at, 4, kind)
        vtable = at - _I32.unpack_from(buffer, at)[0]
        self.span(vtable, 4, f"the vtable of {kind}")
        vtable_size, table_size = _U16.unpack_from(buffer, vtable)[0], _U16.unpack_from(buffer, vtable + 2)[0]
        if vtable_size < 4 or vtable_size % 2 or table_size < 4:
            raise self.fail(kind, "has a malformed vtable")
        self.span(vtable, vtable_size, f"the vtable of {kind}")
        self.span(at, table_size, kind)
        tag = 0
        for slot, (field, form, detail) in enumerate(self.tables[kind]):
            place = 4 + 2 * slot
            offset = _U16.unpack_from(buffer, vtable + place)[0] if place < vtable_size else 0
            if not offset:
                if form == "union":
                    if tag:
                        raise self.fail(f"{kind}.{field}", "has a tag but no value")
                    tag = 0
                elif field.endswith("_type") and form == "scalar":
                    tag = 0
                continue
            width = detail if form == "scalar" else 1 if form == "enum" else 4
            if offset + width > table_size:
                raise self.fail(f"{kind}.{field}", "lies outside of its table")
            tag = self.field(kind, field, form, detail, at + offset, tag)

    def field(self, kind: str, field: str, form: str, detail: Any, at: int, tag: int) -> int:
        name = f"{kind}.{field}"
        if form == "scalar":
            return self.buffer[at] if field.endswith("_type") and detail == 1 else tag
        if form == "enum":
            if self.buffer[at] not in self.enums[detail]:
                raise self.fail(name, f"is {self.buffer[at]}, not a known {detail}")
            return tag
        if form == "union":
            if not 1 <= tag <= len(detail):
                raise self.fail(name, f"has the unknown tag {tag}")
            self.pending.append((detail[tag - 1], self.follow(at, name)))
            return 0
        target = self.follow(at, name)
        if form == "table":
            self.pending.append((detail, target))
            return tag
        count = _U32.unpack_from(self.buffer, target)[0]
        if form == "string":
            self.span(target + 4, count + 1, name)
            self.text(target + 4, count, name)
        elif form == "vector":
            self.span(target + 4, count * detail, name)
        else:
            self.span(target + 4, count * 4, name)
            for place in range(target + 4, target + 4 + 4 * count, 4):
                self.pending.append((detail, self.follow(place, name)))
        return tag

    def text(self, start: int, count: int, name: str) -> None:
        try:
            str(self.buffer[start : start + count], "utf-8")
        except UnicodeDecodeError:
            raise self.fail(name, "is not UTF-8") from None
