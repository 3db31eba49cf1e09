"""The types that are parsed in one go are those that cffi finds one by one."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import pytest
from cffi import CDefError
from wgpu.backends.wgpu_native import ffi

from executorch_webgpu.gpu.ffi_types import NAMES, prepare_types

OPEN_A_DEVICE = """
from wgpu.backends.wgpu_native import ffi
parsed = []
parse = type(ffi)._typeof_locked
type(ffi)._typeof_locked = lambda self, name: (parsed.append(name), parse(self, name))[1]
from executorch_webgpu.gpu.device import select_device
assert select_device("gpu").subgroup_size != 0
print(sum(name.startswith("WGPU") for name in parsed))
"""


@pytest.mark.parametrize("name", NAMES)
def test_types_are_cffis_own(name: str) -> None:
    prepare_types()
    known = ffi._parsed_types.pop(name)
    with contextlib.suppress(CDefError):  # raised after a function's type was found: callers want a pointer to it
        ffi._typeof(name)
    assert ffi._parsed_types[name] == known


def test_opening_a_device_parses_no_struct_by_itself() -> None:
    found = subprocess.run([sys.executable, "-c", OPEN_A_DEVICE], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["0"]
