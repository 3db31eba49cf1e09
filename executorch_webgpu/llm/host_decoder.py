"""The plain decoder: one call of the method a token, logits read back, the token chosen on the host."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from executorch_webgpu.errors import InvalidArgument
from executorch_webgpu.llm.calls import Caller, FloatArray
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.llm.decoder import Decoder, TokenStep
from executorch_webgpu.llm.sampler import choose

_PADDING = 0  # its logits are never used and its cache rows are overwritten before they are seen


@dataclass(frozen=True)
class Callers:
    """The method that takes prompts and the one that takes single tokens; they may be one."""

    prefill: Caller
    decode: Caller
    chunk: int  # most tokens of one call


class HostDecoder(Decoder):
    """Feeds tokens through ``Method.execute`` and samples with numpy."""

    def __init__(self, callers: Callers, context_length: int, vocab_size: int | None) -> None:
        self.context_length = context_length
        self.vocab_size = vocab_size
        self._callers = callers
        self._tokens: list[int] = []
        self._fed = 0  # tokens that the model's caches hold
        self._logits: FloatArray | None = None  # of the last fed token

    @property
    def tokens(self) -> Sequence[int]:
        """The token ids of the text so far."""
        return self._tokens

    def prefill(self, tokens: Sequence[int]) -> None:
        """Append given tokens to the text and feed them."""
        self._tokens += tokens
        self._feed()

    def generate_tokens(self, sampling: Sampling, limit: int) -> Generator[TokenStep, None, None]:
        """Draw tokens one at a time; each is fed only when the next is asked for."""
        for _ in range(limit):
            self._feed()
            if self._logits is None:
                raise InvalidArgument("nothing to go on from: the text is empty")
            seen = np.unique(np.array(self._tokens, np.intp)) if sampling.repetition_penalty != 1 else None
            position = len(self._tokens)
            token, logprob = choose(self._logits, sampling, position, seen)
            self._tokens.append(token)
            yield TokenStep(token, position, logprob)

    def rewind(self, position: int) -> None:
        """Shorten the text; the last token left is fed again to have its logits."""
        if position < len(self._tokens):
            del self._tokens[position:]
            self._fed = min(self._fed, max(position - 1, 0))
            self._logits = None

    def reset(self) -> None:
        """Begin a new text."""
        self._tokens.clear()
        self._fed = 0
        self._logits = None
        self._callers.prefill.method.reset()
        self._callers.decode.method.reset()

    def logits(self) -> FloatArray | None:
        """Return the logits [vocabulary] after the last token of the text, None for an empty text."""
        self._feed()
        return self._logits

    def _feed(self) -> None:
        if not self._callers.prefill.signature.has_cache:
            self._feed_all()
            return
        while self._fed < len(self._tokens):
            self._feed_chunk()

    def _feed_chunk(self) -> None:
        callers = self._callers
        waiting = len(self._tokens) - self._fed
        caller = callers.decode if waiting == 1 else callers.prefill
        signature = caller.signature
        if waiting < signature.shortest and callers.decode.signature.shortest == 1:
            caller, signature = callers.decode, callers.decode.signature
        length = min(waiting, callers.chunk, signature.longest)
        start = self._fed
        chunk = self._tokens[start : start + length]
        row = length - 1
        if length < signature.shortest:
            # A fixed length: go back over what the caches hold already, or fill up with padding.
            short = signature.shortest - length
            back = min(short, start)
            start -= back
            chunk = self._tokens[start : start + back + length] + [_PADDING] * (short - back)
            row += back
        self._logits = caller.call(chunk, start, row)
        self._fed += length

    def _feed_all(self) -> None:
        if self._fed == len(self._tokens) or not self._tokens:
            return
        caller = self._callers.prefill
        short = max(caller.signature.shortest - len(self._tokens), 0)
        self._logits = caller.call(self._tokens + [_PADDING] * short, 0, len(self._tokens) - 1)
        self._fed = len(self._tokens)
