"""A decoder whose device chooses the tokens: several steps are in flight and the host reads tokens late."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from executorch_webgpu.errors import InvalidState
from executorch_webgpu.llm.calls import Caller, Position
from executorch_webgpu.llm.config import Sampling
from executorch_webgpu.llm.decoder import TokenStep
from executorch_webgpu.llm.host_decoder import Callers, HostDecoder

if TYPE_CHECKING:
    from executorch_webgpu.graph.linked import LinkedRun

IN_FLIGHT = 4  # steps recorded before the oldest is read


def open_linked_run(caller: Caller) -> LinkedRun | None:
    """Return the linked run of a method that is one GPU delegate and takes single tokens, else None."""
    from executorch_webgpu.graph.delegate import GpuDelegate
    from executorch_webgpu.graph.linked import LinkedRun, can_link

    signature = caller.signature
    single = getattr(caller.method, "_single_delegate", lambda: None)()
    if single is None or signature.shortest > 1 or not signature.has_cache:
        return None
    delegate, inputs, outputs = single
    token, position = (0, 1) if signature.token_first else (1, 0)
    if not isinstance(delegate, GpuDelegate) or sorted(inputs) != [0, 1] or tuple(outputs) != (0,):
        return None
    token_input, position_input = inputs.index(token), inputs.index(position)
    if not can_link(delegate, token_input, position_input):
        return None
    return LinkedRun(delegate, token_input, position_input)


class RunAheadDecoder(HostDecoder):
    """A host decoder that lets the device choose wherever the settings allow it."""

    def __init__(self, callers: Callers, context_length: int, vocab_size: int | None, linked: LinkedRun) -> None:
        super().__init__(callers, context_length, vocab_size)
        self._linked = linked
        signature = callers.decode.signature
        self._token_shape = (1,) * signature.token_rank
        number = signature.position is Position.NUMBER
        self._position_shape = None if number else (1,) * signature.position_rank

    def generate_tokens(self, sampling: Sampling, limit: int) -> Generator[TokenStep, None, None]:
        """Draw tokens: the first from the prompt's logits on the host, the others on the device.

        A repetition penalty looks at the whole text: it stays on the host.
        """
        if sampling.repetition_penalty != 1:
            yield from super().generate_tokens(sampling, limit)
            return
        if limit < 1:
            return
        yield from super().generate_tokens(sampling, 1)
        yield from self._run_ahead(sampling, limit - 1)

    def reset(self) -> None:
        """Begin a new text."""
        self._linked.drain()
        super().reset()

    def _run_ahead(self, sampling: Sampling, limit: int) -> Generator[TokenStep, None, None]:
        from executorch_webgpu.graph.linked import Draw

        linked = self._linked
        settings = sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p, sampling.seed
        linked.choose_by(None if sampling.greedy else Draw(*settings))
        first = len(self._tokens) - 1
        linked.set_token(self._tokens[-1])
        # The caches hold every token before the last; what the steps add counts once it was handed out.
        self._logits = None
        submitted = 0
        try:
            for taken in range(limit):
                while submitted < min(limit, taken + IN_FLIGHT):
                    linked.submit(self._token_shape, first + submitted, self._position_shape)
                    submitted += 1
                choice = linked.take()
                position = len(self._tokens)
                if not choice.valid:
                    raise InvalidState(f"the model's logits for position {position} are not numbers (NaN)")
                self._tokens.append(choice.token)
                self._fed = position
                yield TokenStep(choice.token, position, choice.logprob if sampling.logprobs else None)
        finally:
            linked.drain()
            # The last token is fed (again) when its logits are asked for.
            self._fed = min(self._fed, max(len(self._tokens) - 1, 0))
