"""The directions of imports, the places of shaders, and what a shader must not do."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "executorch_webgpu"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "generated" not in path.parts)
SHADERS = sorted(PACKAGE.rglob("*.wgsl"))

# What each room may import besides itself, errors and version. format is the ground that others read from; ops (what to
# compute) and gpu (how to run it) do not know each other.
MAY_IMPORT = {
    "format": set(),
    "ops": set(),
    "gpu": set(),
    "graph": {"format", "ops", "gpu"},
    "executor": {"format", "ops", "graph"},
    "runtime": {"format", "ops", "gpu", "graph", "executor"},
    "llm": {"format", "ops", "gpu", "graph", "executor", "runtime"},
    "insight": {"format", "ops", "gpu", "graph", "executor", "runtime"},
    "cli": {"format", "ops", "gpu", "graph", "executor", "runtime", "llm", "insight"},
    "errors": set(),
    "version": set(),
    "__init__": {"runtime"},
    "__main__": {"cli"},
}


def room(path: Path) -> str:
    """Return the top-level part of the package that a module belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, module) of every import, those inside functions and under TYPE_CHECKING included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            yield node.lineno, node.module
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}"


def identify(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_imports_follow_the_arrows(path):
    here = room(path)
    allowed = MAY_IMPORT[here] | {here, "errors", "version"}
    wrong = []
    for line, module in imports(path):
        parts = module.split(".")
        if parts[0] == "executorch_webgpu" and len(parts) > 1 and parts[1] not in allowed:
            known = (PACKAGE / parts[1]).exists() or (PACKAGE / f"{parts[1]}.py").exists()
            if known:
                wrong.append(f"line {line}: {module}")
    assert not wrong, f"{here} must not import: {wrong}"


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_only_gpu_imports_wgpu(path):
    if room(path) != "gpu":
        assert not [line for line, module in imports(path) if module.split(".")[0] == "wgpu"]


@pytest.mark.parametrize(
    "path", [p for p in MODULES if room(p) == "ops" and p.name.startswith("reference")], ids=identify
)
def test_references_import_numpy_alone(path):
    """What references use, through any number of steps, is numpy, the standard library and reference code."""
    seen: set[Path] = set()
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        assert not current.name.startswith("lowering"), f"{identify(path)} reaches {identify(current)}"
        for line, module in imports(current):
            top = module.split(".")[0]
            if top == "executorch_webgpu":
                found = ROOT / (module.replace(".", "/") + ".py")
                if found.exists():
                    waiting.append(found)
            else:
                assert top == "numpy" or top in sys.stdlib_module_names, f"{identify(current)}:{line}: {module}"


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_no_wgsl_in_python(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            code = re.search(
                r"@compute|@workgroup_size|\bfn \w+\s*\(|\blet \w+ = .*;|\bvar<(?:private|workgroup)>", node.value
            )
            assert code is None, f"line {node.lineno}: WGSL belongs in a .wgsl file: {node.value!r}"


FUNCTION = re.compile(r"\bfn\s+(\w+)\s*\(")


def without_comments(source: str) -> str:
    return re.sub(r"//[^\n]*", "", source)


def functions(source: str) -> Iterator[tuple[str, int, int]]:
    """Yield (name, start, end) of the function bodies of a shader without comments."""
    for match in FUNCTION.finditer(source):
        start = source.index("{", match.end())
        depth = 0
        for position in range(start, len(source)):
            # ${NAME} opens and closes within one word and so cancels out.
            depth += {"{": 1, "}": -1}.get(source[position], 0)
            if depth == 0:
                yield match[1], start, position
                break


def arms(source: str) -> list[dict[int, int]]:
    """Return for each line which arm of each surrounding #if it is in."""
    stack: list[tuple[int, int]] = []
    count = 0
    found = []
    for line in source.splitlines():
        word = line.split()[0] if line.split() else ""
        if word == "#if":
            count += 1
            stack.append((count, 0))
        elif word in ("#elif", "#else"):
            stack[-1] = (stack[-1][0], stack[-1][1] + 1)
        elif word == "#endif":
            stack.pop()
        found.append(dict(stack))
    return found


def barrier_functions() -> set[str]:
    """Return the functions of all shaders in which invocations wait for each other, directly or through calls."""
    bodies: dict[str, str] = {}
    for path in SHADERS:
        source = without_comments(path.read_text(encoding="utf-8"))
        for name, start, end in functions(source):
            if name != "main":
                bodies[name] = bodies.get(name, "") + source[start:end]
    waiting = {name for name, body in bodies.items() if re.search(r"\b(?:workgroup|storage)Barrier\s*\(", body)}
    while True:
        more = {name for name, body in bodies.items() if any(re.search(rf"\b{known}\s*\(", body) for known in waiting)}
        if more <= waiting:
            return waiting
        waiting |= more


BARRIER = re.compile(rf"\b(?:{'|'.join(['workgroupBarrier', 'storageBarrier', *sorted(barrier_functions())])})\s*\(")


def returns_before_barrier(source: str) -> list[str]:
    """Return the functions in which some invocations may return before the others wait."""
    source = without_comments(source)
    where = arms(source)
    found = []
    for name, start, end in functions(source):
        waits = [match.start() + start for match in BARRIER.finditer(source[start:end])]
        leaves = [match.start() + start for match in re.finditer(r"\breturn\b", source[start:end])]
        if any(leave < wait and together(where, source, leave, wait) for leave in leaves for wait in waits):
            found.append(name)
    return found


def together(where: list[dict[int, int]], source: str, a: int, b: int) -> bool:
    """Return whether one variant of the shader can hold both places."""
    first, second = where[source.count("\n", 0, a)], where[source.count("\n", 0, b)]
    return all(second.get(branch, arm) == arm for branch, arm in first.items())


@pytest.mark.parametrize("path", SHADERS, ids=identify)
def test_no_return_before_a_barrier(path):
    assert not returns_before_barrier(path.read_text(encoding="utf-8"))


def test_the_barrier_rule_sees_a_violation():
    assert returns_before_barrier("fn main() { if (x) { return; } workgroupBarrier(); }") == ["main"]
    assert not returns_before_barrier("fn f() -> u32 { workgroupBarrier(); return 1u; } fn main() { return; }")
    arms_of_one = "fn main() {\n#if A\nreturn;\n#else\nworkgroupBarrier();\n#endif\n}"
    assert not returns_before_barrier(arms_of_one)
    assert returns_before_barrier(arms_of_one.replace("#else", "#endif\n#if B"))


@pytest.mark.parametrize("path", MODULES, ids=identify)
def test_files_are_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 500


def test_the_front_page_imports_nothing_heavy():
    import subprocess

    code = "import sys, executorch_webgpu; print([m for m in ('numpy', 'wgpu', 'flatbuffers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"
