"""Imports of the optional packages of the extra ``llm``, made when they are first needed."""

from __future__ import annotations

import importlib
from typing import Any

from executorch_webgpu.errors import MissingExtra


def require(module: str, purpose: str) -> Any:
    """Import ``module``; raise MissingExtra with the command to install where it is absent."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        command = 'pip install "executorch-webgpu[llm]"'
        raise MissingExtra(f"the package {module} is needed for {purpose}: {command}") from error
