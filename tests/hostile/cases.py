"""The hostile files: each is a good file with one thing wrong. The docstrings are the sentences of the README.

``python -m tests.hostile.cases`` writes files/ and its README.md.
"""

from __future__ import annotations

from pathlib import Path

from executorch_webgpu.format.generated import program as s
from executorch_webgpu.format.generated import vulkan_graph as v
from tests.hostile import patching as t
from tests.hostile.patching import Case

FILES = Path(__file__).resolve().parent / "files"
# name -> (what is wrong, the error's class, the contents)
CASES: dict[str, tuple[str, str, Case]] = {}


def case(name: str, sentence: str, contents: Case, error: str = "InvalidProgram") -> None:
    CASES[name] = sentence, error, contents


def program(name: str, sentence: str, base: str, damage, error: str = "InvalidProgram") -> None:
    """Add a program; ``damage(patch, plan)`` returns its bytes."""
    case(f"{name}.pte", sentence, lambda: damage(*t.program_patch(base)), error)


def blob(name: str, sentence: str, damage, error: str = "DelegateInvalidCompatibility") -> None:
    """Add a delegate blob; ``damage(patch, graph)`` returns its bytes."""

    def contents() -> bytes:
        patch = t.blob_patch()
        return damage(patch, patch.root)

    case(f"{name}.bin", sentence, contents, error)


def external(name: str, sentence: str, damage) -> None:
    """Add a tensor data file; ``damage(patch, root)`` returns its bytes."""

    def contents() -> bytes:
        patch = t.external_patch()
        return damage(patch, patch.root)

    case(f"{name}.ptd", sentence, contents, "InvalidExternalData")


# The container.
case("cut_in_half.pte", "The second half is missing.", lambda: bytes(t.fixture("segment.pte")[:788]))
case("cut_segment.pte", "The last 8 bytes of the weights are missing.", lambda: bytes(t.fixture("segment.pte")[:-8]))
case("only_identifier.pte", "There is nothing behind the file identifier.", lambda: b"\x08\0\0\0ET12")
case("other_schema.pte", "The identifier is that of another schema.", lambda: b"\x08\0\0\0ET99" + bytes(64))
program("root_outside", "The root table is far outside.", "segment.pte", lambda f, p: f.put(0, 0xFFFFFFF0))
program("root_itself", "The root table is at offset 0: itself.", "segment.pte", lambda f, p: f.put(0, 0))
program(
    "root_misaligned", "The root table starts at an odd byte.", "segment.pte", lambda f, p: f.put(0, f.data[0] + 1, 1)
)
program("header_short", "The extended header says that it has 4 bytes.", "segment.pte", lambda f, p: f.put(12, 4))
program(
    "flatbuffer_huge", "The header says 2^63 bytes of flatbuffer.", "segment.pte", lambda f, p: f.put(16, 1 << 63, 8)
)
program("flatbuffer_tiny", "The header says 3 bytes of flatbuffer.", "segment.pte", lambda f, p: f.put(16, 3, 8))
program("base_inside", "Segments start inside the flatbuffer.", "segment.pte", lambda f, p: f.put(24, 64, 8))
program("base_outside", "Segments start behind the file's end.", "segment.pte", lambda f, p: f.put(24, 1 << 40, 8))
program("base_missing", "There are segments but no start of them.", "segment.pte", lambda f, p: f.put(24, 0, 8))
program("segments_huge", "All segments together have 2^62 bytes.", "segment.pte", lambda f, p: f.put(32, 1 << 62, 8))
program(
    "segment_wraps",
    "A segment has 2^64 - 1 bytes, so that a 64-bit end would wrap round.",
    "segment.pte",
    lambda f, p: f.field(f.root.Segments(0), 1, -1, 8),
)

