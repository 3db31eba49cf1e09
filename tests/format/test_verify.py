"""The verifier itself, on buffers built by hand."""

from __future__ import annotations

import flatbuffers
import pytest

from executorch_webgpu.errors import InvalidExternalData, InvalidProgram
from executorch_webgpu.format.generated import program
from executorch_webgpu.format.verify import verify


def small_program(name: str = "forward") -> bytearray:
    builder = flatbuffers.Builder()
    text = builder.CreateString(name)
    program.ExecutionPlanStart(builder)
    program.ExecutionPlanAddName(builder, text)
    plan = program.ExecutionPlanEnd(builder)
    program.ProgramStartExecutionPlanVector(builder, 1)
    builder.PrependUOffsetTRelative(plan)
    plans = builder.EndVector()
    program.ProgramStart(builder)
    program.ProgramAddExecutionPlan(builder, plans)
    builder.Finish(program.ProgramEnd(builder), b"ET12")
    return builder.Output()


def check(data: bytes | bytearray, error=InvalidProgram) -> None:
    verify(memoryview(bytes(data)), "program", b"ET12", "model.pte", error)


def test_a_good_buffer_passes():
    check(small_program())
    check(small_program("é" * 1000))


def test_every_truncation_is_refused():
    data = small_program()
    for size in range(len(data)):
        with pytest.raises(InvalidProgram, match=r"^model\.pte"):
            check(data[:size])


def test_the_error_class_is_the_callers():
    with pytest.raises(InvalidExternalData, match="identifier is b'ET12', expected b'FT01'"):
        verify(memoryview(bytes(small_program())), "flat_tensor", b"FT01", "data.ptd", InvalidExternalData)
    with pytest.raises(InvalidExternalData):
        check(small_program()[:-1], InvalidExternalData)


def test_the_message_names_the_field():
    data = small_program()
    at = bytes(data).index(b"forward")
    data[at] = 0xFF
    with pytest.raises(
        InvalidProgram, match=r"model\.pte is damaged: ExecutionPlan\.name is not UTF-8; copy or export"
    ):
        check(data)


def test_a_string_of_half_the_address_space():
    data = small_program()
    at = bytes(data).index(b"forward") - 4
    for length in (0x7FFFFFFF, 0xFFFFFFFF, len(data)):
        data[at : at + 4] = length.to_bytes(4, "little")
        with pytest.raises(InvalidProgram, match=r"ExecutionPlan\.name lies at bytes"):
            check(data)


def test_misaligned_numbers():
    """A table with an 8-byte field must lie where that field is aligned."""
    builder = flatbuffers.Builder()
    program.DataSegmentStart(builder)
    program.DataSegmentAddOffset(builder, 5)
    program.DataSegmentAddSize(builder, 6)
    segment = program.DataSegmentEnd(builder)
    program.ProgramStartSegmentsVector(builder, 1)
    builder.PrependUOffsetTRelative(segment)
    segments = builder.EndVector()
    program.ProgramStart(builder)
    program.ProgramAddSegments(builder, segments)
    builder.Finish(program.ProgramEnd(builder), b"ET12")
    data = builder.Output()
    check(data)
    # Moving everything by 4 keeps all relative offsets and spoils the alignment of 8-byte numbers alone.
    moved = (int.from_bytes(data[:4], "little") + 4).to_bytes(4, "little") + data[4:8] + bytes(4) + data[8:]
    with pytest.raises(InvalidProgram, match="misaligned"):
        check(moved)
