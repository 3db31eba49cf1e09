"""Make the golden values of the numpy references: PyTorch's answers to calls of single operators.

``python tests/export/reference_goldens.py [FAMILY...]`` runs the tables in ``reference_cases/`` and writes one file for
each to ``tests/fixtures/references``: a JSON text with the calls, and one block of bytes with all arrays.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures" / "references"
FAMILIES = sorted(path.stem for path in (HERE / "reference_cases").glob("[a-z]*.py") if path.stem != "case")
OPTIONS = ("dtype", "layout", "device", "pin_memory")  # of overloads without an output, which decides them
SCALAR_TYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
    torch.complex32, torch.complex64, torch.complex128, torch.bool,
]  # fmt: skip


def functional(name: str) -> torch._ops.OpOverload:
    """Return the operator that computes what the kernel ``name`` writes to its outputs.

    ``aten.relu6.default`` is the spelling of delegates, ``aten::relu.out`` that of plans.
    """
    space, base, overload = re.match(r"(\w+?)(?:::|\.)(\w+)\.?(\w*)$", name).groups()
    packet = getattr(getattr(torch.ops, space), base)
    chosen = getattr(packet, overload or "default")
    wanted = [(a.name, str(a.type)) for a in chosen._schema.arguments if not a.is_out]
    if len(wanted) == len(chosen._schema.arguments):
        return chosen
    for other in packet.overloads():
        found = getattr(packet, other)
        arguments = found._schema.arguments
        known = [(a.name, str(a.type)) for a in arguments if (a.name, str(a.type)) in wanted or a.name not in OPTIONS]
        if known == wanted and not any(a.is_out for a in arguments) and not found.name().endswith("_"):
            return found
    raise SystemExit(f"{name} has no functional overload")


def call(name: str, args: Sequence[Any], dtype: torch.dtype | None) -> Any:
    """Return PyTorch's answer; arguments are in schema order."""
    space, _, rest = name.partition("::")
    if space == "dim_order_ops":
        name = {"_empty_dim_order.out": "aten::empty.out", "_clone_dim_order.out": "aten::clone.out"}.get(
            rest, "aten::_to_copy.out"
        )
        args = args[:1]
    operator = functional(name)
    positional, named = [], {}
    for argument, value in zip(operator._schema.arguments, args, strict=False):
        if argument.kwarg_only:
            named[argument.name] = value
        else:
            positional.append(value)
    if dtype is not None:
        named["dtype"] = dtype
    copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in positional]
    return operator(*copies, **named)


class Pool:
    """Arrays as one block of bytes, equal ones stored once."""

    def __init__(self) -> None:
        self.block = bytearray()
        self._known: dict[bytes, int] = {}

    def encode(self, value: Any) -> Any:
        """Return ``value`` as JSON takes it."""
        if isinstance(value, torch.Tensor):
            array = value.detach().resolve_conj().contiguous().numpy()
            data = array.tobytes()
            if data not in self._known:
                self._known[data] = len(self.block)
                self.block += data
            return {"dtype": array.dtype.name, "shape": list(array.shape), "at": self._known[data]}
        if isinstance(value, torch.dtype):
            return SCALAR_TYPES.index(value)
        if isinstance(value, list | tuple):
            return [self.encode(item) for item in value]
        return value


def write(family: str) -> None:
    """Run one table and write its file."""
    module = importlib.import_module(f"reference_cases.{family}")
    pool = Pool()
    told = []
    for case in module.CASES:
        answer = case.expect if case.expect is not None else call(case.name, case.args, case.dtype)
        answers = list(answer) if isinstance(answer, list | tuple) else [answer]
        told.append(
            {
                "name": case.name,
                "args": pool.encode(list(case.args)),
                "answers": pool.encode(answers),
                "rtol": case.rtol,
                "atol": case.atol,
                "random": case.random,
            }
        )
    path = FIXTURES / f"{family}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, data in (("meta", json.dumps(told).encode()), ("block", bytes(pool.block))):
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.frombuffer(data, np.uint8))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), stream.getvalue(), zipfile.ZIP_LZMA)
    print(f"{path}: {len(told)} calls of {len({item['name'] for item in told})} kernels, {path.stat().st_size} bytes")


def main() -> None:
    """Write the families that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", nargs="*", default=FAMILIES)
    torch.set_num_threads(1)
    sys.path.insert(0, str(HERE))
    for family in parser.parse_args().family:
        write(family)


if __name__ == "__main__":
    main()
