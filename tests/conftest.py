"""What all tests share: the example programs, and running the command line in this process."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine: what passes here passes there.
settings.register_profile("reproducible", derandomize=True, database=None)
settings.load_profile("reproducible")

ROOT = Path(__file__).resolve().parent.parent
# Tests choose these themselves; what the shell has set must not change results.
for _name in ("EXECUTORCH_WEBGPU_CHECKED", "EXECUTORCH_WEBGPU_FEATURES", "EXECUTORCH_WEBGPU_SHADERS"):
    os.environ.pop(_name, None)
# Programs started in the background ignore Ctrl-C, and so would the children that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def digits() -> Path:
    """The folder of the digit reader."""
    return ROOT / "examples" / "digits"


@pytest.fixture(scope="session")
def storyteller() -> Path:
    """The folder of the storyteller."""
    return ROOT / "examples" / "storyteller"


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command line in this process: ``command("run", path, ...)``."""
    from executorch_webgpu.cli import main

    def run(*arguments: object) -> Outcome:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Outcome(status, out, err)

    return run
