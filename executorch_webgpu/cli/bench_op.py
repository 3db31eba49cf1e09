"""``bench-op``: the time and error of one operator."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from executorch_webgpu.cli.output import note, print_json, progress, time_text
from executorch_webgpu.cli.shapes import Shapes, parse_shapes

if TYPE_CHECKING:
    from executorch_webgpu.insight.operator_case import OperatorCase
    from executorch_webgpu.insight.operator_timing import OperatorTiming


@click.command()
@click.argument("name")
@click.option(
    "--shape",
    "shapes",
    callback=parse_shapes,
    multiple=True,
    required=True,
    metavar="1x3,2x4",
    help="The problem's shape, or one for each tensor.",
)
@click.option("--dtype", default="float32", show_default=True, help="Dtype of the tensors that are not packed.")
@click.option("--output-shape", callback=parse_shapes, metavar="1x3", help="The output's, where it is needed.")
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="Another argument, as a literal.")
@click.option("--group", default=32, show_default=True, help="Group size of 4-bit weights.")
@click.option("--device", default="auto", show_default=True, help="auto, gpu, cpu, an index or part of a name.")
@click.option("-r", "--repeat", default=20, show_default=True, type=click.IntRange(1), help="Repetitions.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random data.")
@click.option("--watch", is_flag=True, help="Measure again whenever a file in EXECUTORCH_WEBGPU_SHADERS changes.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def bench_op_command(
    name: str,
    shapes: Shapes,
    dtype: str,
    output_shape: Shapes,
    arguments: tuple[str, ...],
    group: int,
    device: str,
    repeat: int,
    seed: int,
    watch: bool,
    as_json: bool,
) -> None:
    """Measure operator NAME on random data and compare it with its reference.

    Operators with packed weights or caches take one problem shape: linear_q4gsw and other linears MxKxN,
    sdpa_with_kv_cache SxHxKVxDxC (rows, heads, key-value heads, head size, context), embedding_q4gsw RxVxD. Others take
    one shape for each tensor and the rest through --arg. With EXECUTORCH_WEBGPU_SHADERS=DIR shaders are read from DIR,
    a copy of the package's folder ops.
    """
    from executorch_webgpu.insight.operator_case import build_case
    from executorch_webgpu.insight.operator_timing import time_operator

    flat = [shape for shape in shapes if shape is not None]
    given = {}
    for argument in arguments:
        key, found, value = argument.partition("=")
        if not found:
            raise click.BadParameter(f"{argument!r} is not NAME=VALUE", param_hint="--arg")
        given[key] = value
    folder = os.environ.get("EXECUTORCH_WEBGPU_SHADERS")
    if watch and not folder:
        raise click.UsageError("--watch needs EXECUTORCH_WEBGPU_SHADERS=DIR")
    with progress("preparing"):
        output = output_shape[0] if output_shape else None
        case = build_case(name, flat, dtype, given, group=group, seed=seed, output=output)
    while True:
        before = _times(folder) if watch and folder else {}
        with progress("measuring"):
            timing = time_operator(case, device, repeat)
        _report(case, timing, as_json)
        if not watch or not folder:
            return
        note(f"waiting for a change in {folder}; Ctrl-C ends")
        while _times(folder) == before:
            time.sleep(0.2)


def _report(case: OperatorCase, timing: OperatorTiming, as_json: bool) -> None:
    bandwidth = case.nbytes / timing.median
    rate = case.operations / timing.median
    if as_json:
        print_json(
            {
                "operator": case.name,
                "device": timing.device,
                "kernels": timing.kernels,
                "clock": timing.clock,
                "seconds": timing.seconds,
                "median": timing.median,
                "bytes": case.nbytes,
                "bytes_per_second": bandwidth,
                "operations": case.operations or None,
                "operations_per_second": rate or None,
                "largest_error": timing.error if timing.error != float("inf") else "inf",
                "largest_value": timing.scale,
            }
        )
        return
    click.echo(f"{case.name} on {timing.device}")
    if timing.kernels:
        click.echo(f"  kernels  {', '.join(timing.kernels)}")
    spread = f"{time_text(min(timing.seconds))} to {time_text(max(timing.seconds))}"
    click.echo(
        f"  time     {time_text(timing.median)} median of {len(timing.seconds)} ({spread}, {timing.clock} clock)"
    )
    click.echo(f"  memory   {bandwidth / 1e9:.4g} GB/s for {case.nbytes} bytes")
    if case.operations:
        click.echo(f"  compute  {rate / 1e12:.4g} TFLOP/s for {case.operations / 1e9:.4g} GFLOP")
    click.echo(f"  error    {timing.error:.3g} at most, values up to {timing.scale:.3g}")


def _times(folder: str) -> dict[str, float]:
    return {str(path): path.stat().st_mtime for path in Path(folder).rglob("*.wgsl")}
