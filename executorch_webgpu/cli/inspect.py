"""``inspect``: what is inside a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from executorch_webgpu.cli.output import print_json, print_table, size_text

if TYPE_CHECKING:
    from executorch_webgpu.insight.contents import DelegateContent, MethodContent, ValueContent


@click.command()
@click.argument("model")
@click.option("--data", multiple=True, metavar="F.ptd", help="A file with external weights.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def inspect_command(model: str, data: tuple[str, ...], as_json: bool) -> None:
    """Show what MODEL is and what is inside: methods, delegates, operators, weights, memory.

    Operators that would not run are listed, and why an operator was left on the CPU where that is known.
    """
    from executorch_webgpu.insight.files import describe_file

    described = describe_file(model, data)
    if as_json:
        print_json(described.as_json())
        return
    click.echo(f"{model}: {described.description}, {size_text(described.nbytes)}")
    for line in described.details:
        click.echo(f"  {line}")
    for method in described.methods:
        _print_method(method)
    for problem in described.problems:
        click.echo(f"would not run: {problem}")


def _print_method(method: MethodContent) -> None:
    if method.constant:
        click.echo(f"method {method.name}: returns {', '.join(_value(v) for v in method.outputs) or 'nothing'}")
        return
    click.echo(f"method {method.name}")
    for index, value in enumerate(method.inputs):
        click.echo(f"  in{index}: {'int, any' if value.kind == 'none' else _value(value)}")
    for index, value in enumerate(method.outputs):
        click.echo(f"  out{index}: {_value(value)}")
    arenas = f", arenas {size_text(sum(method.arenas))}" if sum(method.arenas) else ""
    constants = f", constants {size_text(method.constants)}" if method.constants else ""
    steps = ", ".join(f"{count} {name}" for name, count in method.instructions.items())
    click.echo(f"  plan: {steps}{constants}{arenas}")
    for index, delegate in enumerate(method.delegates):
        _print_delegate(index, delegate)
    if method.kernels:
        click.echo("  on the CPU:")
        print_table(
            ("operator", "calls", "dtypes", "why"),
            [
                (k.name, k.calls, " ".join(k.dtypes), (k.reason or "-") if k.supported else "NOT SUPPORTED")
                for k in method.kernels
            ],
            indent="    ",
        )


def _print_delegate(index: int, delegate: DelegateContent) -> None:
    click.echo(f"  delegate {index}: {delegate.backend}, {size_text(delegate.nbytes)}")
    if delegate.weights:
        parts = ", ".join(f"{size_text(nbytes)} {dtype}" for dtype, nbytes in delegate.weights.items())
        click.echo(f"    weights: {parts}")
    if delegate.memory or delegate.state:
        state = f", state {size_text(delegate.state)}" if delegate.state else ""
        click.echo(f"    memory: intermediates {size_text(delegate.memory)}{state}")
    if delegate.operators:
        print_table(("operator", "calls"), delegate.operators.items(), indent="    ")


def _value(value: ValueContent) -> str:
    if value.kind != "tensor":
        return value.kind if value.value is None else f"{value.kind} {value.value!r}"
    bound = {None: "", "upper": " at most", "none": " or any other size"}[value.bound]
    return f"{value.dtype} {value.shape}{bound}"
