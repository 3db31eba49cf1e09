"""Times a program: load, first call, later calls, and what that means in bytes a second."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import executorch_webgpu
from executorch_webgpu.insight.contents import describe_program
from executorch_webgpu.insight.inputs import Shape, make_inputs
from executorch_webgpu.insight.methods import pick_method

WARM_UP = 2


@dataclass(frozen=True)
class ProgramTiming:
    """The times of a program, in seconds.

    ``read`` is opening and checking the file, ``prepare`` the device and the weights' upload, ``first`` the first call
    with its compiling, ``later`` the calls after warm-up. ``weights`` are bytes of the delegates by dtype.
    """

    method: str
    device: str
    read: float
    prepare: float
    first: float
    later: list[float]
    weights: dict[str, int]

    def percentile(self, share: float) -> float:
        """Return a percentile (0 to 100) of the later calls."""
        return float(np.percentile(self.later, share))

    def bandwidth(self) -> dict[str, float]:
        """Return bytes of weights a second by dtype, as if each call read every weight once."""
        return {dtype: nbytes / self.percentile(50) for dtype, nbytes in self.weights.items()}


def time_program(
    model: str,
    *,
    device: str = "auto",
    data: Sequence[str] = (),
    method: str | None = None,
    inputs: Sequence[str] = (),
    shapes: Sequence[Shape | None] = (),
    repeat: int = 20,
    remark: Callable[[str], None] = lambda text: None,
) -> ProgramTiming:
    """Load ``model`` and time it; inputs that are not given are random with seed 0.

    Raises:
        ExecuTorchError: The program cannot be loaded or run.
    """
    start = time.perf_counter()
    with executorch_webgpu.load(model, device=device, data=data) as program:
        name = pick_method(program, method)
        loaded = program.load_method(name)
        read = time.perf_counter() - start
        meta = program.metadata(name)
        values = make_inputs(meta, inputs or ["random"] * meta.num_inputs(), shapes, remark)
        start = time.perf_counter()
        loaded.prepare()
        prepare = time.perf_counter() - start
        seconds = []
        for _ in range(1 + WARM_UP + repeat):
            start = time.perf_counter()
            loaded.execute(values)
            seconds.append(time.perf_counter() - start)
        weights: Counter[str] = Counter()
        for content in describe_program(program.content):
            if content.name == name:
                for delegate in content.delegates:
                    weights.update(delegate.weights)
        return ProgramTiming(
            name, program.device, read, prepare, seconds[0], seconds[1 + WARM_UP :], dict(weights.most_common())
        )
