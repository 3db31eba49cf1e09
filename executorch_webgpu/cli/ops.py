"""``ops``: the supported operators."""

from __future__ import annotations

import click

from executorch_webgpu.cli.output import note, print_json, print_table
from executorch_webgpu.errors import counted


@click.command()
@click.option("--kind", type=click.Choice(["delegate", "cpu", "refused"]), help="Only operators of this kind.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.argument("text", required=False)
def ops_command(text: str | None, kind: str | None, as_json: bool) -> None:
    """List the supported operators, those whose name contains TEXT.

    Kind delegate runs on the GPU as part of a Vulkan delegate, cpu is a kernel of the plan, refused is a name that
    runtimes know, that no exporter writes, and that is not supported.
    """
    from executorch_webgpu.insight.operators import operator_rows

    rows = [row for row in operator_rows() if (kind in (None, row.kind)) and (text or "").lower() in row.name.lower()]
    if as_json:
        print_json(
            [{"name": row.name, "kind": row.kind, "family": row.family, "dtypes": list(row.dtypes)} for row in rows]
        )
        return
    print_table(
        ("operator", "kind", "family", "dtypes"),
        [(row.name, row.kind, row.family, " ".join(row.dtypes)) for row in rows],
    )
    refused = sum(row.kind == "refused" for row in rows)
    note(f"{counted(len(rows) - refused, 'operator')}" + (f", {counted(refused, 'refused name')}" if refused else ""))
