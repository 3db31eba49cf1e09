"""A linked run: output -> choice on the device -> next call's input, several steps in flight.

The host never waits for a token before it encodes the next step. That is legal only where every state is written at
positions that the host knows: then surplus steps write rows that are overwritten before they are read.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from executorch_webgpu.format.vulkan_graph import GraphTensor
from executorch_webgpu.gpu.readback import Readback
from executorch_webgpu.gpu.recording import Copy, record
from executorch_webgpu.graph.compiler import Compilation, Compiled, State
from executorch_webgpu.graph.delegate import GpuDelegate
from executorch_webgpu.graph.executable import Executable
from executorch_webgpu.graph.nodes import tensor_args
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import lowerings

POSITIONED = frozenset({"sdpa_with_kv_cache.default", "update_cache.default"})
RESULT_BYTES = 16


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
    if token.dtype != np.int32 or logits.dtype.kind != "f" or graph.output_ids[0] in graph.input_ids:
        return False
    return all(
        node.name in POSITIONED
        for node in delegate.members
        for value in (*tensor_args(graph, node), *node.outputs)
        if isinstance(graph.values[value], GraphTensor) and delegate.plan.of(value) in delegate.plan.state
    )


class LinkedRun:
    """Decoding steps of one token each on a delegate; see ``can_link``."""

    def __init__(self, delegate: GpuDelegate, token_input: int, position_input: int) -> None:
        self.delegate = delegate
        self.device = delegate.device
        self._token_input = token_input
        self._position_input = position_input
        graph, plan = delegate.graph, delegate.plan
        self._token_storage = plan.of(graph.input_ids[token_input])
        self._result = delegate.resources.add(RESULT_BYTES, "the chosen token")
        self._chooser: Executable | None = None
        self._waiting: deque[tuple[Readback, int]] = deque()
        self._free: list[Readback] = []

    @property
    def in_flight(self) -> int:
        """How many steps were submitted and not taken."""
        return len(self._waiting)

    def set_token(self, token: int) -> None:
        """Give the first step its token."""
        with self.device.lock:
            buffer = self.delegate.resources.buffer(self._token_storage)
            self.device.write(buffer, np.array([token], np.int32))

    def submit(self, token_shape: Sequence[int], position: int, position_shape: Sequence[int] | None) -> None:
        """Submit the step that feeds the token chosen last at ``position``.

        ``position_shape`` is None where the position is an int of the graph.
        """
        with self.device.lock:
            inputs: list[np.ndarray | int] = [0, 0]
            inputs[self._token_input] = np.zeros(tuple(token_shape), np.int32)
            inputs[self._position_input] = (
                position if position_shape is None else np.full(tuple(position_shape), position, np.int32)
            )
            step = self.delegate.prepare(inputs, skip=self._token_input)
            chooser = self._chooser or self._make_chooser(step.state, step.environment)
            self._chooser = chooser
            chooser_grids = chooser.grids(step.environment)
            readback = self._free.pop() if self._free else Readback(self.device, RESULT_BYTES)
            commands = record(
                self.device,
                (*step.executable.launches, *chooser.launches),
                (*step.executable.grids(step.environment), *chooser_grids),
                [Copy(self.delegate.resources.buffer(self._result), readback.buffer, RESULT_BYTES)],
            )
            submission = self.device.submit(commands)
            readback.request(RESULT_BYTES)
            self._waiting.append((readback, submission))

    def take(self) -> Choice:
        """Wait for the oldest step in flight and return its token."""
        with self.device.lock:
            readback, submission = self._waiting.popleft()
            token, logprob, nan = struct.unpack_from("<IfI", readback.take(submission))
            self._free.append(readback)
        return Choice(token, logprob, not nan)

    def drain(self) -> None:
        """Wait for all steps in flight and drop their tokens."""
        while self._waiting:
            self.take()

    def _make_chooser(self, state: State, environment: dict[int, int]) -> Executable:
        delegate = self.delegate
        graph = delegate.graph
        compilation = Compilation(
            graph, delegate.plan, delegate.resources, delegate.facts, state.copy(), environment, delegate.where
        )
        logits = compilation.tensor(graph.output_ids[0])
        token = Tensor((1,), np.dtype(np.int32), self._token_storage)
        result = Tensor((4,), np.dtype(np.uint32), self._result)
        context = Lowering("choice.greedy", (), (), delegate.facts, compilation)
        lowerings()["choice.greedy"].function(context, logits, token, result)
        count = len(context.dispatches)
        compiled = Compiled(
            tuple(context.dispatches), tuple(compilation.scratch), (), (), compilation.state, (-1,) * count
        )
        return Executable(compiled, delegate.resources, self.device)
