"""Reads what a shader declares: its bindings and the layout of ``struct Params``, so that Python never repeats it."""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from executorch_webgpu.errors import Internal
from executorch_webgpu.ops.dispatch import ParamValue
from executorch_webgpu.ops.symbols import Sym

_STORAGE = re.compile(r"@binding\((\d+)\)\s*var<storage(?:,\s*(read|read_write))?>\s*(\w+)\s*:")
_UNIFORM = re.compile(r"@binding\((\d+)\)\s*var<uniform>")
_STRUCT = re.compile(r"struct Params\s*\{(.*?)\n\}", re.DOTALL)
_MEMBER = re.compile(r"(\w+)\s*:\s*(u32|i32|f32|vec[24]<\w+>|array<vec4<\w+>,\s*\d+>)\s*,?\s*$")


@dataclass(frozen=True)
class Member:
    """One member of Params: byte offset, count of scalars and their struct code (I, i or f)."""

    offset: int
    count: int
    code: str


@dataclass(frozen=True)
class Interface:
    """What a shader binds. ``storage`` maps variable names to (binding, access)."""

    storage: Mapping[str, tuple[int, str]]
    uniform: int | None
    members: Mapping[str, Member]
    params_bytes: int


@functools.lru_cache(maxsize=4096)
def read_interface(source: str, name: str) -> Interface:
    """Return the bindings and parameters that WGSL ``source`` declares."""
    source = re.sub(r"//[^\n]*", "", source)
    storage = {m[3]: (int(m[1]), m[2] or "read") for m in _STORAGE.finditer(source)}
    uniform = _UNIFORM.search(source)
    members: dict[str, Member] = {}
    offset = 0
    body = _STRUCT.search(source)
    if body:
        for line in re.split(r",\s*\n|\n", body[1]):
            if not line.strip():
                continue
            match = _MEMBER.match(line.strip())
            if match is None:
                raise Internal(f"{name}: cannot read the member {line.strip()!r} of Params")
            kind = match[2]
            scalar = re.search(r"[uif]32", kind)
            assert scalar is not None
            code = {"u32": "I", "i32": "i", "f32": "f"}[scalar[0]]
            if kind.startswith("array"):
                align, count = 16, 4 * int(kind.rsplit(",", 1)[1].rstrip(" >"))
            elif kind.startswith("vec"):
                count = int(kind[3])
                align = 4 * count
            else:
                align, count = 4, 1
            offset = -(-offset // align) * align
            members[match[1]] = Member(offset, count, code)
            offset += 4 * count
    return Interface(storage, int(uniform[1]) if uniform else None, members, -(-offset // 16) * 16)


def pack_params(
    interface: Interface, params: Mapping[str, ParamValue], name: str
) -> tuple[bytes, tuple[tuple[int, str, Sym], ...]]:
    """Return the bytes of Params and the live places in them: (offset, struct code, expression)."""
    if params.keys() != interface.members.keys():
        missing = sorted(interface.members.keys() - params.keys())
        unknown = sorted(params.keys() - interface.members.keys())
        raise Internal(f"{name}: parameters missing: {missing}, unknown: {unknown}")
    data = bytearray(interface.params_bytes)
    places: list[tuple[int, str, Sym]] = []
    for key, member in interface.members.items():
        value = params[key]
        items = value if isinstance(value, tuple) else (value,)
        if len(items) != member.count:
            raise Internal(f"{name}: parameter {key} has {len(items)} values, not {member.count}")
        for index, item in enumerate(items):
            offset = member.offset + 4 * index
            if isinstance(item, Sym):
                places.append((offset, member.code, item))
            else:
                pack_scalar(data, offset, member.code, item, f"{name}: parameter {key}")
    return bytes(data), tuple(places)


def pack_scalar(data: bytearray, offset: int, code: str, value: float, what: str) -> None:
    """Write one scalar; a float too large for float32 becomes an infinity."""
    try:
        if code == "f":
            struct.pack_into("<f", data, offset, value)
        else:
            struct.pack_into("<" + code, data, offset, int(value))
    except OverflowError:
        struct.pack_into("<f", data, offset, float("inf") if value > 0 else float("-inf"))
    except struct.error as error:
        raise Internal(f"{what} is {value}, which does not fit") from error


def make_writable(source: str) -> str:
    """Return the source with every storage binding read_write, for a buffer that is both input and output."""
    return re.sub(r"var<storage(?:,\s*read)?>", "var<storage, read_write>", source)
