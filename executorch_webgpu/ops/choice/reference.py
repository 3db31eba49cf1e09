"""The meaning of token choices."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


@reference("choice.greedy", outputs=2)
def greedy(out: tuple[Out, Out], logits: Array) -> tuple[Array, Array]:
    """Return the id of the largest of the last row of ``logits`` [..., V] and the log of its softmax."""
    row = np.asarray(logits, np.float32).reshape(-1, logits.shape[-1])[-1]
    token = int(np.argmax(row))
    rest = np.exp(row - row[token], where=row != row[token], out=np.ones_like(row))
    return np.array(token, np.int32), -np.log(rest.sum(dtype=np.float32))
