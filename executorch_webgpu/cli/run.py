"""``run``: run a program and print its outputs."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

import click

from executorch_webgpu.cli.output import note, print_json, progress, time_text
from executorch_webgpu.cli.shapes import Shapes, parse_shapes

SHOWN_VALUES = 8


@click.command()
@click.argument("model")
@click.option("--input", "inputs", multiple=True, metavar="[NAME=]X", help="An input; see above. Ones if not given.")
@click.option(
    "--input-shapes", callback=parse_shapes, metavar="1x3,2x4", help="Shapes of generated and .bin inputs, by position."
)
@click.option("--method", metavar="NAME", help="The method; forward, else the only one.")
@click.option("--data", multiple=True, metavar="F.ptd", help="A file with external weights.")
@click.option("--device", default="auto", show_default=True, help="auto, gpu, cpu, an index or part of a name.")
@click.option("--output", metavar="F.npz|DIR", help="Where to save the outputs.")
@click.option("--repeat", default=1, show_default=True, type=click.IntRange(1), help="How many calls to make.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def run_command(
    model: str,
    inputs: tuple[str, ...],
    input_shapes: Shapes,
    method: str | None,
    data: tuple[str, ...],
    device: str,
    output: str | None,
    repeat: int,
    as_json: bool,
) -> None:
    """Run a method of MODEL (.pte or .bpte) and print its outputs.

    An input X is a .npy, .npz (fills all inputs), .bin or image file, a literal such as 3 or [[1, 2]], or ones, zeros,
    random or random:SEED. Inputs go by position or by name: in0=X, in1=X.
    """
    import executorch_webgpu
    from executorch_webgpu.insight.inputs import make_inputs
    from executorch_webgpu.insight.methods import pick_method
    from executorch_webgpu.insight.outputs import describe_output, output_path, save_outputs

    target = None if output is None else output_path(output)
    start = time.perf_counter()
    with executorch_webgpu.load(model, device=device, data=data) as program:
        name = pick_method(program, method)
        values = make_inputs(program.metadata(name), inputs, input_shapes, note)
        with progress(f"loading {model}"):
            loaded = program.load_method(name)
        seconds: list[float] = []
        for index in range(repeat):
            with progress(f"running call {index + 1} of {repeat}" if repeat > 1 else f"running {name}"):
                begin = time.perf_counter()
                outputs = loaded.execute(values)
                seconds.append(time.perf_counter() - begin)
        described = [describe_output(index, value) for index, value in enumerate(outputs)]
        used = program.device
    whole = time.perf_counter() - start
    if target is not None:
        save_outputs(target, outputs)
    if as_json:
        print_json({"method": name, "device": used, "seconds": seconds, "total_seconds": whole, "outputs": described})
        return
    for item in described:
        click.echo(_line(item))
    note(f"device: {used}")
    note(f"time: {_times(seconds)}, {time_text(whole)} with loading")


def _times(seconds: list[float]) -> str:
    if len(seconds) == 1:
        return f"{time_text(seconds[0])} for the first call"
    later = seconds[1:]
    return (
        f"{time_text(seconds[0])} for the first call, then {time_text(statistics.median(later))} "
        f"(median of {len(later)}, {time_text(min(later))} to {time_text(max(later))})"
    )


def _line(item: dict[str, Any]) -> str:
    if item["kind"] != "tensor":
        return f"{item['name']}: {item['kind']} {item['value']}" if item["kind"] != "none" else f"{item['name']}: none"
    text = f"{item['name']}: {item['dtype']} {item['shape']}"
    if item["min"] is not None:
        text += f"  {_number(item['min'])} to {_number(item['max'])}"
    elif item["values"]:
        text += "  all NaN"
    if item["argmax"] is not None and item["min"] is not None and math.prod(item["shape"][:-1]) == 1:
        text += f"  argmax {_only(item['argmax'])}"
    values = item["values"]
    if values:
        more = " ..." if len(values) > SHOWN_VALUES else ""
        text += f"  [{', '.join(map(_number, values[:SHOWN_VALUES]))}{more}]"
    return text


def _only(nested: Any) -> Any:
    return _only(nested[0]) if isinstance(nested, list) else nested


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
