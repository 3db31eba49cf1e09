"""What a file is and what is inside it, whatever it is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import executorch_webgpu
from executorch_webgpu.errors import ExecuTorchError, InvalidArgument, InvalidExternalData, InvalidProgram, NotFound
from executorch_webgpu.format import FileInfo, identify, open_program
from executorch_webgpu.format.external_data import ExternalItem, open_external
from executorch_webgpu.format.scalar_types import SCALAR_NAMES
from executorch_webgpu.insight.contents import MethodContent, describe_program

_HEAD = 4096
_PROGRAMS = {b"ET12": "pte", b"BP08": "bpte"}
_ADVICE = {
    "GGUF": "export the model with ExecuTorch and VulkanPartitioner to run it here",
    "ONNX": "export the PyTorch model with ExecuTorch and VulkanPartitioner to run it here",
    "zip": "a .pt2 or .pt becomes a .pte through torch.export and ExecuTorch's to_executorch",
    "LFS": "fetch the file with git lfs pull",
}


@dataclass(frozen=True)
class FileContent:
    """A file. ``kind`` is pte, bpte, ptd or other; ``problems`` are what keeps its methods from running."""

    path: str
    nbytes: int
    kind: str
    description: str
    details: list[str] = field(default_factory=list)
    methods: list[MethodContent] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it."""
        return dataclasses.asdict(self)


def describe_file(path: str, data: Sequence[str] = ()) -> FileContent:
    """Say what ``path`` is; ``data`` are the .ptd files of a program with external weights.

    Raises:
        NotFound: There is no such file.
        InvalidArgument: It is a folder, or no path at all.
        InvalidProgram: It is a program that is damaged, or cannot be read.
    """
    try:
        with Path(path).open("rb") as opened:
            nbytes = os.fstat(opened.fileno()).st_size
            head = opened.read(_HEAD)
    except IsADirectoryError:
        raise InvalidArgument(f"{path or 'the empty path'} is a folder; expected a file") from None
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"{path}: no such file") from None
    except OSError as error:
        raise InvalidProgram(f"{path}: the file cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise InvalidArgument(f"{path!r} is no path: {error}") from None
    description = identify(head)
    kind = _PROGRAMS.get(head[4:8])
    if kind is not None:
        return _describe_program(path, nbytes, kind, description, data)
    if head[4:8] == b"FT01":
        return FileContent(path, nbytes, "ptd", description, details=_describe_tensors(path))
    details = [text for word, text in _ADVICE.items() if word in description]
    return FileContent(path, nbytes, "other", description, details)


def _describe_program(path: str, nbytes: int, kind: str, description: str, data: Sequence[str]) -> FileContent:
    try:
        file = open_program(path, data)
    except InvalidExternalData as error:
        if data:
            raise
        return FileContent(path, nbytes, kind, description, problems=[f"{error} (--data names the .ptd file)"])
    with file:
        methods = describe_program(file.program)
        details = _describe_layout(file.info, len(file.program.named_data))
    return FileContent(path, nbytes, kind, description, details, methods, _find_problems(path, data))


def _find_problems(path: str, data: Sequence[str]) -> list[str]:
    """Return why methods would not run, which is what loading them for a GPU complains of; no device is opened."""
    problems = []
    with executorch_webgpu.load(path, device="gpu", data=data) as program:
        for name in sorted(program.method_names):
            try:
                program.load_method(name)
            except ExecuTorchError as error:
                problems.append(str(error))
    return problems


def _describe_layout(info: FileInfo, named: int) -> list[str]:
    parts = (
        ("flatbuffer", info.flatbuffer_bytes),
        (f"segments ({len(info.segments)})", sum(info.segments)),
        ("constants of the plan", info.constant_bytes),
        ("mutable data", info.mutable_bytes),
        (f"named data ({named})", info.named_data_bytes),
    )
    details = ["bytes: " + ", ".join(f"{name} {size}" for name, size in parts if size)]
    return details + [f"external data: {name}" for name in info.external_files]


def _describe_tensors(path: str) -> list[str]:
    file, items = open_external(path)
    try:
        return [_describe_tensor(key, item) for key, item in items.items()]
    finally:
        items.clear()
        file.close()


def _describe_tensor(key: str, item: ExternalItem) -> str:
    if item.layout is None:
        return f"{key}: {item.data.nbytes} bytes"
    return f"{key}: {SCALAR_NAMES[item.layout.scalar_type]} {list(item.layout.sizes)}, {item.data.nbytes} bytes"
