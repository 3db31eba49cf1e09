"""A linked run: output -> choice on the device -> next call's input, several steps in flight.

The host never waits for a token before it encodes the next step. That is legal only where every state is written at
positions that the host knows: then surplus steps write rows that are overwritten before they are read.
"""

from __future__ import annotations

import contextlib
import struct
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import ExecuTorchError
from executorch_webgpu.format.vulkan_graph import GraphTensor
from executorch_webgpu.gpu.readback import Readback
from executorch_webgpu.gpu.recording import Copy, begin, finish
from executorch_webgpu.graph.compiler import Compilation, Compiled, State
from executorch_webgpu.graph.delegate import GpuDelegate, Step
from executorch_webgpu.graph.executable import Executable
from executorch_webgpu.graph.nodes import tensor_args
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import lowerings
from executorch_webgpu.ops.symbols import live

POSITIONED = frozenset({"sdpa_with_kv_cache.default", "update_cache.default"})
RESULT_BYTES = 16
CHOICE_POSITION = -1  # the live slot of the chosen token's place; the graph's own slots are value ids
CHOOSERS = 4  # compiled choices kept


@dataclass(frozen=True)
class Draw:
    """The settings of ``choice.sample``; see its reference. ``top_k`` 0, ``top_p`` 1 and ``min_p`` 0 are off."""

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    seed: int


@dataclass(frozen=True)
class Choice:
    """A token that the device chose. ``logprob`` is of the raw distribution; ``valid`` is False after a NaN."""

    token: int
    logprob: float
    valid: bool


def can_link(delegate: GpuDelegate, token_input: int, position_input: int) -> bool:
    """Return whether a delegate with logits as only output can choose its own next token, one token a call.

    The inputs are indices into the graph's inputs.
    """
    graph = delegate.graph
    if len(graph.output_ids) != 1 or len(graph.input_ids) != 2 or not delegate.is_single_part:
        return False
    token = graph.values[graph.input_ids[token_input]]
    logits = graph.values[graph.output_ids[0]]
    if not isinstance(token, GraphTensor) or not isinstance(logits, GraphTensor):
        return False
    if delegate.reads_on_host(graph.input_ids[token_input]):
        return False
    if token.dtype != np.int32 or logits.dtype.kind != "f" or graph.output_ids[0] in graph.input_ids:
        return False
    return all(
        node.name in POSITIONED
        for node in delegate.members
        for value in (*tensor_args(graph, node), *node.outputs)
        if isinstance(graph.values[value], GraphTensor) and delegate.plan.of(value) in delegate.plan.state
    )


