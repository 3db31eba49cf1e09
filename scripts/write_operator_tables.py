"""Writes the operator tables of docs/operators.md and README.md from the registry.

python scripts/write_operator_tables.py
"""

from collections import Counter
from pathlib import Path

from executorch_webgpu.insight.operators import OperatorRow, operator_rows

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- operators: begin -->", "<!-- operators: end -->"
TITLES = {
    "delegate": (
        "Delegated operators",
        "Names in a Vulkan delegate. They run on the GPU, in the dtypes listed for their first tensor.",
    ),
    "cpu": ("CPU operators", "Kernels of the execution plan, for what was not delegated. They run in numpy."),
    "refused": (
        "Refused names",
        "Kernel variants and older spellings that ExecuTorch's Vulkan runtime registers and that no exporter writes. A "
        "program that has one is refused at load.",
    ),
}


def render_page(rows: list[OperatorRow]) -> str:
    """Return docs/operators.md."""
    parts = ["# Operators\n\nWritten by scripts/write_operator_tables.py; `executorch-webgpu ops` lists the same.\n"]
    for kind, (title, text) in TITLES.items():
        mine = [row for row in rows if row.kind == kind]
        parts.append(f"\n## {title} ({len(mine)})\n\n{text}\n\n")
        if kind == "refused":
            parts += [f"- `{row.name}`\n" for row in mine]
            continue
        parts.append("| operator | family | dtypes |\n| --- | --- | --- |\n")
        parts += [f"| `{row.name}` | {row.family} | {', '.join(row.dtypes)} |\n" for row in mine]
    return "".join(parts)


def render_summary(rows: list[OperatorRow]) -> str:
    """Return the table of families that README.md shows."""
    counts = Counter((row.family, row.kind) for row in rows)
    families = sorted({row.family for row in rows if row.kind != "refused"})
    lines = ["| family | on the GPU | on the CPU |", "| --- | ---: | ---: |"]
    for family in families:
        numbers = (str(counts[family, kind] or "") for kind in ("delegate", "cpu"))
        lines.append(f"| {family} | {' | '.join(numbers)} |")
    total = Counter(row.kind for row in rows)
    lines.append(f"| **all** | **{total['delegate']}** | **{total['cpu']}** |")
    return "\n".join(lines)


def insert_summary(readme: str, rows: list[OperatorRow]) -> str:
    """Return README.md with the table between its marks replaced."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{render_summary(rows)}\n{END}{after}"


def main() -> None:
    """Write both files."""
    rows = operator_rows()
    readme = ROOT / "README.md"
    readme.write_text(insert_summary(readme.read_text(encoding="utf-8"), rows), encoding="utf-8")
    page = ROOT / "docs" / "operators.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(render_page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
