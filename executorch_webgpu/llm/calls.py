"""Calls a language model's method in whichever convention it was exported.

Known conventions: tokens alone (no cache: the whole text each time), tokens and a position of the first of them (an
int, a 0-d tensor or a tensor of one), tokens and a vector with the position of each. Tokens are [1, S] or [S], S fixed
or bounded. Logits come back for the last token or for all.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import ExecuTorchError, InvalidProgram, NotSupported
from executorch_webgpu.llm.protocols import MethodLike, MethodMetaLike

FloatArray = np.ndarray[Any, np.dtype[np.float32]]
# ScalarType codes of ExecuTorch (scalar_type.fbs) that token ids and positions can have.
_CODES = {3: "int32", 4: "int64"}


class Position(enum.Enum):
    """How the position is passed."""

    NONE = "no position"
    NUMBER = "a number"
    START = "the position of the first token"
    EACH = "the position of each token"


@dataclass(frozen=True)
class Signature:
    """What a method takes: ``shortest`` and ``longest`` bound the tokens of a call, equal where it is fixed."""

    shortest: int
    longest: int
    token_rank: int
    token_dtype: np.dtype[Any]
    token_first: bool
    position: Position
    position_rank: int
    position_dtype: np.dtype[Any]

    @property
    def fixed(self) -> bool:
        """Whether every call takes the same number of tokens."""
        return self.shortest == self.longest

    @property
    def has_cache(self) -> bool:
        """Whether earlier tokens are remembered: only then is there a position to give."""
        return self.position is not Position.NONE


@dataclass(frozen=True)
class _Input:
    bounds: tuple[tuple[int, int], ...]
    dtype: np.dtype[Any] | None  # None for a plain number


def read_signature(name: str, meta: MethodMetaLike) -> Signature:
    """Work out how to call method ``name``.

    Raises:
        NotSupported: Its inputs are of no known convention; the message describes them.
    """
    inputs = [_describe(meta, index) for index in range(meta.num_inputs())]
    told = ", ".join(_spell(item) for item in inputs) or "nothing"
    complaint = NotSupported(
        f"method {name} takes ({told}); a language model takes tokens [1, S] or [S] and, with a cache, their position"
    )
    if len(inputs) not in (1, 2):
        raise complaint
    wide = [index for index, item in enumerate(inputs) if len(item.bounds) == 2]
    first = wide[0] if len(wide) == 1 else 0
    tokens = inputs[first]
    rank = len(tokens.bounds)
    if tokens.dtype is None or tokens.dtype.name not in _CODES.values() or rank not in (1, 2):
        raise complaint
    if rank == 2 and tokens.bounds[0][0] > 1:
        raise NotSupported(f"method {name} takes a batch of {tokens.bounds[0][0]}; only a batch of 1 can be run")
    shortest, longest = tokens.bounds[-1]
    if longest < 1:
        raise complaint
    position, position_rank = Position.NONE, 0
    position_dtype = np.dtype(np.int64)
    if len(inputs) == 2:
        other = inputs[1 - first]
        position_rank = len(other.bounds)
        if other.dtype is None:
            position = Position.NUMBER
        elif other.dtype.name not in _CODES.values() or position_rank > 2:
            raise complaint
        else:
            position_dtype = other.dtype
            each = position_rank > 0 and other.bounds[-1] == tokens.bounds[-1] and longest > 1
            if not each and any(high != 1 for _, high in other.bounds):
                raise complaint
            position = Position.EACH if each else Position.START
    return Signature(
        shortest=max(shortest, 1),
        longest=longest,
        token_rank=rank,
        token_dtype=tokens.dtype,
        token_first=first == 0,
        position=position,
        position_rank=position_rank,
        position_dtype=position_dtype,
    )


def _describe(meta: MethodMetaLike, index: int) -> _Input:
    try:
        info = meta.input_tensor_meta(index)
    except ExecuTorchError:
        return _Input((), None)
    code = info.dtype()
    dtype = np.dtype(_CODES.get(code, "float32")) if isinstance(code, int) else np.dtype(code)
    return _Input(tuple(info.bounds()), dtype)


def _spell(item: _Input) -> str:
    if item.dtype is None:
        return "number"
    sizes = (str(high) if low == high else f"{low}..{high}" for low, high in item.bounds)
    return f"{item.dtype.name} [{', '.join(sizes)}]"


class Caller:
    """One method of a language model, called with ids and a position."""

    def __init__(self, name: str, method: MethodLike) -> None:
        self.name = name
        self.method = method
        self.signature = read_signature(name, method.metadata)

    def call(self, tokens: Sequence[int], position: int, row: int) -> FloatArray:
        """Run the method on ``tokens`` at ``position`` and return the logits [vocabulary] of token ``row`` of them.

        Raises:
            NotSupported: The method gives logits for its last token only and another is asked for.
            InvalidProgram: The output is not logits.
        """
        outputs = self.method.execute(self._inputs(tokens, position))
        if not outputs or not isinstance(outputs[0], np.ndarray) or outputs[0].dtype.kind != "f":
            raise InvalidProgram(f"method {self.name} returns no float tensor; a language model returns logits")
        logits = outputs[0]
        rows = logits.reshape(-1, logits.shape[-1]) if logits.ndim else logits.reshape(1, 1)
        if len(rows) == len(tokens):
            found = rows[row]
        elif len(rows) == 1:
            if row != len(tokens) - 1:
                raise NotSupported(
                    f"method {self.name} takes exactly {self.signature.longest} tokens and gives logits for the last "
                    "of them only: a shorter text cannot be run"
                )
            found = rows[0]
        else:
            raise InvalidProgram(
                f"method {self.name} returns logits of shape {list(logits.shape)} for {len(tokens)} tokens"
            )
        result: FloatArray = found.astype(np.float32, copy=False)
        return result

    def _inputs(self, tokens: Sequence[int], position: int) -> list[Any]:
        signature = self.signature
        ids = np.array(tokens, signature.token_dtype)
        if signature.token_rank == 2:
            ids = ids[np.newaxis]
        if signature.position is Position.NONE:
            return [ids]
        place: Any
        if signature.position is Position.NUMBER:
            place = position
        elif signature.position is Position.START:
            place = np.full((1,) * signature.position_rank, position, signature.position_dtype)
        else:
            place = np.arange(position, position + len(tokens), dtype=signature.position_dtype)
            if signature.position_rank == 2:
                place = place[np.newaxis]
        return [ids, place] if signature.token_first else [place, ids]
