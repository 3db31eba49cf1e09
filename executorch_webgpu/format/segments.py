"""The extended header and the segments of a file: where the flatbuffer ends and the raw data lies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from executorch_webgpu.errors import ExecuTorchError
from executorch_webgpu.format.files import MappedFile


@dataclass(frozen=True)
class Extent:
    """The flatbuffer's size and where the first segment starts, both in bytes."""

    flatbuffer_size: int
    segment_base: int


def program_extent(file: MappedFile, error: type[ExecuTorchError]) -> Extent:
    """Read the header ``eh00`` of a .pte; without it the flatbuffer is the whole file and there are no segments."""
    head = bytes(file.view[8:40])
    if head[:4] != b"eh00":
        return Extent(len(file.view), 0)
    length = int.from_bytes(head[4:8], "little")
    if length < 24 or len(head) < 24:
        raise error(f"{file.name}: the extended header has {length} bytes, expected 24 or more")
    return checked_extent(file, int.from_bytes(head[8:16], "little"), int.from_bytes(head[16:24], "little"), error)


def checked_extent(file: MappedFile, size: int, base: int, error: type[ExecuTorchError]) -> Extent:
    """Check the two numbers of a header against the file."""
    total = len(file.view)
    if not 8 <= size <= total:
        raise error(f"{file.name} is truncated: its program needs {size} bytes, the file has {total}")
    if base > total or (base and base < size):
        raise error(f"{file.name} is truncated: its segments start at byte {base}, the file has {total}")
    return Extent(size, base)


class Segments:
    """The segments of a file, checked when asked for."""

    def __init__(
        self, file: MappedFile, extent: Extent, spans: Sequence[tuple[int, int]], error: type[ExecuTorchError]
    ) -> None:
        self.file = file
        self.spans = [(extent.segment_base + offset, size) for offset, size in spans]
        self.error = error
        total = len(file.view)
        for index, (start, size) in enumerate(self.spans):
            if size and (not extent.segment_base or start + size > total):
                raise error(
                    f"{file.name} is truncated: segment {index} needs bytes {start} to {start + size}, "
                    f"the file has {total}"
                )

    def get(self, index: int, what: str) -> memoryview:
        """Return a whole segment."""
        if not 0 <= index < len(self.spans):
            raise self.error(f"{self.file.name}: {what} names segment {index} of {len(self.spans)}")
        start, size = self.spans[index]
        return self.file.slice(start, size)

    def part(self, index: int, offset: int, size: int, what: str) -> memoryview:
        """Return ``size`` bytes of a segment."""
        whole = self.get(index, what)
        if offset + size > len(whole):
            raise self.error(
                f"{self.file.name}: {what} needs bytes {offset} to {offset + size} of segment {index}, "
                f"which has {len(whole)}"
            )
        return self.file.slice(self.spans[index][0] + offset, size)


def text(value: bytes | None) -> str:
    """Return a string of a verified flatbuffer."""
    return value.decode("utf-8") if value else ""


def ints(length: Callable[[], int], item: Callable[[int], int]) -> tuple[int, ...]:
    """Return a vector of a verified flatbuffer as a tuple."""
    return tuple(item(index) for index in range(length()))
