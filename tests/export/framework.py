"""Exports the golden cases of the operator tests: small programs, their inputs and what eager PyTorch answers.

Needs torch and executorch; the tests that read the results need neither. One file here is one family: it lists its
cases in a table and ends in ``write_family``; the result is ``tests/fixtures/ops/<family>.npz``, which holds every
program and array of the family in one compressed block. Keep it below 300 KB: small shapes, several operators a case,
``long_values`` where a tensor must be long.

    from framework import Case, Dim, values, write_family

    CASES = [
        # A function of the inputs (or an nn.Module, or an nn.Module class) and the operators the delegate must hold.
        Case("softmax_last", lambda x: x.softmax(-1), (values(3, 37),), operators=("aten._softmax.default",)),
        # Dynamic: bounds through Dim, one entry per input; extra_inputs are further calls on the same loaded method.
        Case("softmax_dynamic", lambda x: x.softmax(-1), (values(7, 11),), operators=("aten._softmax.default",),
             dynamic_shapes=({0: Dim("n", max=7)},), extra_inputs=[(values(3, 11),), (values(1, 11),)]),
        # A case of the CPU kernels: nothing is delegated, the operators are those of the execution plan.
        Case("fmod", lambda x, y: torch.fmod(x, y), (values(5), values(5)), operators=("aten::fmod.Tensor_out",),
             delegate=False),
        # An operator that only runtimes know: the partitioner is told to take it.
        Case("tan", torch.tan, (values(5),), operators=("aten.tan.default",), supported=("aten.tan.default",)),
    ]

    if __name__ == "__main__":
        write_family(__file__, CASES)

Run ``python tests/export/<family>.py`` to write all cases, with ``--only TEXT`` to export again only those whose name
contains TEXT, with ``--missing`` only those that the file lacks (the others stay as they are). An operator that does
not end up in a delegate is an error that lists what did. Calls are made in order on one method; the test adds the first
call once more at the end, to see that a larger shape after a smaller one works, unless ``stateful``. Integers and bools
must agree exactly up to ``atol_int``.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import logging
import operator
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import executorch.backends.vulkan.patterns  # noqa: F401
import numpy as np
import torch
from executorch.backends.vulkan import utils
from executorch.backends.vulkan.op_registry import OpFeatures, vulkan_supported_ops
from executorch.backends.vulkan.partitioner import vulkan_partitioner
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.backends.vulkan.patterns.pattern_registry import fusable_patterns
from executorch.backends.vulkan.serialization import vulkan_graph_serialize
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.dialects._ops import ops as exir_ops
from torch.export import Dim
from torch.utils import _pytree as pytree

__all__ = ["Case", "Dim", "long_values", "values", "write_family"]

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "ops"

torch.set_num_threads(1)
torch.manual_seed(0)
logging.disable(logging.INFO)
for _entry in fusable_patterns.values():
    # The exporter traces its pattern graphs again for every program: 7 seconds each time.
    if _entry.get_graphs_fn is not None:
        _entry.get_graphs_fn = functools.cache(_entry.get_graphs_fn)


@dataclass(frozen=True)
class Case:
    """One program and the calls made on it."""

    name: str
    module: torch.nn.Module | type[torch.nn.Module] | Callable[..., Any]
    inputs: tuple[Any, ...]
    operators: tuple[str, ...]  # names that must be in a delegate (in the plan where delegate is False)
    dynamic_shapes: Sequence[Any] | None = None  # one entry per input
    extra_inputs: Sequence[tuple[Any, ...]] = ()
    force_fp16: bool = False
    atol: float | None = None  # default 1e-5, where a half is involved 2e-3
    rtol: float | None = None  # the same defaults
    atol_int: int = 0
    delegate: bool = True
    stateful: bool = False  # outputs depend on earlier calls
    # Operators that the partitioner is told to take, in every dtype, although it does not by itself: names that only
    # runtimes know ("aten.tan.default"). They are also kept from being decomposed.
    supported: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)  # further options of VulkanPartitioner
    dim_order: bool = True  # False: copies stay aten.clone and aten._to_copy
    memory_planning: Any = None  # a MemoryPlanningPass, where the default does not do


def values(
    *shape: int, dtype: torch.dtype = torch.float32, low: float = -2.0, high: float = 2.0, seed: int = 0
) -> torch.Tensor:
    """Return seeded values in [low, high): the same arguments give the same tensor wherever they are written."""
    key = zlib.crc32(repr((shape, str(dtype), low, high, seed)).encode())
    generator = torch.Generator().manual_seed(key)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
    return uniform.floor().to(dtype) if not dtype.is_floating_point else uniform.to(dtype)


def long_values(count: int, *, seed: int = 0) -> torch.Tensor:
    """Return ``count`` values that repeat after 113: long tensors, and what is computed from them, compress well."""
    return values(113, seed=seed).repeat(-(-count // 113))[:count].clone()


class _Function(torch.nn.Module):
    """A plain function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class _Pool:
    """Arrays and programs as one block of bytes, equal ones stored once."""

    def __init__(self) -> None:
        self.block = bytearray()
        self._known: dict[bytes, int] = {}

    def add(self, data: bytes) -> list[int]:
        if data not in self._known:
            self._known[data] = len(self.block)
            self.block += data
        return [self._known[data], len(data)]