# The flatbuffer.
program(
    "vtable_outside", "The vtable of the root is outside.", "segment.pte", lambda f, p: f.put(f.root._tab.Pos, 1 << 30)
)
program(
    "vtable_before",
    "The vtable of a plan is before the file.",
    "segment.pte",
    lambda f, p: f.put(p._tab.Pos, 0x7FFFFFFF),
)
program(
    "table_huge",
    "A plan's vtable says that the table has 65,535 bytes.",
    "segment.pte",
    lambda f, p: f.put(
        p._tab.Pos - int.from_bytes(f.data[p._tab.Pos : p._tab.Pos + 4], "little", signed=True) + 2, -1, 2
    ),
)
program("values_huge", "There are 2^32 - 1 values.", "segment.pte", lambda f, p: f.item(p, 2, -1, -1))
program("value_itself", "A value is at offset 0: its own place.", "segment.pte", lambda f, p: f.item(p, 2, 0, 0))
program("value_unknown", "A value is of kind 200.", "segment.pte", lambda f, p: f.field(p.Values(0), 0, 200, 1))
program(
    "value_of_no_kind", "A value has a table but the kind 0.", "segment.pte", lambda f, p: f.field(p.Values(0), 0, 0, 1)
)
program("name_not_utf8", "A method's name is not UTF-8.", "segment.pte", lambda f, p: f.item(p, 0, 0, 0xFF, 1))
program("name_unterminated", "A method's name lacks its zero byte.", "segment.pte", lambda f, p: f.item(p, 0, -1, 5))
program("name_empty", "A method has no name.", "segment.pte", lambda f, p: (f.item(p, 0, -1, 0), f.item(p, 0, 0, 0))[1])
case("shared_lists.pte", "3,000 values are one list of 3,000 items: reading it would cost 9 million.", t.bomb)


# The plan.
def rename(old: bytes, new: bytes, base: str) -> Case:
    return lambda: bytes(t.fixture(base)).replace(old, new)


