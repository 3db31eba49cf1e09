"""Where the bytes of tensors and delegates are: inline buffers, segments or .ptd files; checked when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format.accessors import damaged, shown
from executorch_webgpu.format.external_data import ExternalItem, Layout
from executorch_webgpu.format.files import MappedFile
from executorch_webgpu.format.segments import Segments

_BYTES_SLOT = 4  # of Buffer.storage and BackendDelegateInlineData.data in their vtables


class Payloads:
    """Finds payloads in a verified program. ``where`` arguments name the user of one in errors."""

    def __init__(self, file: MappedFile, root: Any, segments: Segments, external: Mapping[str, ExternalItem]) -> None:
        self.file = file
        self._root = root
        self._segments = segments
        self._external = external
        # Bytes by buffer: tensors of several methods may share one.
        self._constants: dict[int, int] = {}
        self._initials: dict[tuple[int, int], int] = {}

    @property
    def constant_bytes(self) -> int:
        """The bytes of the constants that were asked for so far."""
        return sum(self._constants.values())

    @property
    def mutable_bytes(self) -> int:
        """The bytes of the initial values that were asked for so far."""
        return sum(self._initials.values())

    def constant(self, buffer: int, nbytes: int, where: str) -> memoryview:
        """Return the first ``nbytes`` of a constant buffer.

        Raises:
            InvalidProgram: There is no such buffer or it is too short.
        """
        self._constants[buffer] = max(nbytes, self._constants.get(buffer, 0))
        constants = self._root.ConstantSegment()
        if constants is not None and constants.OffsetsLength():
            return self._subsegment(constants, buffer, nbytes, where)
        if not buffer < self._root.ConstantBufferLength():
            raise self._damaged(where, f"its data is in buffer {buffer} of {self._root.ConstantBufferLength()}")
        inline = self._root.ConstantBuffer(buffer)
        return self._inline(inline._tab, inline.StorageLength(), nbytes, where)

    def initial(self, segment: int, buffer: int, nbytes: int, where: str) -> memoryview:
        """Return the initial value of a mutable buffer.

        Raises:
            InvalidProgram: There is no such buffer or it is too short.
        """
        self._initials[segment, buffer] = max(nbytes, self._initials.get((segment, buffer), 0))
        if not segment < self._root.MutableDataSegmentsLength():
            count = self._root.MutableDataSegmentsLength()
            raise self._damaged(where, f"its initial value is in mutable segment {segment} of {count}")
        return self._subsegment(self._root.MutableDataSegments(segment), buffer, nbytes, where)

    def external(self, name: str, expected: Layout, nbytes: int, where: str) -> memoryview:
        """Return a tensor of a .ptd file.

        Raises:
            InvalidExternalData: No file has it, or it is another tensor there.
        """
        item = self._external.get(name)
        if item is None:
            given = ", ".join(sorted({other.file for other in self._external.values()}))
            raise InvalidExternalData(
                f"{where}: the tensor {shown(name)} is in an external data file{', not in ' + given if given else ''}; "
                "pass the .ptd files of the program (--data)"
            )
        return item.tensor_data(name, expected, nbytes)

    def delegate(self, in_segment: bool, index: int, where: str) -> memoryview:
        """Return the processed bytes of a delegate.

        Raises:
            InvalidProgram: There is no such data.
        """
        if in_segment:
            return self._segments.get(index, where)
        if not index < self._root.BackendDelegateDataLength():
            raise self._damaged(where, f"its data is entry {index} of {self._root.BackendDelegateDataLength()}")
        inline = self._root.BackendDelegateData(index)
        length = inline.DataLength()
        return self._inline(inline._tab, length, length, where)

    def _subsegment(self, table: Any, buffer: int, nbytes: int, where: str) -> memoryview:
        if not buffer < table.OffsetsLength():
            raise self._damaged(where, f"its data is in buffer {buffer} of {table.OffsetsLength()}")
        return self._segments.part(table.SegmentIndex(), table.Offsets(buffer), nbytes, where)

    def _inline(self, table: Any, length: int, nbytes: int, where: str) -> memoryview:
        if length < nbytes:
            raise self._damaged(where, f"it needs {nbytes} bytes of data, its buffer has {length}")
        start = table.Vector(table.Offset(_BYTES_SLOT)) if length else 0
        return self.file.slice(start, nbytes)

    def _damaged(self, where: str, why: str) -> InvalidProgram:
        return damaged(InvalidProgram, where, why)
