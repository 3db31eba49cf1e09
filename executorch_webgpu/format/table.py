"""The table that generated accessors read through: flatbuffers' own, without the checks that the verifier has made.

flatbuffers checks the range of every offset in five Python calls a field; a graph has tens of thousands of fields.
"""

from __future__ import annotations

import struct
from typing import Any

import flatbuffers.table

_U16 = struct.Struct("<H").unpack_from
_I32 = struct.Struct("<i").unpack_from
_U32 = struct.Struct("<I").unpack_from


class Table(flatbuffers.table.Table):  # type: ignore[misc]
    """A table at ``Pos`` of a verified buffer ``Bytes``; the names are those that flatc writes."""

    __slots__ = ()

    def Offset(self, slot: int) -> int:  # noqa: N802
        """Return where a field is in the table, 0 if it is absent."""
        buffer, position = self.Bytes, self.Pos
        vtable = position - _I32(buffer, position)[0]
        return int(_U16(buffer, vtable + slot)[0]) if slot < _U16(buffer, vtable)[0] else 0

    def Indirect(self, at: int) -> int:  # noqa: N802
        """Return the target of the offset at ``at``."""
        return at + int(_U32(self.Bytes, at)[0])

    def Get(self, flags: Any, at: int) -> Any:  # noqa: N802
        """Return the number at ``at``."""
        return flags.py_type(flags.packer_type.unpack_from(self.Bytes, at)[0])

    def Vector(self, field: int) -> int:  # noqa: N802
        """Return where the items of a vector start."""
        at = self.Pos + field
        return int(at + _U32(self.Bytes, at)[0]) + 4

    def VectorLen(self, field: int) -> int:  # noqa: N802
        """Return how many items a vector has."""
        at = self.Pos + field
        return int(_U32(self.Bytes, at + _U32(self.Bytes, at)[0])[0])

    def Union(self, other: Any, field: int) -> None:  # noqa: N802
        """Make ``other`` the table that a union holds."""
        at = self.Pos + field
        other.Pos = at + _U32(self.Bytes, at)[0]
        other.Bytes = self.Bytes