case("method_twice.pte", "Two methods have one name.", rename(b"get_name", b"get_size", "methods.pte"))
program("no_chain", "A method has no instructions.", "segment.pte", lambda f, p: f.item(p, 5, -1, 0))
program("arena_negative", "An arena has -1 bytes.", "segment.pte", lambda f, p: f.item(p, 8, 1, -1, 8))
program("arena_huge", "An arena has 2^62 bytes.", "segment.pte", lambda f, p: f.item(p, 8, 1, 1 << 62, 8))
program("arena_small", "A tensor ends behind its arena.", "segment.pte", lambda f, p: f.item(p, 8, 1, 16, 8))
program(
    "arena_missing",
    "A tensor is in arena 9.",
    "segment.pte",
    lambda f, p: f.field(t.value(p, 2).AllocationInfo(), 0, 9),
)
program(
    "offset_past_arena",
    "A tensor is at byte 2^31 of its arena.",
    "segment.pte",
    lambda f, p: f.field(t.value(p, 2).AllocationInfo(), 1, 1 << 31),
)
program("input_outside", "An input is value 99.", "segment.pte", lambda f, p: f.item(p, 3, 0, 99))
program("output_negative", "An output is value -1.", "segment.pte", lambda f, p: f.item(p, 4, 0, -1))
program("size_negative", "A dim has -1 elements.", "segment.pte", lambda f, p: f.item(t.value(p, 0), 2, 0, -1))
program(
    "sizes_huge",
    "A tensor has 2^61 elements.",
    "segment.pte",
    lambda f, p: (f.item(t.value(p, 0), 2, 0, (1 << 31) - 1), f.item(t.value(p, 0), 2, 1, (1 << 31) - 1))[1],
)
program("dim_order_twice", "The dim order is 0, 0.", "segment.pte", lambda f, p: f.item(t.value(p, 0), 3, 1, 0, 1))
program(
    "dim_order_outside", "The dim order is 0, 200.", "segment.pte", lambda f, p: f.item(t.value(p, 0), 3, 1, 200, 1)
)
program("dtype_unknown", "A tensor has the dtype 99.", "segment.pte", lambda f, p: f.field(t.value(p, 0), 0, 99, 1))
program("buffer_missing", "Weights are in buffer 1,000.", "segment.pte", lambda f, p: f.field(t.value(p, 0), 5, 1000))
program(
    "buffer_missing_inline",
    "The same, with inline buffers.",
    "inline.pte",
    lambda f, p: f.field(t.value(p, 0), 5, 1000),
)
program(
    "buffer_past_segment",
    "Weights start at byte 2^64 - 1 of their segment.",
    "segment.pte",
    lambda f, p: f.item(f.root.ConstantSegment(), 1, 1, -1, 8),
)
program(
    "buffer_short",
    "Inline weights have 4 bytes, not 24.",
    "inline.pte",
    lambda f, p: f.item(f.root.ConstantBuffer(1), 0, -1, 4),
)
program(
    "initial_outside",
    "The initial value of a buffer starts at byte 2^40 of its segment.",
    "mutable.pte",
    lambda f, p: f.item(f.root.MutableDataSegments(0), 1, 1, 1 << 40, 8),
)
program(
    "list_of_itself",
    "A list of ints holds itself.",
    "lists.pte",
    lambda f, p: f.item(t.value(p, 10, s.IntList), 0, 0, 10, 8),
)
program(
    "list_of_tensors",
    "A list of ints holds a tensor.",
    "lists.pte",
    lambda f, p: f.item(t.value(p, 10, s.IntList), 0, 0, 0, 8),
)
program(
    "absent_tensor",
    "A list of tensors that may not be absent has an absent one.",
    "lists.pte",
    lambda f, p: f.item(t.value(p, 5, s.TensorList), 0, 0, -1),
)
program(
    "optional_minus_two",
    "An optional tensor has the index -2.",
    "lists.pte",
    lambda f, p: f.item(t.value(p, 3, s.OptionalTensorList), 0, 0, -2),
)
program(
    "operator_nameless",
    "An operator has no name.",
    "segment.pte",
    lambda f, p: (f.item(p.Operators(0), 0, -1, 0), f.item(p.Operators(0), 0, 0, 0))[1],
)
program(
    "operator_of_two_lines",
    "An operator's name holds a line feed.",
    "segment.pte",
    lambda f, p: f.item(p.Operators(0), 0, 0, 10, 1),
)
program(
    "overload_unprintable",
    "An overload's name holds a zero byte.",
    "segment.pte",
    lambda f, p: f.item(p.Operators(0), 1, 0, 0, 1),
)
program(
    "operator_outside",
    "An instruction calls operator 50.",
    "branch.pte",
    lambda f, p: f.field(t.instruction(p, 2, s.KernelCall), 0, 50),
)
program(
    "argument_outside",
    "An operator gets value 2^31 - 1.",
    "branch.pte",
    lambda f, p: f.item(t.instruction(p, 2, s.KernelCall), 1, 0, (1 << 31) - 1),
)
program(
    "jump_outside",
    "A jump goes to instruction 9 of 8.",
    "branch.pte",
    lambda f, p: f.field(t.instruction(p, 0, s.JumpFalseCall), 1, 9),
)
program(
    "jump_negative",
    "A jump goes to instruction -1.",
    "branch.pte",
    lambda f, p: f.field(t.instruction(p, 0, s.JumpFalseCall), 1, -1),
)
program(
    "condition_of_floats",
    "A jump's condition is a tensor of floats.",
    "branch.pte",
    lambda f, p: f.field(t.instruction(p, 4, s.JumpFalseCall), 0, 1),
)
program(
    "move_outside",
    "A move writes value 1,000.",
    "branch.pte",
    lambda f, p: f.field(t.instruction(p, 3, s.MoveCall), 1, 1000),
)
program(
    "move_of_another_kind",
    "A move writes a tensor over a Bool.",
    "branch.pte",
    lambda f, p: f.field(t.instruction(p, 3, s.MoveCall), 1, 5),
)
program(
    "instruction_unknown",
    "An instruction is of kind 9.",
    "branch.pte",
    lambda f, p: f.field(p.Chains(0).Instructions(0), 0, 9, 1),
)
program(
    "delegate_in_no_segment",
    "A delegate's data is in segment 40.",
    "delegate.pte",
    lambda f, p: f.field(p.Delegates(0).Processed(), 1, 40),
)
program(
    "backend_unprintable",
    "A backend's name holds an escape character.",
    "delegate.pte",
    lambda f, p: f.item(p.Delegates(0), 0, 3, 0x1B, 1),
)
program(
    "key_in_no_segment",
    "Named data is in segment 40.",
    "delegate.pte",
    lambda f, p: f.field(f.root.NamedData(0), 1, 40),
)

