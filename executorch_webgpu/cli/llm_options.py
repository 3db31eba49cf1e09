"""What the commands that generate text have in common: their options and what is made of them."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from executorch_webgpu.llm import ChatTemplate, GenerationConfig, Stats, TextLLMRunner

_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_STYLES = ("llama3", "qwen", "cl100k")


class _FiniteRange(click.FloatRange):
    """A range of floats that NaN does not lie in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the float."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class RunnerCommand(click.Command):
    """A command whose flags may also be written as ExecuTorch's runners do: ``--ignore_eos=true``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", {"token_normalize_func": lambda token: token.replace("_", "-")})
        super().__init__(*args, **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Turn ``--flag=true`` into ``--flag`` and drop (or negate) ``--flag=false``."""
        flags = {
            name: parameter
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.is_flag
            for name in parameter.opts
        }
        rewritten = []
        for position, argument in enumerate(args):
            if argument == "--":
                rewritten += args[position:]
                break
            name, equals, value = argument.partition("=")
            option = flags.get(name.replace("_", "-"))
            if option is None or not equals or value.lower() not in _TRUE + _FALSE:
                rewritten.append(argument)
            elif value.lower() in _TRUE:
                rewritten.append(name)
            else:
                rewritten += option.secondary_opts[:1]
        return super().parse_args(ctx, rewritten)


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("model", required=False, type=click.Path(path_type=Path)),
    click.option("--model-path", "model_option", type=click.Path(path_type=Path), hidden=True),
    click.option(
        "--tokenizer",
        "--tokenizer-path",
        "tokenizer",
        type=click.Path(path_type=Path),
        help="Tokenizer file: Hugging Face, tiktoken, sentencepiece or llama2.c. Default: the one beside MODEL.",
    ),
    click.option(
        "--tiktoken-style",
        type=click.Choice(_STYLES),
        default="llama3",
        show_default=True,
        help="Split pattern and special tokens assumed for a tiktoken file.",
    ),
    click.option(
        "--data",
        "--data-path",
        "data",
        multiple=True,
        type=click.Path(path_type=Path),
        help="A .ptd file with weights; may be repeated.",
    ),
    click.option("--data-paths", "data_list", hidden=True, help="Several .ptd files, joined by commas."),
    click.option("--device", default="auto", show_default=True, help="auto, gpu, cpu, an index or part of a name."),
    click.option("--method", "--method-name", "method", help="The method to call, where it is not forward."),
    click.option("--system", help="A system message (implies chat)."),
    click.option("--chat-template", type=click.Path(path_type=Path), help="A Jinja chat template (implies chat)."),
    click.option(
        "--max-new-tokens", type=click.IntRange(-1), default=-1, help="Most tokens to generate; -1: what fits."
    ),
    click.option("--seq-len", type=click.IntRange(-1), default=-1, help="Most tokens of prompt and answer together."),
    click.option("--temperature", type=_FiniteRange(0), default=0.8, show_default=True, help="0 is greedy."),
    click.option("--top-k", type=click.IntRange(0), default=0, help="Draw from the K most likely tokens; 0: all."),
    click.option(
        "--top-p",
        type=_FiniteRange(0, 1, min_open=True),
        default=0.9,
        show_default=True,
        help="Draw from the most likely tokens that hold this share of probability.",
    ),
    click.option(
        "--min-p",
        type=_FiniteRange(0, 1),
        default=0.0,
        help="Drop tokens less likely than this share of the most likely one.",
    ),
    click.option(
        "--repetition-penalty",
        type=_FiniteRange(0, min_open=True),
        default=1.0,
        help="Above 1: tokens that were there already become less likely.",
    ),
    click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Same seed, same text. Default: drawn at random."),
    click.option("--stop", multiple=True, help="A text that ends the answer; may be repeated."),
    click.option("--ignore-eos", is_flag=True, help="Go on after the token that ends a text."),
    click.option("--special", is_flag=True, help="Print special tokens too."),
    click.option("--max-context-len", type=click.IntRange(1), help="Context length, where the program does not say."),
    click.option("--eos-id", multiple=True, type=click.IntRange(0), help="Token that ends a text; may be repeated."),
    click.option("--cpu-threads", hidden=True, expose_value=False, help="Accepted and without effect."),
)


def language_model_options(function: Any) -> Any:
    """Add the options that all commands with a language model have."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def model_path(options: dict[str, Any]) -> Path:
    """Return the program's path: MODEL or ``--model-path``."""
    given: Path | None = options["model"] or options["model_option"]
    if given is None:
        raise click.UsageError("Missing argument 'MODEL'.")
    return given


