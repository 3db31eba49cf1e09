"""Every golden case on every device: what eager PyTorch answered, several calls in turn on one method."""

from __future__ import annotations

import numpy as np
import pytest
from goldens import Golden, difference, goldens

import executorch_webgpu


@pytest.mark.parametrize("golden", goldens(), ids=str)
def test_golden(golden: Golden, device: str) -> None:
    if device == "gpu" and not golden.operators:
        pytest.skip("nothing is delegated: the CPU run covers it")
    with executorch_webgpu.load(golden.model, device=device) as program:
        method = program.load_method("forward")
        # The first call comes once more: a larger shape after a smaller one.
        again = golden.calls[:1] if len(golden.calls) > 1 and not golden.stateful else []
        for number, call in enumerate([*golden.calls, *again]):
            given = [value.copy() if isinstance(value, np.ndarray) else value for value in call.inputs]
            got = method.execute(given)
            assert len(got) == len(call.outputs)
            for index, (value, want) in enumerate(zip(got, call.outputs, strict=True)):
                gap = difference(value, want, golden.atol, golden.rtol, golden.atol_int)
                assert gap is None, f"call {number}, output {index}: {gap}"
