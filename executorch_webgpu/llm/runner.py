"""Generates text with an exported language model."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from executorch_webgpu.errors import InvalidArgument, InvalidState
from executorch_webgpu.llm.config import GenerationConfig
from executorch_webgpu.llm.decoder import Decoder
from executorch_webgpu.llm.metadata import ModelMetadata, read_metadata
from executorch_webgpu.llm.opening import context_length, decoder_of, find_callers
from executorch_webgpu.llm.protocols import ProgramLike
from executorch_webgpu.llm.stats import Stats, now_ms
from executorch_webgpu.llm.stop_strings import StopStrings
from executorch_webgpu.llm.tokenizer import Tokenizer, load_tokenizer

if TYPE_CHECKING:
    from executorch_webgpu.runtime import Program

Prompt = str | Sequence[int]


@dataclass(frozen=True, slots=True)
class TextChunk:
    """One step of a stream.

    ``text`` is what can be shown now (empty while a character or a possible stop string is incomplete); ``token`` is
    None only in a last chunk that no token came with. ``logprob`` is of the model's raw distribution. Speeds are tokens
    a second. ``finish_reason`` is set in the last chunk: ``eos``, ``stop``, ``length`` (as many as asked for),
    ``context`` (the context is full) or ``cancelled``.
    """

    text: str
    token: int | None
    logprob: float | None
    prompt_tokens: int
    generated_tokens: int
    prompt_tokens_per_second: float
    tokens_per_second: float
    finish_reason: str | None


class TextLLMRunner:
    """Generates text; named and called as ExecuTorch's ``TextLLMRunner``.

    ``program`` and ``tokenizer`` are paths or what ``load`` and ``load_tokenizer`` return. A second call goes on after
    the text of the first; ``reset`` begins anew. The runner closes what it opened itself.
    """

    def __init__(
        self,
        program: ProgramLike | str | os.PathLike[str],
        tokenizer: Tokenizer | str | os.PathLike[str],
        data_path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
        *,
        device: str | int = "auto",
        method: str | None = None,
        tiktoken_style: str = "llama3",
        **metadata: Any,
    ) -> None:
        """Load what is given as paths.

        ``metadata`` overrides fields of ``ModelMetadata`` (``bos_id``, ``eos_ids``, ``max_seq_len``,
        ``max_context_len``, ``vocab_size``), for programs that lack the methods which state them.

        Raises:
            ExecuTorchError: A file is missing or damaged, or the program is no language model that can be run.
        """
        self._load_start = now_ms()
        if isinstance(tokenizer, str | os.PathLike):
            tokenizer = load_tokenizer(tokenizer, tiktoken_style=tiktoken_style)
        self.tokenizer: Tokenizer = tokenizer
        self._owned: Program | None = None
        if isinstance(program, str | os.PathLike):
            from executorch_webgpu.runtime import load

            paths = (data_path,) if isinstance(data_path, str | os.PathLike) else tuple(data_path)
            self._owned = load(program, device=device, data=paths)
            self.program: ProgramLike = self._owned
        else:
            self.program = program
        try:
            self.metadata = _override(read_metadata(self.program), metadata)
            self._callers = find_callers(self.program, self.metadata, method)
        except BaseException:
            self.close()
            raise
        ends = self.metadata.eos_ids
        self.eos_ids = self.tokenizer.eos_ids if ends is None else ends
        self.bos_id = self.tokenizer.bos_id if self.metadata.bos_id is None else self.metadata.bos_id
        self.stats = Stats()
        self._decoder: Decoder | None = None
        self._stop = False
        self._active: Generator[TextChunk, None, None] | None = None
        self._load_ms = now_ms() - self._load_start

    def __enter__(self) -> TextLLMRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the program if the runner opened it."""
        if self._owned is not None:
            self._owned.close()
            self._owned = None

    @property
    def context_length(self) -> int:
        """The most tokens a text can have."""
        return context_length(self._callers, self.metadata)

    @property
    def position(self) -> int:
        """How many tokens the text has so far."""
        return 0 if self._decoder is None else self._decoder.position

    @property
    def decoder(self) -> Decoder:
        """The decoder; the device is opened and the weights are uploaded when it is first needed."""
        if self._decoder is None:
            start = now_ms()
            self._decoder = decoder_of(self._callers, self.metadata)
            self._load_ms += now_ms() - start
        return self._decoder

    def encode(self, prompt: Prompt, config: GenerationConfig | None = None) -> list[int]:
        """Return the token ids of a prompt, with the begin and end tokens that ``config`` asks for."""
        if not isinstance(prompt, str):
            return [int(token) for token in prompt]
        config = config or GenerationConfig()
        try:
            return self.tokenizer.encode(
                prompt, num_bos=config.num_bos, num_eos=config.num_eos, bos_id=self.metadata.bos_id
            )
        except ValueError as error:
            raise InvalidArgument(str(error)) from error

    def generate(
        self,
        prompt: Prompt,
        config: GenerationConfig | None = None,
        token_callback: Callable[[str], None] | None = None,
        stats_callback: Callable[[Stats], None] | None = None,
    ) -> str:
        """Generate text after ``prompt``; return it and hand each piece to ``token_callback`` as it comes.

        With ``config.echo`` the prompt is handed over first (it is not part of what is returned).

        Raises:
            InvalidArgument: The prompt is empty or does not fit.
        """
        config = config or GenerationConfig()
        chunks = self.stream(prompt, config)
        if config.echo and token_callback is not None:
            token_callback(prompt if isinstance(prompt, str) else self.tokenizer.decode(prompt))
        pieces = []
        for chunk in chunks:
            if chunk.text:
                pieces.append(chunk.text)
                if token_callback is not None:
                    token_callback(chunk.text)
        if stats_callback is not None:
            stats_callback(self.stats)
        return "".join(pieces)

    def stream(self, prompt: Prompt, config: GenerationConfig | None = None) -> Iterator[TextChunk]:
        """Generate text after ``prompt`` (a text or token ids) and yield it step by step; the prompt is not echoed.

        The prompt is checked here, before any work. ``stats`` has the statistics once the stream has ended.

        Raises:
            InvalidArgument: The prompt is empty or does not fit.
        """
        self.end_stream()
        self._stop = False  # before what may take long: a stop that comes meanwhile counts
        config = config or GenerationConfig()
        start = now_ms()
        tokens = self.encode(prompt, config)
        encode_ms = now_ms() - start
        self._check_prompt(tokens)
        decoder = self.decoder
        # Opening the device belongs to loading, whenever it happens.
        start = now_ms() - encode_ms
        stats = Stats(
            model_load_start_ms=self._load_start,
            model_load_end_ms=self._load_start + self._load_ms,
            inference_start_ms=start,
            token_encode_end_ms=start + encode_ms,
            num_prompt_tokens=len(tokens),
        )
        self.stats = stats
        self._active = self._run(decoder, tokens, config, stats)
        return self._active

    def prefill(self, prompt: Prompt, config: GenerationConfig | None = None) -> None:
        """Append ``prompt`` to the text without generating anything."""
        self.end_stream()
        tokens = self.encode(prompt, config)
        self._check_prompt(tokens)
        self.decoder.prefill(tokens)

    def warm_up(self, prompt: Prompt, config: GenerationConfig | None = None) -> None:
        """Generate two tokens, so that everything is compiled, and begin anew."""
        short = dataclasses.replace(config or GenerationConfig(), max_new_tokens=2, warming=True, ignore_eos=True)
        for _ in self.stream(prompt, short):
            pass
        self.reset()

    def end_stream(self) -> None:
        """End a stream that was not read to its end, so that ``stats`` is complete."""
        if self._active is not None:
            self._active.close()
            self._active = None

    def stop(self) -> None:
        """End the running stream after its current token; may be called from a signal handler or another thread."""
        self._stop = True

    def rewind(self, position: int) -> None:
        """Shorten the text to its first ``position`` tokens."""
        if not 0 <= position <= self.position:
            raise InvalidArgument(f"cannot rewind to {position}: the text has {self.position} tokens")
        self.end_stream()
        self.decoder.rewind(position)

    def reset(self) -> None:
        """Begin a new text: the same calls give the same bits again."""
        self.end_stream()
        if self._decoder is not None:
            self._decoder.reset()

    def _check_prompt(self, tokens: Sequence[int]) -> None:
        context, position = self.context_length, self.position
        if not tokens:
            raise InvalidArgument("the prompt is empty: it needs at least one token (num_bos 1 begins from nothing)")
        if position + len(tokens) >= context:
            before = f" after {position} earlier ones" if position else ""
            raise InvalidArgument(
                f"the prompt has {len(tokens)} tokens{before}; the context of {context} must hold them and one more"
            )
        vocabulary = self.metadata.vocab_size
        wrong = next((token for token in tokens if token < 0 or (vocabulary is not None and token >= vocabulary)), None)
        if wrong is not None:
            raise InvalidArgument(
                f"the prompt has the token {wrong}, the model knows 0 to {(vocabulary or 0) - 1}: is the tokenizer the "
                "model's own?"
            )

    def _run(
        self, decoder: Decoder, tokens: Sequence[int], config: GenerationConfig, stats: Stats
    ) -> Generator[TextChunk, None, None]:
        stats.seed = secrets.randbits(32) if config.seed is None else config.seed
        reason: str | None = None
        kept = decoder.position + len(tokens)
        try:
            decoder.prefill(tokens)
            detokenizer = self.tokenizer.detokenizer(decoder.tokens, skip_special=config.skip_special_tokens)
            stops = StopStrings(config.stop)
            limit = config.resolve_max_new_tokens(decoder.context_length, decoder.position)
            steps = decoder.generate_tokens(config.sampling(stats.seed), limit)
            try:
                for step in steps:
                    stats.on_token()
                    kept = step.position + 1
                    if step.token in self.eos_ids and not config.ignore_eos:
                        reason, text = "eos", ""
                    else:
                        text, met = stops.push(detokenizer.push(step.token))
                        if met:
                            reason = "stop"
                        elif stats.num_generated_tokens == limit:
                            reason = self._limit_reason(config, limit)
                        elif self._stop:
                            reason = "cancelled"
                    if reason not in (None, "stop"):
                        rest, met = stops.push(detokenizer.flush())
                        text += rest + stops.flush()
                        reason = "stop" if met else reason
                    if reason is not None:
                        # Times and memory belong to the last chunk's reader.
                        stats.on_end(reason)
                    yield _chunk(stats, text, step.token, step.logprob, reason)
                    if reason is not None:
                        return
            finally:
                steps.close()
            reason = "length"
            stats.on_end(reason)
            yield _chunk(stats, "", None, None, reason)
        finally:
            if reason is None:
                reason = "cancelled"
                stats.on_end(reason)
            # A stream that nobody ended may outlive its program.
            with contextlib.suppress(InvalidState):
                stats.gpu_bytes = self.program.gpu_bytes
                stats.device = self.program.device
                if decoder.position > kept:
                    decoder.rewind(kept)
            self._active = None

    def _limit_reason(self, config: GenerationConfig, limit: int) -> str:
        asked = config.max_new_tokens == limit or (config.seq_len != -1 and config.seq_len < self.context_length)
        return "length" if asked else "context"


def _chunk(stats: Stats, text: str, token: int | None, logprob: float | None, reason: str | None) -> TextChunk:
    return TextChunk(
        text=text,
        token=token,
        logprob=logprob,
        prompt_tokens=stats.num_prompt_tokens,
        generated_tokens=stats.num_generated_tokens,
        prompt_tokens_per_second=stats.prompt_tokens_per_second,
        tokens_per_second=stats.tokens_per_second,
        finish_reason=reason,
    )


def _override(metadata: ModelMetadata, given: dict[str, Any]) -> ModelMetadata:
    known = [field.name for field in dataclasses.fields(ModelMetadata)]
    for name in given:
        if name not in known:
            raise InvalidArgument(f"unknown metadata {name!r}: {', '.join(known)}")
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "eos_ids" in values:
        values["eos_ids"] = frozenset(values["eos_ids"])
    return dataclasses.replace(metadata, **values)
