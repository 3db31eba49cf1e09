"""The command ``generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from executorch_webgpu.cli.llm_options import (
    RunnerCommand,
    TextOutput,
    generation_config,
    language_model_options,
    messages_of,
    model_path,
    open_runner,
    open_template,
    print_stats,
    read_text,
    stop_on_interrupt,
    tokenizer_path,
)


@click.command("generate", cls=RunnerCommand)
@language_model_options
@click.option("--prompt", help="The text to go on from.")
@click.option("--prompt-file", type=click.Path(path_type=Path), help="A file with the prompt; - is stdin.")
@click.option(
    "--num-bos", type=click.IntRange(0), help="Begin tokens before the prompt. Default: as the tokenizer says."
)
@click.option("--num-eos", type=click.IntRange(0), default=0, help="End tokens after the prompt.")
@click.option("--echo", is_flag=True, help="Print the prompt first.")
@click.option("--chat/--no-chat", default=None, help="Put the prompt into the chat template as a user's message.")
@click.option("--warmup", is_flag=True, help="Run once before, unmeasured.")
@click.option(
    "--stats",
    type=click.Choice(("text", "json", "none")),
    default="text",
    show_default=True,
    help="How to print the statistics, on stderr.",
)
def generate_command(**options: Any) -> int:
    """Generate text with the language model MODEL; it streams to stdout."""
    model_path(options)
    tokenizer_path(options)
    if (options["prompt"] is None) == (options["prompt_file"] is None):
        raise click.UsageError("Give either --prompt TEXT or --prompt-file FILE (- is stdin).")
    chat = options["chat"]
    if chat is None:
        chat = options["system"] is not None or options["chat_template"] is not None
    prompt = read_text(options["prompt_file"]) if options["prompt"] is None else options["prompt"]
    config = generation_config(
        options, num_bos=0 if chat and options["num_bos"] is None else options["num_bos"], num_eos=options["num_eos"]
    )
    with open_runner(options) as runner:
        text = open_template(runner, options).render(messages_of(options["system"], prompt)) if chat else prompt
        if config.num_bos is None and runner.tokenizer.kind != "huggingface" and runner.bos_id is not None:
            click.echo("note: no begin token is put before the prompt; --num-bos 1 adds one", err=True)
        if options["warmup"]:
            runner.warm_up(text, config)
        output = TextOutput()
        with stop_on_interrupt(runner) as interrupts:
            chunks = runner.stream(text, config)
            if options["echo"]:
                output.write(prompt)
            try:
                for chunk in chunks:
                    output.write(chunk.text)
                    if output.closed:
                        break
            except KeyboardInterrupt:
                interrupts.seen = True
        runner.end_stream()
        output.end_line()
        print_stats(runner.stats, options["stats"])
    return 130 if interrupts.seen else 0
