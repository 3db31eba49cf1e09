"""The command ``chat``."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from executorch_webgpu.cli.llm_options import (
    RunnerCommand,
    TextOutput,
    generation_config,
    language_model_options,
    model_path,
    open_runner,
    open_template,
    print_stats,
    stop_on_interrupt,
    tokenizer_path,
)

HELP = """/reset           forget the conversation (the system message stays)
/system [TEXT]   change the system message and begin anew; without TEXT show it
/save FILE       write the conversation as JSON
/help            show this
/exit, /quit     leave (Ctrl-D too); Ctrl-C ends an answer"""


@click.command("chat", cls=RunnerCommand)
@language_model_options
@click.option(
    "--stats",
    type=click.Choice(("text", "json", "none")),
    default="none",
    show_default=True,
    help="Print statistics after each answer, on stderr.",
)
def chat_command(**options: Any) -> int:
    """Talk with the language model MODEL; /help lists what can be typed besides messages."""
    model_path(options)
    tokenizer_path(options)
    config = generation_config(options)
    from executorch_webgpu.errors import ExecuTorchError
    from executorch_webgpu.llm import Conversation

    with open_runner(options) as runner:
        conversation = Conversation(runner, open_template(runner, options), options["system"])
        output = TextOutput()
        lines = _Lines()
        if lines.interactive:
            click.echo("/help lists the commands, /exit leaves", err=True)
        while not output.closed:
            line = lines.read()
            if line is None:
                return 0
            if not line.strip():
                continue
            try:
                if line.startswith("/"):
                    if not _obey(conversation, line.strip()):
                        return 0
                    continue
                with stop_on_interrupt(runner):
                    with suppress(KeyboardInterrupt):
                        for chunk in conversation.send(line, config):
                            output.write(chunk.text)
                            if output.closed:
                                break
                    conversation.end_answer()
            except ExecuTorchError as error:
                # A turn that fails does not end the conversation.
                click.echo(f"error: {error}", err=True)
                continue
            output.end_line()
            print_stats(runner.stats, options["stats"])
    return 0


def _obey(conversation: Any, line: str) -> bool:
    """Carry out a command of the conversation; return whether to go on."""
    name, _, rest = line.partition(" ")
    rest = rest.strip()
    if name in ("/exit", "/quit"):
        return False
    if name == "/reset":
        conversation.reset()
        click.echo("the conversation begins anew", err=True)
    elif name == "/system":
        if rest:
            conversation.set_system(rest)
        click.echo(f"system: {conversation.system or '(none)'}", err=True)
    elif name == "/save" and rest:
        conversation.save(Path(rest))
        click.echo(f"saved to {rest}", err=True)
    else:
        click.echo(HELP if name == "/help" else f"{name}: not understood\n{HELP}", err=True)
    return True


class _Lines:
    """The user's lines; a prompt is shown only where stdin is a terminal."""

    def __init__(self) -> None:
        self.interactive = sys.stdin.isatty()
        if self.interactive:
            with suppress(ImportError):
                importlib.import_module("readline")  # line editing where the platform has it
        elif hasattr(sys.stdin, "reconfigure"):
            sys.stdin.reconfigure(encoding="utf-8", errors="replace")

    def read(self) -> str | None:
        """Return the next line, None at the end."""
        while True:
            try:
                if self.interactive and sys.stdout.isatty():
                    return input("> ")
                if self.interactive:
                    click.echo("> ", nl=False, err=True)
                line = sys.stdin.readline()
                return line.removesuffix("\n").removesuffix("\r") if line else None
            except EOFError:
                click.echo(err=True)
                return None
            except KeyboardInterrupt:
                if not self.interactive:
                    raise
                click.echo("\n(/exit or Ctrl-D leaves)", err=True)
