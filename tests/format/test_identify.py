"""What a file is, from its first bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from executorch_webgpu.format import identify

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "format"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", "an empty file"),
        (b"GGUF\x03\0\0\0", "a GGUF model"),
        (b"PK\x03\x04" + bytes(20), "a zip archive"),
        (b"PK\x03\x04" + bytes(22) + b"\x07\0\0\0in0.npy", "an archive of NumPy arrays (.npz)"),
        (b"\x80\x02}q\0.", "a Python pickle"),
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\x7fELF\x02\x01", "a program for Linux"),
        (b"\x1f\x8b\x08\0", "a gzip archive"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"\x1c\0\0\0TFL3" + bytes(16), "a TensorFlow Lite model"),
        (b"\x1c\0\0\0ET11" + bytes(16), "an ExecuTorch program of schema ET11, which is not supported"),
        (b"\x1c\0\0\0ED00" + bytes(16), "an ETDump"),
        (b"\x40\0\0\0\0\0\0\0" + b'{"weight":{"dtype":"F32"}}', "a safetensors file"),
        (b"\x08\x08\x12\x07pytorch\x1a\x05", "an ONNX model"),
        (b"\x08\x0a:\xc3\x01\n\x0b", "an ONNX model"),
        (b"\x08\x01\x12\x80\x02", "of no known format"),
        (b"\x08", "a text file"),
        ("Grüße an alle\n".encode(), "a text file"),
        (("ü" * 3000).encode()[:4096], "a text file"),
        (bytes(range(1, 256)), "of no known format"),
        (b"\0" * 100, "of no known format"),
    ],
)
def test_identify(head, expected):
    assert identify(head).startswith(expected)
    assert identify(memoryview(head)).startswith(expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("segment.pte", "an ExecuTorch program (.pte)"),
        ("inline.pte", "an ExecuTorch program (.pte)"),
        ("external.ptd", "an ExecuTorch tensor data file (.ptd)"),
        ("bundled.bpte", "an ExecuTorch bundled program (.bpte)"),
        ("blob.bin", "a Vulkan delegate blob without its program"),
    ],
)
def test_our_own(name, expected):
    assert identify((FIXTURES / name).read_bytes()) == expected


def test_arrays(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    assert identify((tmp_path / "x.npy").read_bytes()) == "a NumPy array (.npy)"