class LinkedRun:
    """Decoding steps of one token each on a delegate; see ``can_link``.

    The caller's thread records a step, one of the device's finishers finishes it, the submitter submits it: several
    steps are worked on at once. No method may be called with the device's lock held.
    """

    def __init__(self, delegate: GpuDelegate, token_input: int, position_input: int) -> None:
        self.delegate = delegate
        self.device = delegate.device
        self._token_input = token_input
        self._position_input = position_input
        graph, plan = delegate.graph, delegate.plan
        self._token_storage = plan.of(graph.input_ids[token_input])
        self._position = graph.input_ids[position_input]
        self._result = delegate.resources.add(RESULT_BYTES, "the chosen token")
        self._draw: Draw | None = None
        self._choosers: OrderedDict[Draw | None, Executable] = OrderedDict()
        # What a step is compiled for and which scalars are its position, by the inputs' shapes.
        self._stages: dict[tuple[tuple[int, ...], ...], tuple[State, tuple[int, ...]]] = {}
        self._waiting: deque[tuple[Readback, Future[int]]] = deque()
        self._free: list[Readback] = []

    @property
    def in_flight(self) -> int:
        """How many steps were submitted and not taken."""
        return len(self._waiting)

    def choose_by(self, draw: Draw | None) -> None:
        """Have the steps from now on draw their tokens; None takes the most likely."""
        self._draw = draw

    def set_token(self, token: int) -> None:
        """Give the first step its token."""
        with self.device.lock:
            buffer = self.delegate.resources.buffer(self._token_storage)
            self.device.write(buffer, np.array([token], np.int32))

    def submit(self, token_shape: Sequence[int], position: int, position_shape: Sequence[int] | None) -> None:
        """Submit the step that feeds the token chosen last at ``position``.

        ``position_shape`` is None where the position is an int of the graph.
        """
        state, slots = self._stage(tuple(token_shape), None if position_shape is None else tuple(position_shape))
        environment = dict.fromkeys(slots, position)
        with self.device.lock:
            step = self.delegate.ready(state, environment)
            chooser = self._chooser(step)
            result = self.delegate.resources.buffer(self._result)
        choice = {CHOICE_POSITION: position + 1}
        recording = begin(
            self.device,
            (*step.executable.launches, *chooser.launches),
            (*step.executable.grids(environment), *chooser.grids(choice)),
        )
        readback = self._free.pop() if self._free else Readback(self.device, RESULT_BYTES)
        written = None
        if position_shape is not None and step.executable.binds(self.delegate.plan.of(self._position)):
            written = np.full(tuple(position_shape), position, np.int32)
        copy = Copy(result, readback.buffer, RESULT_BYTES)
        finished = self.device.finisher.submit(finish, self.device, recording, [copy])
        sent = self.device.submitter.submit(self._send, finished, step, chooser, choice, written, readback)
        self._waiting.append((readback, sent))

    def take(self) -> Choice:
        """Wait for the oldest step in flight and return its token."""
        readback, sent = self._waiting.popleft()
        token, logprob, nan = struct.unpack_from("<IfI", readback.take(sent.result()))
        self._free.append(readback)
        return Choice(token, logprob, not nan)

    def drain(self) -> None:
        """Wait for all steps in flight and drop their tokens, and what went wrong with them."""
        while self._waiting:
            with contextlib.suppress(ExecuTorchError):
                self.take()

    def _send(
        self,
        finished: Future[Any],
        step: Step,
        chooser: Executable,
        choice: dict[int, int],
        position: np.ndarray | None,
        readback: Readback,
    ) -> int:
        """Submit a step; runs on the device's submitter, one step after the other."""
        self.delegate.check_open()
        resources = self.delegate.resources
        commands = finished.result()
        with self.device.lock:
            self.delegate.check_open()
            step.executable.write_live(step.environment)
            chooser.write_live(choice)
            if position is not None:
                self.device.write(resources.buffer(self.delegate.plan.of(self._position)), position)
            submission = self.device.submit(commands)
        readback.request(RESULT_BYTES)
        return submission

    def _stage(
        self, token_shape: tuple[int, ...], position_shape: tuple[int, ...] | None
    ) -> tuple[State, tuple[int, ...]]:
        key = (token_shape,) if position_shape is None else (token_shape, position_shape)
        found = self._stages.get(key)
        if found is None:
            inputs: list[np.ndarray | int] = [0, 0]
            inputs[self._token_input] = np.zeros(token_shape, np.int32)
            inputs[self._position_input] = 0 if position_shape is None else np.zeros(position_shape, np.int32)
            state, environment, _ = self.delegate.stage(inputs)
            # The token is not read on the host: every scalar of the call is the position.
            found = self._stages[key] = state, tuple(environment)
        return found

    def _chooser(self, step: Step) -> Executable:
        """Return the compiled choice for the settings."""
        chooser = self._choosers.get(self._draw)
        if chooser is None:
            chooser = self._choosers[self._draw] = self._make_chooser(step.state, step.environment)
            if len(self._choosers) > CHOOSERS:
                # Steps that were recorded with it are submitted first.
                self.device.submitter.submit(self._choosers.popitem(last=False)[1].close)
        self._choosers.move_to_end(self._draw)
        return chooser

    def _make_chooser(self, state: State, environment: dict[int, int]) -> Executable:
        delegate = self.delegate
        graph, draw = delegate.graph, self._draw
        compilation = Compilation(
            graph, delegate.plan, delegate.resources, delegate.facts, state.copy(), environment, delegate.where
        )
        logits = compilation.tensor(graph.output_ids[0])
        token = Tensor((1,), np.dtype(np.int32), self._token_storage)
        result = Tensor((4,), np.dtype(np.uint32), self._result)
        name = "choice.greedy" if draw is None else "choice.sample"
        settings = () if draw is None else (live(CHOICE_POSITION), *astuple(draw))
        context = Lowering(name, (), (), delegate.facts, compilation)
        lowerings()[name].function(context, logits, token, result, *settings)
        count = len(context.dispatches)
        compiled = Compiled(
            tuple(context.dispatches), tuple(compilation.scratch), (), (), compilation.state, (-1,) * count
        )
        return Executable(compiled, delegate.resources, self.device)
