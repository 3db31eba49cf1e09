"""Exports the programs of the executor's and the runtime's tests into tests/fixtures/plan/.

Each program is a .pte of a few KB; beside it ``NAME.json`` has calls with inputs and eager PyTorch's outputs:
``{"method", "calls": [{"inputs": [...], "outputs": [...]}]}``, a tensor as ``{"dtype", "shape", "values"}``.

Run ``python tests/export/plan_fixtures.py [NAME]...`` with torch and executorch.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import executorch.backends.vulkan.patterns  # noqa: F401
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from functorch.experimental.control_flow import map as map_loop
from torch.export import Dim
from torch.utils import _pytree as pytree

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "plan"
torch.set_num_threads(1)


class Function(torch.nn.Module):
    """A plain function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class Accumulator(torch.nn.Module):
    """A buffer of the plan that counts from its initial value."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


class Cache(torch.nn.Module):
    """State inside a delegate: rows written at a position."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.rows.add_(x)
        return self.rows * 2


class Writer(torch.nn.Module):
    """One of two methods on a shared buffer."""

    def __init__(self, buffer: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("shared", buffer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.shared.copy_(x)
        return x + 1


class Reader(torch.nn.Module):
    """The other method on the shared buffer."""

    def __init__(self, buffer: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("shared", buffer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.shared.add_(x)
        return self.shared * 1


class Weighted(torch.nn.Module):
    """A linear layer in a delegate, for weights."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(3, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


class ConstantOut(torch.nn.Module):
    """Outputs of every kind: the input, a constant, one value twice, None."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.tensor([3, 1, 2]))

    def forward(self, x: torch.Tensor) -> Any:
        y = x + x
        return x, self.table, y, None, y


def branch(flag: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Choose by a bool tensor, twice nested."""
    inner = lambda v: torch.cond(v.sum() > 0, lambda a: a + 1, lambda a: a - 1, (v,))  # noqa: E731
    return torch.cond(flag, inner, lambda v: v * 3, (x,)) * 2


def loop(xs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Map over rows."""
    return map_loop(lambda row, other: row * other + 1, xs, y)


def scalars(x: torch.Tensor, i: int, f: float, flag: bool, text: str) -> torch.Tensor:
    """Use static inputs of every scalar kind."""
    y = x * i + f
    return y + 1 if flag and text == "plus" else y


@dataclass
class Fixture:
    """One program."""

    methods: dict[str, tuple[torch.nn.Module, tuple[Any, ...]]]
    calls: Sequence[tuple[str, tuple[Any, ...]]]
    partitioner: list[Any] = field(default_factory=list)
    dynamic: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] | None = None
    passes: list[Any] = field(default_factory=list)
    planning: Any = None


def function(fn: Callable[..., Any] | torch.nn.Module, *calls: tuple[Any, ...], **options: Any) -> Fixture:
    """Return a fixture with the one method forward."""
    module = fn if isinstance(fn, torch.nn.Module) else Function(fn)
    return Fixture({"forward": (module, calls[0])}, [("forward", call) for call in calls], **options)


def vulkan(**options: Any) -> list[Any]:
    """Return a fresh partitioner."""
    return [VulkanPartitioner(options)]


def shared_buffers() -> Fixture:
    """Two methods whose buffer the exporter places in a shared area."""
    buffer = torch.zeros(3)
    x = torch.tensor([1.0, 2.0, 3.0])
    return Fixture(
        {"write": (Writer(buffer), (x,)), "read": (Reader(buffer), (x,))},
        [("write", (x,)), ("read", (x * 10,)), ("read", (x,)), ("write", (x * 5,)), ("read", (x * 0,))],
        planning=MemoryPlanningPass(share_mutable_buffers=True),
    )


def fixtures() -> dict[str, Callable[[], Fixture]]:
    """Return all programs by name."""
    a, b = torch.arange(6.0).reshape(2, 3), torch.full((2, 3), 0.5)
    n = Dim("n", max=5)
    image = torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    return {
        "add": lambda: function(lambda x, y: x + y, (a, b), (a, -a), partitioner=vulkan()),
        "portable": lambda: function(lambda x, y: x + y, (a, b)),
        "weights": lambda: function(Weighted(), (a,), partitioner=vulkan()),
        "dynamic": lambda: function(
            lambda x: x + 1,
            (torch.zeros(5, 2),),
            (torch.ones(3, 2),),
            (torch.ones(5, 2),),
            partitioner=vulkan(),
            dynamic={"forward": (({0: n},),)},
        ),
        "dynamic_portable": lambda: function(
            lambda x: torch.cat([x, x]) + 1,
            (torch.zeros(5, 2),),
            (torch.ones(3, 2),),
            dynamic={"forward": (({0: n},),)},
        ),
        "outputs": lambda: function(ConstantOut(), (a,), partitioner=vulkan()),
        "accumulator": lambda: function(
            Accumulator(), (torch.ones(3),), (torch.ones(3) * 2,), passes=[InitializedMutableBufferPass(["total"])]
        ),
        "accumulator_zero": lambda: function(Accumulator(), (torch.ones(3),), (torch.ones(3) * 2,)),
        "cache": lambda: function(
            Cache(), (torch.ones(3),), (torch.ones(3) * 2,), partitioner=vulkan(alias_buffer_mutations=True)
        ),
        "dropped_state": lambda: function(Cache(), (torch.ones(3),), partitioner=vulkan()),
        "branch": lambda: function(
            branch,
            (torch.tensor(True), torch.tensor([1.0, 2.0])),
            (torch.tensor(True), torch.tensor([-1.0, -2.0])),
            (torch.tensor(False), torch.tensor([-1.0, -2.0])),
        ),
        "loop": lambda: function(loop, (a, torch.tensor([1.0, 2.0, 3.0])), (a * 2, torch.tensor([1.0, 0.0, 3.0]))),
        "scalars": lambda: function(scalars, (a, 3, 0.5, True, "plus"), partitioner=vulkan()),
        "dynamic_int": lambda: function(
            lambda x, end: x[:, :end] * 2,
            (torch.arange(16.0).reshape(2, 8), 5),
            (torch.arange(16.0).reshape(2, 8), 3),
            partitioner=vulkan(),
            dynamic={"forward": ((None, Dim.DYNAMIC),)},
        ),
        "channels_last": lambda: function(
            lambda x: torch.nn.functional.max_pool2d(x, 2) * 2, (image,), partitioner=vulkan()
        ),
        "views": lambda: function(lambda x: (x.view(3, 2) * 2).view(6) + x.view(6), (a,)),
        "integers": lambda: function(lambda x: x + x, (torch.tensor([1, -2, 3]),), partitioner=vulkan()),
        "half": lambda: function(
            lambda x: x * 3, (torch.tensor([0.1, 1.0]).half().float(),), partitioner=vulkan(force_fp16=True)
        ),
        "rank0": lambda: function(
            lambda x, n, flag: torch.where(flag, x * 2, x - n),
            (torch.tensor(1.5), torch.tensor(3), torch.tensor(True)),
        ),
        "two_delegates": lambda: function(
            lambda x: torch.topk((x + 1) * 2, 2).values - 3, (torch.tensor([1.0, 5.0, 3.0]),), partitioner=vulkan()
        ),
        "foreign": lambda: function(Weighted(), (a,), partitioner=[XnnpackPartitioner()]),
        "missing": lambda: function(lambda x, y: torch.special.zeta(x + 1, y), (a + 2, b)),
        "shared_buffers": shared_buffers,
        "methods": lambda: Fixture(
            {"double": (Function(lambda x: x * 2), (a,)), "negate": (Function(lambda x: -x), (a,))},
            [("double", (a,)), ("negate", (a,))],
            constants={
                "get_size": 7,
                "get_scale": 0.25,
                "use_cache": True,
                "get_name": "tiny",
                "get_ids": [1, 2],
                "get_table": torch.tensor([1.5, 2.5]),
            },
        ),
    }


def describe(value: Any) -> Any:
    """Return a value as JSON."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return {"dtype": dtype, "shape": list(value.shape), "values": value.flatten().tolist()}
    # The exporter writes a string input as a Null that nothing reads.
    return None if isinstance(value, str) else value


def answer(module: torch.nn.Module, inputs: tuple[Any, ...]) -> list[Any]:
    """Return eager PyTorch's outputs."""
    with torch.no_grad():
        return pytree.tree_leaves(module(*inputs), is_leaf=lambda value: value is None)


def export(name: str, fixture: Fixture) -> None:
    """Write one program and its calls."""
    programs = {
        method: torch.export.export(module, inputs, dynamic_shapes=fixture.dynamic.get(method), strict=False)
        for method, (module, inputs) in fixture.methods.items()
    }
    edge = to_edge_transform_and_lower(
        programs,
        partitioner=dict.fromkeys(programs, fixture.partitioner),
        constant_methods=fixture.constants,
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    options: dict[str, Any] = {"passes": fixture.passes}
    if fixture.planning is not None:
        options["memory_planning_pass"] = fixture.planning
    program = edge.to_executorch(ExecutorchBackendConfig(**options))
    calls = [
        {
            "method": method,
            "inputs": [describe(value) for value in inputs],
            "outputs": [describe(value) for value in answer(fixture.methods[method][0], inputs)],
        }
        for method, inputs in fixture.calls
    ]
    FIXTURES.mkdir(parents=True, exist_ok=True)
    (FIXTURES / f"{name}.pte").write_bytes(program.buffer)
    (FIXTURES / f"{name}.json").write_text(json.dumps({"calls": calls}, indent=1) + "\n")
    print(name, len(program.buffer), flush=True)


if __name__ == "__main__":
    known = fixtures()
    for chosen in sys.argv[1:] or known:
        export(chosen, known[chosen]())
