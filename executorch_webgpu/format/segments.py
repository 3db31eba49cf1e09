"""The extended header and the segments of a file: where the flatbuffer ends and the raw data lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from executorch_webgpu.errors import ExecuTorchError
from executorch_webgpu.format.accessors import damaged
from executorch_webgpu.format.files import MappedFile

_HEADER_AT = 8  # after the root offset and the file identifier


@dataclass(frozen=True)
class Extent:
    """The flatbuffer's size and where the first segment starts (0: no segments), both in bytes."""

    flatbuffer_size: int
    segment_base: int


def program_extent(file: MappedFile, error: type[ExecuTorchError]) -> Extent:
    """Read the header ``eh00`` of a .pte; without it the flatbuffer is the whole file and there are no segments."""
    head = bytes(file.view[_HEADER_AT : _HEADER_AT + 32])
    if head[:4] != b"eh00":
        return Extent(len(file.view), 0)
    length = int.from_bytes(head[4:8], "little")
    if length < 24 or len(head) < 24:
        raise damaged(error, file.name, f"its extended header has {min(length, len(head))} bytes, expected 24 or more")
    size, base = _words(head, 8, 2)
    # Files of the first version do not say how long the segments are together.
    (data,) = _words(head, 24, 1) if length >= 32 and len(head) >= 32 else (0,)
    return _checked(file, size, base, data, error)


def tensor_data_extent(file: MappedFile, error: type[ExecuTorchError]) -> Extent:
    """Read the header ``FH01`` of a .ptd, which stands between the file identifier and the rest of the flatbuffer."""
    head = bytes(file.view[_HEADER_AT : _HEADER_AT + 40])
    if head[:4] != b"FH01" or len(head) < 40:
        raise damaged(error, file.name, "its header FH01 is missing")
    length = int.from_bytes(head[4:8], "little")
    if length < 40:
        raise damaged(error, file.name, f"its header has {length} bytes, expected 40 or more")
    start, size, base, data = _words(head, 8, 4)
    # The offsets of the flatbuffer count from the start of the file; ``start`` is where its part behind the header is.
    return _checked(file, start + size, base, data, error)


def _words(head: bytes, at: int, count: int) -> tuple[int, ...]:
    return tuple(int.from_bytes(head[i : i + 8], "little") for i in range(at, at + 8 * count, 8))


def _checked(file: MappedFile, size: int, base: int, data: int, error: type[ExecuTorchError]) -> Extent:
    total = len(file.view)
    if size < 8:
        raise damaged(error, file.name, f"its header says that its flatbuffer has {size} bytes")
    if size > total:
        raise truncated(error, file, f"its flatbuffer needs {size} bytes")
    if base and base < size:
        raise damaged(error, file.name, f"its segments start at byte {base}, inside its flatbuffer of {size} bytes")
    if base > total:
        raise truncated(error, file, f"its segments start at byte {base}")
    if base and base + data > total:
        raise truncated(error, file, f"its segments end at byte {base + data}")
    return Extent(size, base)


def truncated(error: type[ExecuTorchError], file: MappedFile, why: str) -> ExecuTorchError:
    """Return the error for a file that ends too early."""
    return error(f"{file.name} is truncated: {why}, the file has {len(file.view)}; copy it again")


class Segments:
    """The segments of a file; all lie inside of it and behind the flatbuffer."""

    def __init__(
        self, file: MappedFile, extent: Extent, spans: Sequence[tuple[int, int]], error: type[ExecuTorchError]
    ) -> None:
        self.file = file
        self.spans = [(extent.segment_base + offset, size) for offset, size in spans]
        self.error = error
        total = len(file.view)
        for index, (start, size) in enumerate(self.spans):
            if size and not extent.segment_base:
                raise damaged(error, file.name, "it has segments, but its header does not say where")
            if size and start + size > total:
                raise truncated(error, file, f"segment {index} needs bytes {start} to {start + size}")

    def get(self, index: int, what: str) -> memoryview:
        """Return a whole segment; ``what`` names the user of it in errors."""
        start, size = self._span(index, what)
        return self.file.slice(start, size)

    def part(self, index: int, offset: int, size: int, what: str) -> memoryview:
        """Return ``size`` bytes of a segment."""
        start, available = self._span(index, what)
        if offset + size > available:
            raise damaged(
                self.error,
                self.file.name,
                f"{what} needs bytes {offset} to {offset + size} of segment {index}, which has {available}",
            )
        return self.file.slice(start + offset, size)

    def _span(self, index: int, what: str) -> tuple[int, int]:
        if not 0 <= index < len(self.spans):
            raise damaged(self.error, self.file.name, f"{what} is in segment {index} of {len(self.spans)}")
        return self.spans[index]
