"""The wheel holds all that the package needs and installs clean."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import pytest

from executorch_webgpu.version import __version__


def run(*arguments, **options):
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", root, "-w", folder)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_every_file_of_the_package(wheel, root):
    package = root / "executorch_webgpu"
    files = {
        path.relative_to(root).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert files <= held, sorted(files - held)
    kinds = {name.rpartition(".")[2] for name in held if name.startswith("executorch_webgpu/")}
    assert {"py", "wgsl", "typed"} <= kinds
    assert any(name.startswith("executorch_webgpu/format/generated/") for name in held)
    others = {name.split("/")[0] for name in held} - {"executorch_webgpu"}
    assert others == {f"executorch_webgpu-{__version__}.dist-info"}
    assert f"executorch_webgpu-{__version__}.dist-info/licenses/LICENSE" in held


def test_the_wheel_installs_into_an_empty_environment(wheel, digits, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "env")
    scripts = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    run(scripts / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    assert "Commands:" in run(scripts / "executorch-webgpu", "--help", cwd=tmp_path)
    model = digits / "model.pte"
    told = run(scripts / "python", "-m", "executorch_webgpu", "run", model, "--device", "cpu", cwd=tmp_path)
    assert told.startswith("out0: float32 [1, 10]")
    assert run(scripts / "python", "-m", "pip", "check", cwd=tmp_path)
