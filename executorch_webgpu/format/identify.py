"""Says what a file is, from its first bytes."""

from __future__ import annotations

_AT_START = {
    b"GGUF": "a GGUF model",
    b"PK\x03\x04": "a zip archive (a PyTorch .pt or .pt2, perhaps)",
    b"\x80\x02": "a Python pickle (an old PyTorch .pt, perhaps)",
    b"\x80\x04": "a Python pickle",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x89HDF": "an HDF5 file",
    b"\x7fELF": "a program for Linux (ELF)",
    b"\x1f\x8b": "a gzip archive",
    b"\xfd7zXZ": "an xz archive",
    b"version https://git-lfs": "a Git LFS pointer, not the file itself",
}
_IDENTIFIERS = {
    b"ET12": "an ExecuTorch program (.pte)",
    b"FT01": "an ExecuTorch tensor data file (.ptd)",
    b"BP08": "an ExecuTorch bundled program (.bpte)",
    b"ED00": "an ETDump (.etdp)",
    b"TFL3": "a TensorFlow Lite model",
    b"VK00": "a Vulkan delegate graph without its program",
    b"VH00": "a Vulkan delegate blob without its program",
}
# Producer, its version, domain, model version, documentation, graph, operator sets.
_AFTER_IR_VERSION = (b"\x12", b"\x1a", b"\x22", b"\x28", b"\x32", b"\x3a", b"\x42")


def identify(data: bytes | memoryview) -> str:
    """Return what a file with these bytes (its first few KiB suffice) is, as a noun phrase."""
    head = bytes(data[:4096])
    if not head:
        return "an empty file"
    # A zip archive begins with the header of its first member, whose name starts at byte 30.
    if head.startswith(b"PK\x03\x04") and head[30 : 30 + int.from_bytes(head[26:28], "little")].endswith(b".npy"):
        return "an archive of NumPy arrays (.npz)"
    for magic, name in _AT_START.items():
        if head.startswith(magic):
            return name
    found = _IDENTIFIERS.get(head[4:8])
    if found:
        return found
    if head[4:6] == b"ET" and head[6:8].isdigit():
        return f"an ExecuTorch program of schema {head[4:8].decode()}, which is not supported"
    if len(head) > 16 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32:
        return "a safetensors file"
    # A protobuf message whose first field is an IR version of 3 or more, then a field that ModelProto has.
    if len(head) > 2 and head[0] == 8 and 3 <= head[1] < 32 and head[2:3] in _AFTER_IR_VERSION:
        return "an ONNX model"
    return "a text file" if _is_text(head) else "of no known format"


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The last character may be cut.
        if error.start < len(head) - 4:
            return False
        text = head[: error.start].decode("utf-8")
    return all(c.isprintable() or c in "\r\n\t\f\b" for c in text)
