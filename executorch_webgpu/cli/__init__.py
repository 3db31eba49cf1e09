"""The command line: one module per command, imported when it is used."""

from executorch_webgpu.cli.app import main

__all__ = ["main"]
