"""What the documents say is current."""

from __future__ import annotations

import importlib.util
import re

import pytest

from executorch_webgpu.cli.app import COMMANDS
from executorch_webgpu.insight.operators import operator_rows


@pytest.fixture(scope="module")
def tables(root):
    spec = importlib.util.spec_from_file_location("tables", root / "scripts" / "write_operator_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_operator_tables_are_current(root, tables):
    rows = operator_rows()
    hint = "run python scripts/write_operator_tables.py"
    assert (root / "docs" / "operators.md").read_text(encoding="utf-8") == tables.render_page(rows), hint
    readme = (root / "README.md").read_text(encoding="utf-8")
    assert readme == tables.insert_summary(readme, rows), hint


def test_the_readme_names_every_command(root):
    readme = (root / "README.md").read_text(encoding="utf-8")
    missing = [name for name in COMMANDS if f"`{name}" not in readme]
    assert not missing


def test_links_between_documents_lead_somewhere(root):
    pages = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("examples/**/*.md")]
    links = [
        (path, target)
        for path in pages
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8"))
        if "://" not in target
    ]
    assert links
    assert not [f"{path.name}: {target}" for path, target in links if not (path.parent / target).exists()]


def test_the_python_of_the_readme_runs(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert len(blocks) == 3 and " 7\n" in printed and "forward" in printed