# What only loading a method finds.
program(
    "dtype_bfloat16",
    "A tensor is bfloat16.",
    "segment.pte",
    lambda f, p: f.field(t.value(p, 0), 0, 15, 1),
    "NotSupported",
)
program(
    "never_ends",
    "All ways lead to a jump on a constant false to itself.",
    "branch.pte",
    lambda f, p: (
        f.field(t.instruction(p, 0, s.JumpFalseCall), 1, 4),
        f.field(t.instruction(p, 4, s.JumpFalseCall), 1, 4),
    )[1],
)
program(
    "result_too_wide",
    "A delegate gives float32 to a tensor of float16.",
    "delegate.pte",
    lambda f, p: f.field(t.value(p, 1), 0, 5, 1),
)
program(
    "delegate_of_another_shape",
    "A delegate takes 2x3 and is given 2x2.",
    "delegate.pte",
    lambda f, p: f.item(t.value(p, 0), 2, 1, 2),
)

# Around programs.
case("empty_bundle.bpte", "The bundled program is empty.", lambda: t.bundled(b""))
case(
    "bundle_in_bundle.bpte",
    "A bundled program in a bundled program.",
    lambda: t.bundled(bytes(t.fixture("bundled.bpte"))),
)
case("bundled_text.bpte", "A bundled program that holds a text.", lambda: t.bundled(b"not a program\n" * 4))
case(
    "bundled_half.bpte",
    "A bundled program that holds half a program.",
    lambda: t.bundled(bytes(t.fixture("segment.pte")[:800])),
)
external("header_lost", "The header is overwritten.", lambda f, r: f.put(8, 0))
external("flatbuffer_huge", "The header says 2^63 bytes of flatbuffer.", lambda f, r: f.put(24, 1 << 63, 8))
external("flatbuffer_far", "The header says that the flatbuffer starts at 2^40.", lambda f, r: f.put(16, 1 << 40, 8))
external("segment_outside", "A segment has 2^40 bytes.", lambda f, r: f.field(r.Segments(0), 1, 1 << 40, 8))
external("segment_missing", "A tensor is in segment 9.", lambda f, r: f.field(r.NamedData(1), 1, 9))
external(
    "key_twice",
    "Two tensors have one name.",
    lambda f, r: (
        bytes(f.data)
        .replace(b"\x04\0\0\0bias\0", b"\x04\0\0\0weig\0")
        .replace(b"\x06\0\0\0weight\0", b"\x04\0\0\0weig\0\0\0")
    ),
)
external(
    "sizes_differ",
    "A tensor is 2x2 where the program wants 2x3.",
    lambda f, r: f.item(t.named(r, b"weight").TensorLayout(), 1, 1, 2),
)
external(
    "dtype_differs",
    "A tensor is int32 where the program wants float32.",
    lambda f, r: f.field(t.named(r, b"weight").TensorLayout(), 0, 3, 1),
)
external(
    "tensor_lost", "A tensor of the program has another name.", lambda f, r: bytes(f.data).replace(b"weight", b"height")
)