def _describe(value: Any, pool: _Pool) -> dict[str, Any]:
    if value is None:
        return {"kind": "none"}
    if isinstance(value, torch.Tensor):
        array = np.ascontiguousarray(value.detach().numpy())
        return {
            "kind": "tensor",
            "dtype": array.dtype.name,
            "shape": list(value.shape),
            "bytes": pool.add(array.tobytes()),
        }
    return {"kind": type(value).__name__, "value": value}


def _module(case: Case) -> torch.nn.Module:
    torch.manual_seed(zlib.crc32(case.name.encode()))
    if isinstance(case.module, type):
        return case.module().eval()
    if isinstance(case.module, torch.nn.Module):
        return case.module
    return _Function(case.module).eval()


def _halved(value: Any) -> Any:
    """Round floats to half and back, as force_fp16 does to what enters the delegate."""
    return value.half().float() if isinstance(value, torch.Tensor) and value.dtype == torch.float32 else value


def _run(module: torch.nn.Module, inputs: tuple[Any, ...]) -> list[Any]:
    copies = tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in inputs)
    with torch.no_grad():
        return pytree.tree_leaves(module(*copies), is_leaf=lambda value: value is None)


@contextlib.contextmanager
def _support(names: tuple[str, ...]) -> Iterator[None]:
    """Let the partitioner take the operators ``names`` for a while."""
    before = dict(vulkan_supported_ops), list(vulkan_partitioner.ops_not_to_decompose)
    for name in names:
        overload = operator.attrgetter(name)
        vulkan_supported_ops[overload(exir_ops.edge)] = OpFeatures(
            inputs_storage=utils.ANY_STORAGE,
            inputs_dtypes=utils.ALL_T,
            outputs_dtypes=utils.ALL_T,
            supports_resize=True,
            supports_highdim=True,
        )
        vulkan_partitioner.ops_not_to_decompose.append(overload(torch.ops))
    try:
        yield
    finally:
        vulkan_supported_ops.clear()
        vulkan_supported_ops.update(before[0])
        vulkan_partitioner.ops_not_to_decompose[:] = before[1]


@contextlib.contextmanager
def _watch_serializer() -> Iterator[set[str]]:
    """Collect the operators of the graphs that are serialised meanwhile."""
    found: set[str] = set()
    serialize = vulkan_graph_serialize.convert_to_flatbuffer

    def watched(graph: Any) -> bytes:
        found.update(call.name for call in graph.chain)
        return serialize(graph)

    vulkan_graph_serialize.convert_to_flatbuffer = watched
    try:
        yield found
    finally:
        vulkan_graph_serialize.convert_to_flatbuffer = serialize


def _lower(case: Case, module: torch.nn.Module, inputs: tuple[Any, ...]) -> tuple[bytes, list[str], list[str]]:
    """Return the program, the operators of its delegates and the kernels of its plan."""
    shapes: Any = tuple(case.dynamic_shapes) if case.dynamic_shapes is not None else None
    if shapes is not None and isinstance(module, _Function):
        shapes = (shapes,)
    exported = torch.export.export(module, inputs, dynamic_shapes=shapes, strict=False)
    options = {"force_fp16": True, **case.options} if case.force_fp16 else dict(case.options)
    with _support(case.supported), _watch_serializer() as operators:
        edge = to_edge_transform_and_lower(
            exported,
            partitioner=[VulkanPartitioner(options)] if case.delegate else [],
            compile_config=EdgeCompileConfig(_check_ir_validity=False, _skip_dim_order=not case.dim_order),
        )
    config = (
        ExecutorchBackendConfig(memory_planning_pass=case.memory_planning)
        if case.memory_planning is not None
        else ExecutorchBackendConfig()
    )
    program = edge.to_executorch(config)
    kernels = {
        f"{kernel.name}.{kernel.overload}" if kernel.overload else kernel.name
        for plan in program.executorch_program.execution_plan
        for kernel in plan.operators
    }
    missing = set(case.operators) - (operators if case.delegate else kernels)
    if missing:
        found = sorted(operators), sorted(kernels)
        raise ValueError(f"{', '.join(sorted(missing))} not found; delegated {found[0]}, plan {found[1]}")
    return program.buffer, sorted(operators), sorted(kernels)


