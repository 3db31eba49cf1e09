"""Mutated files: whatever is changed, only errors of the package come out, soon and without using much memory."""

from __future__ import annotations

import functools
import random
import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executorch_webgpu.errors import ExecuTorchError
from tests.hostile.patching import FIXTURES, bomb, read_all

PROGRAMS = ["branch", "delegate", "delegate_inline", "inline", "lists", "methods", "mutable", "segment"]
FILES = [f"{name}.pte" for name in PROGRAMS] + ["bundled.bpte", "external.ptd", "blob.bin"]
WORDS = (0, 1, 3, 4, 0x7F, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@functools.cache
def contents(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def survives(data: bytes, name: str, what: str) -> bool:
    """Read a damaged file; return whether it was refused. Anything but a refusal or success fails the test."""
    try:
        read_all(data, name.rpartition(".")[2], name)
    except ExecuTorchError as error:
        assert "\n" not in str(error), what
        return True
    except BaseException as error:
        raise AssertionError(f"{name}, {what}: {type(error).__name__}: {error}") from error
    return False


@pytest.mark.parametrize("name", FILES)
def test_words_are_overwritten(name):
    """Every 32-bit word is replaced (every third one in the largest file)."""
    original, refused = contents(name), 0
    chance = random.Random(name)
    for at in range(0, len(original) - 3, 4 if len(original) < 4000 else 12):
        word = chance.choice(WORDS) if chance.random() < 0.7 else chance.randrange(1 << 32)
        data = original[:at] + word.to_bytes(4, "little") + original[at + 4 :]
        refused += survives(data, name, f"{word:#x} at byte {at}")
    assert refused > len(original) // 120


@pytest.mark.parametrize("name", FILES)
def test_bits_are_flipped(name):
    original = contents(name)
    chance = random.Random(name)
    for at in range(0, len(original), 5 if len(original) < 4000 else 11):
        data = bytearray(original)
        data[at] ^= 1 << chance.randrange(8)
        survives(bytes(data), name, f"a bit of byte {at}")


@pytest.mark.parametrize("name", FILES)
def test_the_end_is_cut_off(name):
    original = contents(name)
    for size in (*range(64), *range(64, len(original), 37)):
        # The last bytes may be padding, but a file without its flatbuffer cannot be read.
        assert survives(original[:size], name, f"cut to {size} bytes") or size > len(original) - 64


@pytest.mark.parametrize("name", FILES)
def test_several_damages_at_once(name):
    original = contents(name)
    chance = random.Random(name + "!")
    for trial in range(60):
        data = bytearray(original)
        for _ in range(chance.randrange(2, 12)):
            at = chance.randrange(len(data))
            if chance.random() < 0.2:
                del data[at : at + chance.randrange(1, 64)]
            else:
                data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            if not data:
                break
        survives(bytes(data), name, f"trial {trial}")


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(FILES), edits=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=8))))
def test_anything_anywhere(name, edits):
    data = bytearray(contents(name))
    for place, patch in edits:
        at = int(place * (len(data) - 1))
        data[at : at + len(patch)] = patch
    survives(bytes(data), name, f"{edits}")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["pte", "bpte", "ptd", "bin"]),
    head=st.sampled_from([b"", b"\x08\0\0\0ET12", b"\x28\0\0\0ET12eh00", b"\x08\0\0\0BP08", b"\x08\0\0\0FT01FH01"]),
    rest=st.binary(max_size=200),
)
def test_no_file_at_all(kind, head, rest):
    assert survives(head + rest, f"noise.{kind}", "noise") or not head + rest


@pytest.mark.parametrize("entries", [3000, 30000])
def test_a_bomb_costs_linear_time_and_memory(entries):
    data = bomb(entries)
    tracemalloc.start()
    start = time.process_time()
    try:
        assert survives(data, "bomb.pte", "a bomb")
        elapsed, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert elapsed < 4
    assert peak < 40 * len(data)
