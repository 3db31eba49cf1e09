"""Tensor data files (.ptd): named payloads outside the program."""

from __future__ import annotations

from dataclasses import dataclass

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format.files import MappedFile, Source
from executorch_webgpu.format.generated import flat_tensor
from executorch_webgpu.format.identify import identify
from executorch_webgpu.format.segments import Segments, checked_extent, ints, text
from executorch_webgpu.format.verify import verify


@dataclass(frozen=True)
class Layout:
    """What a .ptd says of a tensor."""

    scalar_type: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]


@dataclass(frozen=True)
class ExternalItem:
    """A payload. ``layout`` is None for blobs that are no tensors."""

    data: memoryview
    layout: Layout | None
    file: str


def open_external(source: Source) -> tuple[MappedFile, dict[str, ExternalItem]]:
    """Open one .ptd and return its payloads by key.

    Raises:
        InvalidExternalData: It is damaged or is something else.
        NotFound: There is no such file.
    """
    try:
        file = MappedFile(source, "tensor data file (.ptd)")
    except InvalidProgram as error:
        raise InvalidExternalData(str(error)) from None
    try:
        return file, _read(file)
    except BaseException:
        file.close()
        raise


def _read(file: MappedFile) -> dict[str, ExternalItem]:
    if bytes(file.view[4:8]) != b"FT01":
        raise InvalidExternalData(f"{file.name} is {identify(file.view)}; expected a tensor data file (.ptd)")
    head = bytes(file.view[8:48])
    if head[:4] != b"FH01" or len(head) < 40:
        raise InvalidExternalData(f"{file.name} is damaged: the header FH01 is missing")
    start, size, base = (int.from_bytes(head[at : at + 8], "little") for at in (8, 16, 24))
    extent = checked_extent(file, start + size, base, InvalidExternalData)
    # The flatbuffer may count from the start of the file or be cut out by the header.
    flatbuffer = file.view[: extent.flatbuffer_size]
    verify(flatbuffer, "flat_tensor", b"FT01", file.name, InvalidExternalData)
    root = flat_tensor.FlatTensor.GetRootAs(flatbuffer, 0)
    spans = [(root.Segments(i).Offset(), root.Segments(i).Size()) for i in range(root.SegmentsLength())]
    segments = Segments(file, extent, spans, InvalidExternalData)
    items: dict[str, ExternalItem] = {}
    for index in range(root.NamedDataLength()):
        entry = root.NamedData(index)
        key = text(entry.Key())
        if key in items:
            raise InvalidExternalData(f"{file.name}: the key {key!r} occurs twice")
        found = entry.TensorLayout()
        layout = None
        if found is not None:
            layout = Layout(
                found.ScalarType(),
                ints(found.SizesLength, found.Sizes),
                ints(found.DimOrderLength, found.DimOrder),
            )
        items[key] = ExternalItem(segments.get(entry.SegmentIndex(), f"the key {key!r}"), layout, file.name)
    return items
