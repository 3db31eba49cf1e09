"""A conversation with a language model: history, and only the new turn is given to the model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm.chat_template import ChatTemplate
from executorch_webgpu.llm.config import GenerationConfig
from executorch_webgpu.llm.runner import TextChunk, TextLLMRunner


class Conversation:
    """Turns of a user and the model's answers.

    ``messages`` is the history, the system message first if there is one.
    """

    def __init__(self, runner: TextLLMRunner, template: ChatTemplate, system: str | None = None) -> None:
        self.runner = runner
        self.template = template
        self.messages: list[dict[str, str]] = []
        self._system = system
        # The text that the model has seen, special tokens spelled out; None where it is not known to agree.
        self._seen: str | None = None
        self._active: Generator[TextChunk, None, None] | None = None
        self.reset()

    @property
    def system(self) -> str | None:
        """The system message."""
        return self._system

    def set_system(self, text: str | None) -> None:
        """Change the system message and begin anew."""
        self._system = text
        self.reset()

    def reset(self) -> None:
        """Forget everything but the system message."""
        self.end_answer()
        self.messages = [{"role": "system", "content": self._system}] if self._system else []
        self._seen = None
        self.runner.reset()

    def send(self, text: str, config: GenerationConfig | None = None) -> Iterator[TextChunk]:
        """Say ``text`` and yield the answer as ``TextLLMRunner.stream`` does.

        An answer that is cut short (the iterator is closed, or the runner stopped) stays in the history as far as it
        came.

        Raises:
            InvalidArgument: The conversation no longer fits the context; the history is as before.
        """
        self.end_answer()
        config = dataclasses.replace(config or GenerationConfig(), num_bos=0, num_eos=0)
        messages = [*self.messages, {"role": "user", "content": text}]
        whole = self.template.render(messages)
        if self._seen is not None and whole.startswith(self._seen):
            new = self.runner.encode(whole[len(self._seen) :], config)
            keep = self.runner.position
        else:
            new = self.runner.encode(whole, config)
            keep = _common(new, self.runner.decoder.tokens)
            new = new[keep:]
        if keep + len(new) >= self.runner.context_length:
            raise InvalidArgument(
                f"the conversation has {keep + len(new)} tokens with this turn and the context holds "
                f"{self.runner.context_length}: it has to begin anew"
            )
        self._seen = None
        self.runner.rewind(keep)
        self._active = self._answer(self.runner.stream(new, config), whole)
        self.messages = messages
        return self._active

    def end_answer(self) -> None:
        """End an answer that was not read to its end."""
        if self._active is not None:
            self._active.close()
            self._active = None

    def save(self, path: Path) -> None:
        """Write the history as JSON: an object with ``messages``.

        Raises:
            InvalidArgument: The file cannot be written.
        """
        try:
            path.write_text(json.dumps({"messages": self.messages}, ensure_ascii=False, indent=2) + "\n", "utf-8")
        except OSError as error:
            raise InvalidArgument(f"{path}: cannot write the conversation: {error.strerror or error}") from error

    def _answer(self, chunks: Iterator[TextChunk], asked: str) -> Generator[TextChunk, None, None]:
        runner = self.runner
        shown: list[str] = []
        drawn: list[int] = []
        try:
            for chunk in chunks:
                shown.append(chunk.text)
                if chunk.token is not None:
                    drawn.append(chunk.token)
                yield chunk
        finally:
            runner.end_stream()
            self.messages.append({"role": "assistant", "content": "".join(shown)})
            tokens = list(runner.decoder.tokens)
            if drawn and tokens[-len(drawn) :] == drawn:
                detokenizer = runner.tokenizer.detokenizer(tokens[: -len(drawn)], skip_special=False)
                spelled = "".join([detokenizer.push(token) for token in drawn]) + detokenizer.flush()
                self._seen = asked + spelled


def _common(one: Sequence[int], two: Sequence[int]) -> int:
    """Return how many first tokens agree, leaving at least one of ``one`` to be read."""
    count = 0
    for first, second in zip(one[:-1], two, strict=False):
        if first != second:
            break
        count += 1
    return count
