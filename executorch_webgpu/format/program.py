"""Opens a program file: .pte, or the program inside a .bpte, with its .ptd files."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format.external_data import ExternalItem, open_external
from executorch_webgpu.format.files import MappedFile, Source
from executorch_webgpu.format.generated import bundled_program, program as schema
from executorch_webgpu.format.identify import identify
from executorch_webgpu.format.plan import Program
from executorch_webgpu.format.plan_reader import PlanReader
from executorch_webgpu.format.segments import Segments, program_extent, text
from executorch_webgpu.format.verify import verify


@dataclass(frozen=True)
class FileInfo:
    """What a file is made of; sizes in bytes."""

    kind: str
    schema_version: int
    file_bytes: int
    flatbuffer_bytes: int
    segments: tuple[int, ...]
    constant_bytes: int
    mutable_bytes: int
    named_data_bytes: int
    external_files: tuple[str, ...]


class ProgramFile:
    """An open program. ``close`` (or leaving the ``with``) lets go of every file."""

    def __init__(self, program: Program, info: FileInfo, files: Sequence[MappedFile]) -> None:
        self.program = program
        self.info = info
        self._files = tuple(files)

    def __enter__(self) -> ProgramFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the files; views of their contents become invalid."""
        for file in self._files:
            file.close()


def open_program(source: Source, data: Sequence[Source] = ()) -> ProgramFile:
    """Open a .pte or .bpte by path or as bytes, with any external data files.

    Raises:
        NotFound: A file is missing.
        InvalidProgram: The program is damaged or is something else; the message says what.
        InvalidExternalData: A .ptd is damaged, or lacks or contradicts a tensor.
        NotSupported: A tensor has a dtype that numpy lacks.
    """
    files: list[MappedFile] = []
    try:
        files.append(MappedFile(source))
        external: dict[str, ExternalItem] = {}
        for item in data:
            file, found = open_external(item)
            files.append(file)
            for key in found.keys() & external.keys():
                raise InvalidExternalData(f"{file.name}: the key {key!r} is also in {external[key].file}")
            external |= found
        program, info = _read(files[0], external, tuple(file.name for file in files[1:]))
        return ProgramFile(program, info, files)
    except BaseException:
        for file in files:
            file.close()
        raise


def _read(file: MappedFile, external: Mapping[str, ExternalItem], others: tuple[str, ...]) -> tuple[Program, FileInfo]:
    kind = ".pte"
    magic = bytes(file.view[4:8])
    if magic == b"BP08":
        _unwrap(file)
        kind = ".bpte"
    elif magic != b"ET12":
        found = identify(file.view)
        advice = "; pass it as external data (--data) next to its program" if magic == b"FT01" else ""
        raise InvalidProgram(f"{file.name} is {found}; expected an ExecuTorch program (.pte){advice}")
    extent = program_extent(file, InvalidProgram)
    flatbuffer = file.view[: extent.flatbuffer_size]
    verify(flatbuffer, "program", b"ET12", file.name)
    root = schema.Program.GetRootAs(flatbuffer, 0)
    spans = [(root.Segments(i).Offset(), root.Segments(i).Size()) for i in range(root.SegmentsLength())]
    segments = Segments(file, extent, spans, InvalidProgram)
    named: dict[str, memoryview] = {key: item.data for key, item in external.items()}
    own = 0
    for index in range(root.NamedDataLength()):
        entry = root.NamedData(index)
        key = text(entry.Key())
        payload = segments.get(entry.SegmentIndex(), f"the named data {key!r}")
        named[key] = payload
        own += len(payload)
    reader = PlanReader(file, root, segments, external)
    plans = tuple(reader.plan(index) for index in range(root.ExecutionPlanLength()))
    names = [plan.name for plan in plans]
    for name in names:
        if names.count(name) > 1:
            raise InvalidProgram(f"{file.name}: the method {name!r} occurs twice")
    program = Program(root.Version(), plans, types.MappingProxyType(named), file.name)
    info = FileInfo(
        kind=kind,
        schema_version=root.Version(),
        file_bytes=len(file.view),
        flatbuffer_bytes=extent.flatbuffer_size,
        segments=tuple(size for _, size in segments.spans),
        constant_bytes=reader.constant_bytes,
        mutable_bytes=reader.mutable_bytes,
        named_data_bytes=own,
        external_files=others,
    )
    return program, info


def _unwrap(file: MappedFile) -> None:
    """Narrow the file to the program inside a bundled program."""
    verify(file.view, "bundled_program", b"BP08", file.name)
    root = bundled_program.BundledProgram.GetRootAs(file.view, 0)
    length = root.ProgramLength()
    if not length:
        raise InvalidProgram(f"{file.name}: the bundled program holds no program")
    table = root._tab
    start = table.Vector(table.Offset(8))
    file.narrow(start, length)
    if bytes(file.view[4:8]) != b"ET12":
        raise InvalidProgram(f"{file.name}: the bundled program holds {identify(file.view)}, not a program")
