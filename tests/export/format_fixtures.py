"""Exports the files of the format tests into tests/fixtures/format/: every way in which a file can hold its parts.

Run ``python tests/export/format_fixtures.py`` with torch and executorch.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import executorch.backends.vulkan.serialization.vulkan_graph_schema as v
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.serialization.vulkan_graph_serialize import serialize_vulkan_graph
from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir._serialize._flatbuffer_program import _program_to_flatbuffer
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "format"
torch.set_num_threads(1)
torch.manual_seed(0)
X = torch.arange(6.0).reshape(2, 3)


class Linear(torch.nn.Module):
    """Weights that are easy to recognise: 0, 1, 2, ... and a bias of 10, 20."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.bias = torch.nn.Parameter(torch.tensor([10.0, 20.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weight, self.bias)


class Counter(torch.nn.Module):
    """A buffer of the plan with an initial value."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


class Lists(torch.nn.Module):
    """Lists of every kind: tensors, optional tensors, ints, and a symbolic size."""

    def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        picked = x[:, index]
        return torch.cat([picked, x], 1).permute(1, 0)


class Branch(torch.nn.Module):
    """Both arms of a condition: jumps and moves."""

    def forward(self, flag: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(flag, lambda x: x * 2, lambda x: x - 1, (x,))


def program(
    methods: dict[str, tuple[torch.nn.Module, tuple[Any, ...]]],
    partitioner: list[Any] | None = None,
    dynamic: Any = None,
    constants: dict[str, Any] | None = None,
    transform: Callable[[torch.export.ExportedProgram], None] | None = None,
    **options: Any,
) -> Any:
    """Return an ExecuTorch program of some methods."""
    exported = {
        name: torch.export.export(module, inputs, dynamic_shapes=dynamic, strict=False)
        for name, (module, inputs) in methods.items()
    }
    for method in exported.values():
        if transform is not None:
            transform(method)
    edge = to_edge_transform_and_lower(
        exported,
        partitioner=dict.fromkeys(exported, partitioner or []),
        constant_methods=constants,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    return edge.to_executorch(ExecutorchBackendConfig(**options))


def blob() -> bytes:
    """Return a delegate blob with its constants inside and a value of every kind."""
    floats, halves = v.VkDataType.FLOAT32, v.VkDataType.FLOAT16
    values = [
        v.VkTensor(floats, [2, 3], -1, 0),
        v.VkTensor(floats, [2, 3], 0, -1),
        v.Int(7),
        v.Double(0.5),
        v.Bool(True),
        v.Null(),
        v.String("none"),
        v.IntList([2, -1]),
        v.DoubleList([1.5, float("inf")]),
        v.BoolList([True, False]),
        v.ValueList([0, 2]),
        v.VkTensor(halves, [3], 1, -1, v.VkStorageType.BUFFER, v.VkMemoryLayout.TENSOR_WIDTH_PACKED, floats),
        v.SymInt(0),
        v.VkTensor(floats, [0, 3], -1, -1),
    ]
    chain = [
        v.OperatorCall(0, "aten.add.Tensor", [0, 1, 2, 0]),
        v.OperatorCall(1, "sym_size.int", [0, 2, 12]),
    ]
    graph = v.VkGraph("0", chain, [v.VkValue(value) for value in values], [0], [0, 12], [], [])
    return serialize_vulkan_graph(graph, [torch.arange(6.0), torch.tensor([1.0, 2.0, 3.0])], [])


def write(name: str, contents: bytes) -> None:
    """Write one file."""
    (FIXTURES / name).write_bytes(contents)
    print(name, len(contents), flush=True)


def main() -> None:
    """Write all files."""
    FIXTURES.mkdir(parents=True, exist_ok=True)
    forward = {"forward": (Linear(), (X,))}
    vulkan = [VulkanPartitioner()]

    named = program(forward, vulkan)
    write("delegate.pte", named.buffer)
    write("delegate_inline.pte", program(forward, vulkan, extract_delegate_segments=False).buffer)
    write("blob.bin", blob())
    write("segment.pte", program(forward).buffer)
    # As files were before there were segments: everything in the flatbuffer, no extended header.
    older = _program_to_flatbuffer(program(forward).executorch_program, constant_tensor_alignment=16)
    write("inline.pte", bytes(older.data))

    external = program(forward, external_constants=lambda node: "weights")
    write("external.pte", external.buffer)
    write("external.ptd", bytes(external._tensor_data["weights"]))
    split = program(forward, [VulkanPartitioner({"external_constants_max_data_bytes": 24})])
    write("split.pte", split.buffer)
    for index, key in enumerate(sorted(split._tensor_data)):
        write(f"split_{index}.ptd", bytes(split._tensor_data[key]))

    counter = {"forward": (Counter(), (torch.ones(3),))}
    write("mutable.pte", program(counter, passes=[InitializedMutableBufferPass(["total"])]).buffer)
    write("branch.pte", program({"forward": (Branch(), (torch.tensor(True), X))}).buffer)
    write(
        "lists.pte",
        program(
            {"forward": (Lists(), (X, torch.tensor([0, 2])))},
            dynamic=({0: torch.export.Dim("rows", max=8)}, None),
        ).buffer,
    )
    write(
        "methods.pte",
        program(
            {"double": (Linear(), (X,)), "again": (Linear(), (X,))},
            vulkan,
            constants={"get_size": 7, "get_scale": 0.25, "use_cache": True, "get_name": "tiny", "get_ids": [1, 2]},
        ).buffer,
    )

    case = MethodTestCase(inputs=[X], expected_outputs=[Linear()(X).detach()])
    bundled = BundledProgram(program(forward), [MethodTestSuite(method_name="forward", test_cases=[case])])
    write("bundled.bpte", serialize_from_bundled_program_to_flatbuffer(bundled))


if __name__ == "__main__":
    main()
