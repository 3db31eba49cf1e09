"""``doctor``: what this machine has and lacks."""

from __future__ import annotations

import platform

import click

from executorch_webgpu.cli.output import print_json

_MARKS = {"ok": " ", "missing": "-", "bad": "!"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def doctor_command(as_json: bool) -> None:
    """Say what this machine has and lacks, which fallbacks are in force, and what to install.

    A line marked '-' lacks something that has a substitute, one marked '!' is worth acting on.
    """
    from executorch_webgpu.insight.machine import advice, facts

    found = facts()
    lines = advice(found, platform.system())
    if as_json:
        print_json({"facts": [vars(fact) for fact in found], "advice": lines})
        return
    width = max(len(fact.name) for fact in found)
    topic = ""
    for fact in found:
        if fact.topic != topic:
            topic = fact.topic
            click.echo(f"{topic}:")
        click.echo(f"{_MARKS[fact.state]} {fact.name:{width}}  {fact.value}")
    if lines:
        click.echo("advice:")
        for line in lines:
            click.echo(f"  {line}")