# The delegate blob.
case("blob_empty.bin", "Nothing at all.", lambda: b"", "DelegateInvalidCompatibility")
blob("blob_header", "The header says that it has 10 bytes.", lambda f, r: f.put(8, 10, 2))
blob("blob_flatbuffer_outside", "The flatbuffer ends behind the blob.", lambda f, r: f.put(14, 1 << 31))
blob("blob_flatbuffer_in_header", "The flatbuffer starts inside the header.", lambda f, r: f.put(10, 8))
blob("blob_constants_in_graph", "The constants start inside the flatbuffer.", lambda f, r: f.put(18, 40))
blob("blob_constants_huge", "There are 2^64 - 1 bytes of constants.", lambda f, r: f.put(22, -1, 8))
blob("blob_other_graph", "The flatbuffer is no VK00.", lambda f, r: f.put(36, 0))
blob("constant_outside", "A constant ends behind the constants.", lambda f, r: f.field(r.Constants(0), 1, 1 << 40, 8))
blob("constant_nowhere", "A constant has no offset and no key.", lambda f, r: f.field(r.Constants(1), 0, -1, 8))
blob("constant_short", "A constant has 4 bytes, its tensor needs 24.", lambda f, r: f.field(r.Constants(0), 1, 4, 8))
blob("constant_missing", "A tensor is constant 8 of 2.", lambda f, r: f.field(t.union(r.Values(11), v.VkTensor), 2, 8))
blob("graph_input_outside", "An input is value 2^32 - 1.", lambda f, r: f.item(r, 3, 0, -1))
blob("graph_input_scalar", "An input is a Double.", lambda f, r: f.item(r, 3, 0, 3))
blob("graph_output_outside", "An output is value 14 of 14.", lambda f, r: f.item(r, 4, 0, 14))
blob("argument_negative", "An argument of a node is value -1.", lambda f, r: f.item(r.Chain(0), 2, 0, -1))
blob("node_of_two_lines", "An operator's name holds a line feed.", lambda f, r: f.item(r.Chain(0), 1, 4, 10, 1))
blob("arguments_missing", "A node has no arguments, so no output.", lambda f, r: f.item(r.Chain(0), 2, -1, 0))
blob(
    "value_list_of_itself",
    "A list of values holds itself.",
    lambda f, r: f.item(t.union(r.Values(10), v.ValueList), 0, 0, 10),
)
blob(
    "value_list_outside",
    "A list holds value 1,000.",
    lambda f, r: f.item(t.union(r.Values(10), v.ValueList), 0, 1, 1000),
)
blob(
    "data_type_unset",
    "A tensor has the data type UNSET.",
    lambda f, r: f.field(t.union(r.Values(11), v.VkTensor), 0, 127, 1),
)
blob(
    "data_type_unknown",
    "A tensor has the data type 99.",
    lambda f, r: f.field(t.union(r.Values(11), v.VkTensor), 0, 99, 1),
)
blob(
    "dims_huge",
    "A tensor has 2^64 elements.",
    lambda f, r: (
        f.item(t.union(r.Values(0), v.VkTensor), 1, 0, -1),
        f.item(t.union(r.Values(0), v.VkTensor), 1, 1, -1),
    )[1],
)
blob("graph_value_unknown", "A value is of kind 12.", lambda f, r: f.field(r.Values(0), 0, 12, 1))


def main() -> None:
    """Write all files and the README."""
    FILES.mkdir(exist_ok=True)
    for old in FILES.iterdir():
        old.unlink()
    lines = [
        "# Hostile files",
        "",
        "Each is a good file with one thing wrong; written by `python -m tests.hostile.cases`.",
        "",
    ]
    for name, (sentence, _, contents) in CASES.items():
        (FILES / name).write_bytes(contents())
        lines.append(f"- `{name}`: {sentence}")
    (FILES / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
