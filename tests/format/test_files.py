"""Files are mapped, cost no memory that stays, and are let go of at close."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from executorch_webgpu.errors import InvalidArgument, InvalidProgram, InvalidType, NotFound
from executorch_webgpu.format.files import MappedFile, trim_mappings

MIB = 1 << 20
needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc")


def resident() -> int:
    """Bytes of this process that lie in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


@needs_proc
def test_pages_that_were_read_do_not_stay_in_memory(tmp_path):
    path = tmp_path / "large.pte"
    with path.open("wb") as file:
        file.truncate(200 * MIB)
    mapped = MappedFile(path)
    before = peak = resident()
    for start in range(0, 200 * MIB, 10 * MIB):
        assert not np.frombuffer(mapped.slice(start, 10 * MIB), np.uint8).any()
        peak = max(peak, resident())
        trim_mappings()
    assert peak - before < 40 * MIB
    assert resident() - before < 20 * MIB
    mapped.close()


@needs_proc
def test_contents_survive_trimming(tmp_path):
    path = tmp_path / "model.pte"
    path.write_bytes(bytes(range(256)) * 64)
    mapped = MappedFile(path)
    array = np.frombuffer(mapped.slice(256, 256), np.uint8)
    trim_mappings()
    assert array.tolist() == list(range(256))


@needs_proc
def test_close_unmaps(tmp_path):
    path = tmp_path / "model.pte"
    path.write_bytes(b"x" * 10000)
    mapped = MappedFile(path)
    part = mapped.slice(10, 20)
    assert is_mapped(path)
    mapped.close()
    assert not is_mapped(path)
    path.unlink()
    with pytest.raises(ValueError, match="released"):
        part[0]
    mapped.close()


@needs_proc
def test_an_array_outside_outlives_close(tmp_path):
    path = tmp_path / "model.pte"
    path.write_bytes(b"x" * 10000)
    mapped = MappedFile(path)
    array = np.frombuffer(mapped.slice(10, 20), np.uint8)
    mapped.close()
    assert array.tobytes() == b"x" * 20
    del array
    assert not is_mapped(path)


def test_bytes_are_taken_as_they_are():
    source = bytearray(b"abcdef")
    file = MappedFile(source)
    assert file.path is None
    assert bytes(file.slice(1, 2)) == b"bc"
    assert file.view.readonly
    file.close()


def test_a_missing_file(tmp_path):
    with pytest.raises(NotFound, match="no such file"):
        MappedFile(tmp_path / "none.pte")


def test_an_empty_file(tmp_path):
    (tmp_path / "empty.pte").touch()
    with pytest.raises(InvalidProgram, match="is empty"):
        MappedFile(tmp_path / "empty.pte")


def test_a_folder(tmp_path):
    with pytest.raises(InvalidArgument, match="folder"):
        MappedFile(tmp_path)


def test_what_is_no_path():
    with pytest.raises(InvalidArgument, match="null"):
        MappedFile("a\0b")
    with pytest.raises(InvalidType, match="not int"):
        MappedFile(3)
    with pytest.raises(InvalidArgument, match="contiguous"):
        MappedFile(memoryview(b"abcdef")[::2])
    assert len(MappedFile(b"").view) == 0
