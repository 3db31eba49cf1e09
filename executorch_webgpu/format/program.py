"""Opens a program file: .pte, or the program inside a .bpte, with its .ptd files."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format.accessors import damaged, shown, text
from executorch_webgpu.format.external_data import ExternalItem, open_external
from executorch_webgpu.format.files import MappedFile, Source
from executorch_webgpu.format.generated import bundled_program
from executorch_webgpu.format.generated import program as schema
from executorch_webgpu.format.identify import identify
from executorch_webgpu.format.payloads import Payloads
from executorch_webgpu.format.plan import ExecutionPlan, Program
from executorch_webgpu.format.plan_reader import read_plan
from executorch_webgpu.format.segments import Segments, program_extent
from executorch_webgpu.format.verify import verify

_PROGRAM_SLOT = 8  # of BundledProgram.program in its vtable


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
    """
    files: list[MappedFile] = []
    try:
        files.append(MappedFile(source))
        external: dict[str, ExternalItem] = {}
        for item in data:
            file, found = open_external(item)
            files.append(file)
            for key in found.keys() & external.keys():
                raise InvalidExternalData(
                    f"{file.name}: the key {shown(key)} is also in {external[key].file}; pass only one of them"
                )
            external |= found
        program, info = _read(files[0], external, tuple(file.name for file in files[1:]))
        return ProgramFile(program, info, files)
    except BaseException:
        for file in files:
            file.close()
        raise


def _read(file: MappedFile, external: Mapping[str, ExternalItem], others: tuple[str, ...]) -> tuple[Program, FileInfo]:
    kind, total = ".pte", len(file.view)
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
    spans = [(segment.Offset(), segment.Size()) for segment in map(root.Segments, range(root.SegmentsLength()))]
    segments = Segments(file, extent, spans, InvalidProgram)
    own = _named_data(file, root, segments)
    named = {key: item.data for key, item in external.items()}
    for key in own.keys() & named.keys():
        if len(own[key]) != len(named[key]):
            raise InvalidExternalData(
                f"{external[key].file}: the key {shown(key)} has {len(named[key])} bytes, in {file.name} "
                f"{len(own[key])}; pass the .ptd files that were exported with the program"
            )
    payloads = Payloads(file, root, segments, external)
    plans = _plans(file, root, payloads)
    program = Program(root.Version(), plans, types.MappingProxyType(named | own), file.name)
    info = FileInfo(
        kind=kind,
        schema_version=root.Version(),
        file_bytes=total,
        flatbuffer_bytes=extent.flatbuffer_size,
        segments=tuple(size for _, size in segments.spans),
        constant_bytes=payloads.constant_bytes,
        mutable_bytes=payloads.mutable_bytes,
        named_data_bytes=sum(map(len, own.values())),
        external_files=others,
    )
    return program, info


def _named_data(file: MappedFile, root: Any, segments: Segments) -> dict[str, memoryview]:
    named: dict[str, memoryview] = {}
    for index in range(root.NamedDataLength()):
        entry = root.NamedData(index)
        key = text(entry.Key())
        if not key or key in named:
            why = f"the named data {shown(key)} occurs twice" if key else f"named data {index} has no key"
            raise damaged(InvalidProgram, file.name, why)
        named[key] = segments.get(entry.SegmentIndex(), f"the named data {shown(key)}")
    return named


def _plans(file: MappedFile, root: Any, payloads: Payloads) -> tuple[ExecutionPlan, ...]:
    plans: dict[str, ExecutionPlan] = {}
    for index in range(root.ExecutionPlanLength()):
        plan = read_plan(root.ExecutionPlan(index), index, payloads)
        if plan.name in plans:
            raise damaged(InvalidProgram, file.name, f"the method {shown(plan.name)} occurs twice")
        plans[plan.name] = plan
    if not plans:
        raise damaged(InvalidProgram, file.name, "it holds no method")
    return tuple(plans.values())


def _unwrap(file: MappedFile) -> None:
    """Narrow the file to the program inside a bundled program."""
    verify(file.view, "bundled_program", b"BP08", file.name)
    root = bundled_program.BundledProgram.GetRootAs(file.view, 0)
    length = root.ProgramLength()
    if not length:
        raise damaged(InvalidProgram, file.name, "the bundled program holds no program")
    table = root._tab
    start = table.Vector(table.Offset(_PROGRAM_SLOT))
    file.narrow(start, length)
    if bytes(file.view[4:8]) != b"ET12":
        raise InvalidProgram(
            f"{file.name}: the bundled program holds {identify(file.view)}; expected an ExecuTorch program (.pte)"
        )
