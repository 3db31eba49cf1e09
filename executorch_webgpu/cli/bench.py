"""``bench``: measure a program or a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from executorch_webgpu.cli.output import note, print_json, print_markdown, progress, size_text, time_text
from executorch_webgpu.cli.shapes import Shapes, parse_shapes

_LANGUAGE_METHODS = {"get_vocab_size", "get_max_seq_len", "get_max_context_len", "get_eos_ids", "get_eos_id"}
_DEFAULT_PROMPT, _DEFAULT_GENERATE = 512, 128


def _counts(_ctx: click.Context, _param: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise click.BadParameter(f"{value!r} is not a number or several with commas")
    return [int(part) for part in parts]


@click.command()
@click.argument("model")
@click.option("-p", "--n-prompt", callback=_counts, metavar="N,...", help="Prompt lengths; 512, or what fits.")
@click.option("-n", "--n-gen", callback=_counts, metavar="N,...", help="Tokens to generate; 128, or what fits.")
@click.option("-d", "--n-depth", callback=_counts, metavar="N,...", help="Tokens of context before that; 0.")
@click.option("-r", "--repetitions", type=click.IntRange(1), help="Repetitions; 5 for language models, else 20.")
@click.option("--input", "inputs", multiple=True, metavar="[NAME=]X", help="An input, as for run. Random if not given.")
@click.option("--input-shapes", callback=parse_shapes, metavar="1x3,2x4", help="Shapes of generated inputs.")
@click.option("--method", metavar="NAME", help="The method; forward, else the only one.")
@click.option("--data", multiple=True, metavar="F.ptd", help="A file with external weights.")
@click.option("--device", default="auto", show_default=True, help="auto, gpu, cpu, an index or part of a name.")
@click.option(
    "--output",
    type=click.Choice(["md", "json"]),
    default="md",
    show_default=True,
    help="Format of the figures on stdout.",
)
def bench_command(
    model: str,
    n_prompt: list[int] | None,
    n_gen: list[int] | None,
    n_depth: list[int] | None,
    repetitions: int | None,
    inputs: tuple[str, ...],
    input_shapes: Shapes,
    method: str | None,
    data: tuple[str, ...],
    device: str,
    output: str,
) -> None:
    """Measure MODEL.

    A program: load, first call, percentiles of later calls, bytes of weights a second by dtype. A language model (which
    -p, -n and -d also say): tokens a second of prompt processing (pp) and generation (tg) as llama-bench counts them.
    """
    import executorch_webgpu

    with executorch_webgpu.load(model, device=device, data=data) as program:
        language = any(value is not None for value in (n_prompt, n_gen, n_depth)) or bool(
            program.method_names & _LANGUAGE_METHODS
        )
        if language and not inputs and not input_shapes:
            _bench_language(program, model, method, (n_prompt, n_gen, n_depth), repetitions or 5, output)
            return
    from executorch_webgpu.insight.program_bench import time_program

    with progress("measuring"):
        timing = time_program(
            model,
            device=device,
            data=data,
            method=method,
            inputs=inputs,
            shapes=input_shapes,
            repeat=repetitions or 20,
            remark=note,
        )
    percentiles = {f"p{share}": timing.percentile(share) for share in (50, 90, 99)}
    if output == "json":
        print_json(
            {
                "model": model,
                "method": timing.method,
                "device": timing.device,
                "read_seconds": timing.read,
                "prepare_seconds": timing.prepare,
                "first_call_seconds": timing.first,
                "later_seconds": timing.later,
                **{f"{name}_seconds": value for name, value in percentiles.items()},
                "weight_bytes": timing.weights,
                "weight_bytes_per_second": timing.bandwidth(),
            }
        )
        return
    rows = [
        ("model", model),
        ("device", timing.device),
        ("load: read", time_text(timing.read)),
        ("load: device and weights", time_text(timing.prepare)),
        ("first call", time_text(timing.first)),
        *((f"later calls, {name}", time_text(value)) for name, value in percentiles.items()),
    ]
    for dtype, rate in timing.bandwidth().items():
        rows.append((f"{dtype} weights, {size_text(timing.weights[dtype])}", f"{rate / 1e9:.4g} GB/s"))
    print_markdown(("figure", f"{timing.method}, {len(timing.later)} calls"), rows)


def _bench_language(
    program: Any,
    model: str,
    method: str | None,
    counts: tuple[list[int] | None, list[int] | None, list[int] | None],
    repeat: int,
    output: str,
) -> None:
    from executorch_webgpu.insight.language_bench import SpeedResult, plan_tests, time_test
    from executorch_webgpu.llm.config import Sampling
    from executorch_webgpu.llm.metadata import read_metadata
    from executorch_webgpu.llm.opening import open_decoder

    with progress("loading"):
        decoder = open_decoder(program, read_metadata(program), method)
    context = decoder.context_length
    depths = counts[2] or [0]
    room = max(context - max(depths), 2)
    prompts = [min(_DEFAULT_PROMPT, room)] if counts[0] is None else counts[0]
    generates = [min(_DEFAULT_GENERATE, room - 2)] if counts[1] is None else counts[1]
    sampling = Sampling(temperature=0, logprobs=False)
    results: list[SpeedResult] = []
    for test in plan_tests(prompts, generates, depths, context):
        with progress(f"measuring {test.name}"):
            results.append(time_test(decoder, lambda limit: decoder.generate_tokens(sampling, limit), test, repeat))
    size = Path(model).stat().st_size
    if output == "json":
        print_json([_json_result(result, model, size, program.device) for result in results])
        return
    print_markdown(
        ("model", "size", "device", "test", "t/s"),
        [(model, size_text(size), program.device, r.test.name, f"{r.mean:.2f} ± {r.deviation:.2f}") for r in results],
    )


def _json_result(result: Any, model: str, size: int, device: str) -> dict[str, Any]:
    return {
        "model_filename": model,
        "model_size": size,
        "device": device,
        "n_prompt": result.test.prompt,
        "n_gen": result.test.generate,
        "n_depth": result.test.depth,
        "test": result.test.name,
        "avg_ts": result.mean,
        "stddev_ts": result.deviation,
        "samples_ts": result.speeds,
        "samples_ns": [round(value * 1e9) for value in result.seconds],
    }
