"""Tensor data files (.ptd): named payloads outside the program."""

from __future__ import annotations

from dataclasses import dataclass

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format.accessors import damaged, listed, numbers, shown, text
from executorch_webgpu.format.files import MappedFile, Source, part_of
from executorch_webgpu.format.generated import flat_tensor
from executorch_webgpu.format.identify import identify
from executorch_webgpu.format.scalar_types import SCALAR_NAMES
from executorch_webgpu.format.segments import Segments, tensor_data_extent
from executorch_webgpu.format.verify import verify


@dataclass(frozen=True)
class Layout:
    """What a .ptd says of a tensor."""

    scalar_type: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]  # empty where the file does not say


@dataclass(frozen=True)
class ExternalItem:
    """A payload. ``layout`` is None for blobs that are no tensors."""

    data: memoryview
    layout: Layout | None
    file: str

    def tensor_data(self, name: str, expected: Layout, nbytes: int) -> memoryview:
        """Return the first ``nbytes`` of the payload, of a tensor called ``name``.

        Raises:
            InvalidExternalData: The file says that it is another tensor, or it is too short.
        """
        found = self.layout
        if found is not None and (found.scalar_type, found.sizes) != (expected.scalar_type, expected.sizes):
            raise InvalidExternalData(
                f"{self.file}: the tensor {shown(name)} is {SCALAR_NAMES[found.scalar_type]} {listed(found.sizes)}; "
                f"the program expects {SCALAR_NAMES[expected.scalar_type]} {listed(expected.sizes)}; "
                "pass the .ptd that was exported with it"
            )
        if found is not None and found.dim_order not in ((), expected.dim_order):
            raise InvalidExternalData(
                f"{self.file}: the tensor {shown(name)} has the dim order {listed(found.dim_order)}; the program "
                f"expects {listed(expected.dim_order)}; pass the .ptd that was exported with it"
            )
        if len(self.data) < nbytes:
            raise InvalidExternalData(
                f"{self.file}: the tensor {shown(name)} has {len(self.data)} bytes, expected {nbytes}; "
                "pass the .ptd that was exported with the program"
            )
        return self.data if len(self.data) == nbytes else part_of(self.data, 0, nbytes)


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
    extent = tensor_data_extent(file, InvalidExternalData)
    flatbuffer = file.view[: extent.flatbuffer_size]
    verify(flatbuffer, "flat_tensor", b"FT01", file.name, InvalidExternalData)
    root = flat_tensor.FlatTensor.GetRootAs(flatbuffer, 0)
    spans = [(segment.Offset(), segment.Size()) for segment in map(root.Segments, range(root.SegmentsLength()))]
    segments = Segments(file, extent, spans, InvalidExternalData)
    items: dict[str, ExternalItem] = {}
    for index in range(root.NamedDataLength()):
        entry = root.NamedData(index)
        key = text(entry.Key())
        if not key or key in items:
            why = f"the key {shown(key)} occurs twice" if key else f"entry {index} has no key"
            raise damaged(InvalidExternalData, file.name, why)
        found = entry.TensorLayout()
        layout = None
        if found is not None:
            layout = Layout(
                found.ScalarType(),
                numbers(found.SizesLength(), found.SizesAsNumpy),
                numbers(found.DimOrderLength(), found.DimOrderAsNumpy),
            )
        items[key] = ExternalItem(segments.get(entry.SegmentIndex(), f"the key {shown(key)}"), layout, file.name)
    return items
