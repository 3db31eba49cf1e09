"""A loaded method."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from executorch_webgpu.errors import InvalidState
from executorch_webgpu.executor.machine import Machine
from executorch_webgpu.format.plan import ExecutionPlan
from executorch_webgpu.graph.delegate_api import Delegate
from executorch_webgpu.runtime.arguments import check_inputs, is_torch, read_values, to_torch
from executorch_webgpu.runtime.metadata import MethodMeta

if TYPE_CHECKING:
    from executorch_webgpu.runtime.program import Program


class Method:
    """A method of a program, with state of its own. Calls from several threads run one after the other."""

    def __init__(self, program: Program, plan: ExecutionPlan, machine: Machine, lock: threading.RLock) -> None:
        self._program: Program | None = program
        self._plan = plan
        self._machine = machine
        self._used = read_values(plan)
        self._lock = lock

    @property
    def metadata(self) -> MethodMeta:
        """What the method takes and gives."""
        self._open()
        return MethodMeta(self._plan)

    @property
    def has_delegate_state(self) -> bool:
        """Whether a delegate of the method keeps caches that no other method sees."""
        self._open()
        return any(slot.has_state for slot in self._machine.delegates)

    def execute(self, inputs: Sequence[Any] = ()) -> list[Any]:
        """Run the method.

        Args:
            inputs: numpy arrays, Python scalars, or anything with ``__dlpack__`` or ``__array__``, one for each input,
                of exactly the exported dtype and within the exported shape.

        Returns:
            Fresh numpy arrays, Python scalars, and None for a Null; torch tensors if any input is one.

        Raises:
            InvalidArgument: An input is wrong; checked before a device is opened.
            InvalidState: The program is closed.
            DeviceLost: The device went away; ``Program.reload()`` makes a new one.
        """
        with self._lock:
            self._open()
            checked = check_inputs(self._plan, inputs, self._used)
            self.prepare()
            outputs = self._machine.run(checked)
        return to_torch(outputs) if any(map(is_torch, inputs)) else outputs

    __call__ = execute

    def prepare(self) -> None:
        """Open the device and upload the weights now instead of in the first ``execute``."""
        with self._lock:
            program = self._open()
            if self._machine.delegates:
                self._machine.open_delegates(program._make_delegate)

    def reset(self) -> None:
        """Give every mutable buffer and cache its initial value: the file's where it has one, else zero."""
        with self._lock:
            self._open()
            self._machine.reset()

    def _single_delegate(self) -> tuple[Delegate, tuple[int, ...], tuple[int, ...]] | None:
        """Return (delegate, inputs, outputs) where the method is one delegate call and nothing else.

        ``inputs`` gives for each graph input the index of the method's input; ``outputs`` gives for each output of the
        method the index of the graph output.
        """
        self.prepare()
        return self._machine.single_delegate()

    def _reload(self) -> None:
        with self._lock:
            self._machine.close_delegates()
            self._machine.reset()

    def _close(self) -> None:
        with self._lock:
            self._program = None
            self._machine.close()

    def _open(self) -> Program:
        if self._program is None:
            raise InvalidState(f"method {self._plan.name!r}: the program is closed")
        return self._program

    def __repr__(self) -> str:
        return f"Method({self._plan.name!r})"
