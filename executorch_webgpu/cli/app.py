"""The group of commands: lazy loading, one-line errors, exit statuses.

Exit status 0, 1 for a failure, 2 for wrong usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Sequence

import click

from executorch_webgpu.errors import ExecuTorchError
from executorch_webgpu.version import __version__

PROGRAM = "executorch-webgpu"

# Commands by name: what --help says. The module is cli/<name>.py and the click command in it has the module's name,
# followed by _command, so that --help imports none of them.
COMMANDS = {
    "run": "Run a program and print its outputs.",
    "inspect": "Show what is inside a model file.",
    "generate": "Generate text with a language model.",
    "chat": "Talk with a language model at the terminal.",
    "devices": "List the adapters that programs can run on.",
    "doctor": "Say what this machine has and lacks.",
    "ops": "List the supported operators.",
    "bench": "Measure a program or a language model.",
    "bench-op": "Measure one operator.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        name = cmd_name.replace("_", "-")
        if name not in COMMANDS:
            return None
        stem = name.replace("-", "_")
        module = importlib.import_module(f"executorch_webgpu.cli.{stem}")
        command: click.Command = getattr(module, f"{stem}_command")
        if not any(option.name == "verbose" for option in command.params):
            command.params.append(_verbose_option())
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _verbose_option() -> click.Option:
    return click.Option(
        ["--verbose"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_remember_verbose,
        help="Add the traceback to an error.",
    )


def _remember_verbose(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_root().meta["verbose"] = True


@click.group(
    cls=LazyGroup,
    params=[_verbose_option()],
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda token: token.replace("_", "-"),
        "max_content_width": 100,
    },
)
@click.version_option(__version__, prog_name=PROGRAM)
def commands() -> None:
    """Run ExecuTorch programs made for the Vulkan backend on any GPU, or without one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    verbose = "--verbose" in arguments
    if sys.stdout is None:  # the caller closed it: results go nowhere
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    try:
        result = commands.main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print_error(error.format_message(), prefix="")
        return 2
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else PROGRAM
        print_error(f"{_one_line(error.format_message())} (see {command} --help)")
        return 2
    except (click.Abort, KeyboardInterrupt):
        print_error("interrupted", verbose=verbose)
        return 130
    except SystemExit as error:
        # click ends the program with 1 when whoever read the output has left: that is no failure.
        if type(sys.stdout).__name__ == "PacifyFlushWrapper":
            return 0
        return error.code if isinstance(error.code, int) else 1
    except BrokenPipeError:
        # Whoever read the output has left. Python would complain once more when it flushes stdout at exit.
        _drop_stdout()
        return 0
    except click.ClickException as error:
        print_error(_one_line(error.format_message()), verbose=verbose)
    except ExecuTorchError as error:
        print_error(_one_line(str(error)), verbose=verbose)
    except OSError as error:
        if error.errno == errno.ENOSPC and not error.filename:
            _drop_stdout()
            print_error("standard output cannot be written: no space left on the device", verbose=verbose)
            return 1
        reason = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        print_error(_one_line(reason), verbose=verbose)
    except MemoryError:
        print_error("out of memory", verbose=verbose)
    except Exception as error:
        hint = "" if verbose else "; --verbose shows where"
        print_error(_one_line(f"internal error: {type(error).__name__}: {error}{hint}"), verbose=verbose)
    return 1


def _drop_stdout() -> None:
    """Let what is still buffered go nowhere, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(message: str, *, prefix: str = "error: ", verbose: bool = False) -> None:
    """Write one failure to stderr, with the traceback of the exception being handled if ``verbose``."""
    if verbose:
        traceback.print_exc()
    click.echo(prefix + message, err=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())