def tokenizer_path(options: dict[str, Any]) -> Path:
    """Return the tokenizer's path: as given, else a usual name beside the program."""
    given: Path | None = options["tokenizer"]
    if given is not None:
        return given
    from executorch_webgpu.llm.tokenizer.detect import USUAL_NAMES

    folder = model_path(options).parent
    for name in USUAL_NAMES:
        if (folder / name).is_file():
            return folder / name
    raise click.UsageError(f"Missing option '--tokenizer' (none of {', '.join(USUAL_NAMES)} lies beside the program).")


def open_runner(options: dict[str, Any]) -> TextLLMRunner:
    """Load the program and the tokenizer; notes about assumptions go to stderr."""
    from executorch_webgpu.llm import TextLLMRunner

    data = [*options["data"], *(Path(part) for part in (options["data_list"] or "").split(",") if part)]
    runner = TextLLMRunner(
        model_path(options),
        tokenizer_path(options),
        data,
        device=options["device"],
        method=options["method"],
        tiktoken_style=options["tiktoken_style"],
        max_context_len=options["max_context_len"],
        eos_ids=options["eos_id"] or None,
    )
    for text in runner.tokenizer.notes:
        click.echo(f"note: {text}", err=True)
    return runner


def open_template(runner: TextLLMRunner, options: dict[str, Any]) -> ChatTemplate:
    """Return the chat template: as given, else the one beside the tokenizer."""
    from executorch_webgpu.llm import load_chat_template

    return load_chat_template(runner.tokenizer, tokenizer_path(options), options["chat_template"])


def generation_config(options: dict[str, Any], **more: Any) -> GenerationConfig:
    """Return the settings of one generation."""
    from executorch_webgpu.llm import GenerationConfig

    names = (
        "max_new_tokens",
        "seq_len",
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "repetition_penalty",
        "seed",
        "stop",
        "ignore_eos",
    )
    given = {name: options[name] for name in names}
    return GenerationConfig(**given, skip_special_tokens=not options["special"], logprobs=False, **more)


def print_stats(stats: Stats, style: str) -> None:
    """Write statistics to stderr."""
    if style != "none":
        click.echo(stats.to_json_string() if style == "json" else stats.to_text(), err=True)


class TextOutput:
    """Standard output as UTF-8, written at once; ``closed`` once its reader has gone."""

    def __init__(self) -> None:
        self._stream = sys.stdout.buffer
        self._last = ""
        self.closed = False

    def write(self, text: str) -> None:
        """Write and flush."""
        if not text or self.closed:
            return
        self._last = text[-1]
        try:
            self._stream.write(text.encode("utf-8", "replace"))
            self._stream.flush()
        except BrokenPipeError:
            self.closed = True
            # Python would complain once more when it flushes stdout at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def end_line(self) -> None:
        """Begin a new line unless at the beginning of one."""
        if self._last not in ("", "\n"):
            self.write("\n")


class Interrupts:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.seen = False


@contextmanager
def stop_on_interrupt(runner: TextLLMRunner) -> Iterator[Interrupts]:
    """Let the first Ctrl-C end the text after its current token; the second one interrupts at once."""
    interrupts = Interrupts()

    def handle(_signal: int, _frame: object) -> None:
        if interrupts.seen:
            raise KeyboardInterrupt
        interrupts.seen = True
        runner.stop()

    try:
        before = signal.signal(signal.SIGINT, handle)
    except ValueError:  # not the main thread: signals are somebody else's
        yield interrupts
        return
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


def read_text(path: Path) -> str:
    """Return the UTF-8 text of a file, or of stdin for ``-``, without its last line break."""
    from executorch_webgpu.errors import InvalidArgument, NotFound

    name = "stdin" if str(path) == "-" else str(path)
    try:
        data = sys.stdin.buffer.read() if name == "stdin" else path.read_bytes()
    except OSError as error:
        raise NotFound(f"{name}: cannot read the prompt: {error.strerror or error}") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{name}: the prompt is not UTF-8 text (byte {error.start})") from error
    for ending in ("\r\n", "\n"):
        if text.endswith(ending):
            return text.removesuffix(ending)
    return text


def messages_of(system: str | None, prompt: str) -> Sequence[dict[str, str]]:
    """Return a conversation of one turn."""
    start = [{"role": "system", "content": system}] if system else []
    return [*start, {"role": "user", "content": prompt}]