def _export(case: Case, pool: _Pool) -> dict[str, Any]:
    calls = [case.inputs, *case.extra_inputs]
    module = _module(case)
    if case.force_fp16:
        calls = [tuple(map(_halved, call)) for call in calls]
        module = module.half().float()
    # Before the calls: the program must hold the initial state.
    program, operators, kernels = _lower(case, module, calls[0])
    told = []
    for inputs in calls:
        flat = pytree.tree_leaves(inputs, is_leaf=lambda value: value is None)
        described = [_describe(value, pool) for value in flat]
        told.append({"inputs": described, "outputs": [_describe(value, pool) for value in _run(module, inputs)]})
    halves = case.force_fp16 or any(
        item.get("dtype") == "float16" for call in told for item in (*call["inputs"], *call["outputs"])
    )
    default = 2e-3 if halves else 1e-5
    shapes = {json.dumps([item.get("shape") for item in call["inputs"]]) for call in told}
    return {
        "name": case.name,
        "model": pool.add(program),
        "operators": operators,
        "kernels": kernels,
        "below_bound": case.dynamic_shapes is not None and len(shapes) > 1,
        "stateful": case.stateful,
        "atol": default if case.atol is None else case.atol,
        "rtol": default if case.rtol is None else case.rtol,
        "atol_int": case.atol_int,
        "calls": told,
    }


def _keep(old: dict[str, Any], block: bytes, pool: _Pool) -> dict[str, Any]:
    """Move a case of the file as it was into the new block."""

    def move(span: list[int]) -> list[int]:
        return pool.add(block[span[0] : span[0] + span[1]])

    for call in old["calls"]:
        for item in (*call["inputs"], *call["outputs"]):
            if "bytes" in item:
                item["bytes"] = move(item["bytes"])
    return {**old, "model": move(old["model"])}


def _read(path: Path) -> tuple[dict[str, dict[str, Any]], bytes]:
    if not path.exists():
        return {}, b""
    with np.load(path) as arrays:
        cases = json.loads(arrays["meta"].tobytes())["cases"]
        return {case["name"]: case for case in cases}, arrays["block"].tobytes()


def _write(path: Path, meta: dict[str, Any], block: bytes) -> None:
    """Write an .npz that numpy reads; LZMA sees across programs, which are much alike, and the dates are fixed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, data in (("meta", json.dumps(meta, sort_keys=True).encode()), ("block", block)):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.frombuffer(data, np.uint8))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), stream.getvalue(), zipfile.ZIP_LZMA)


def write_family(source: str, cases: Sequence[Case]) -> None:
    """Export the cases of the family file ``source`` into its fixture; see the head of this file."""
    parser = argparse.ArgumentParser(description=f"Export the golden cases of {Path(source).stem}.")
    parser.add_argument("--only", help="export again only cases whose name contains this text")
    parser.add_argument("--missing", action="store_true", help="export only cases that the fixture does not have yet")
    options = parser.parse_args()
    names = [case.name for case in cases]
    double = {name for name in names if names.count(name) > 1}
    if double:
        raise SystemExit(f"two cases have the name {', '.join(sorted(double))}")
    path = FIXTURES / f"{Path(source).stem}.npz"
    known, old_block = _read(path)
    pool = _Pool()
    written, failed = [], []
    for case in cases:
        keep = (options.only and options.only not in case.name) or options.missing
        if keep and case.name in known:
            written.append(_keep(known[case.name], old_block, pool))
            continue
        start = time.perf_counter()
        try:
            written.append(_export(case, pool))
        except Exception as error:  # the exporter raises anything; the other cases are worth having
            failed.append(case.name)
            if case.name in known:
                written.append(_keep(known[case.name], old_block, pool))
            print(f"{case.name} FAILED: {type(error).__name__}: {_root(error)}", flush=True)
            continue
        print(f"{case.name}: {', '.join(written[-1]['operators'])} ({time.perf_counter() - start:.1f} s)", flush=True)
    exporter = f"executorch {_version('executorch')}, torch {torch.__version__}"
    _write(path, {"exporter": exporter, "cases": written}, bytes(pool.block))
    print(f"{path}: {len(written)} cases, {path.stat().st_size / 1024:.0f} KB")
    if failed:
        raise SystemExit(f"not exported: {', '.join(failed)}")


def _root(error: BaseException) -> str:
    """Return the message of the first cause, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:600]


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
