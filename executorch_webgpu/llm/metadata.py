"""What an exported language model says of itself through its constant methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.llm.protocols import ProgramLike

# ExecuTorch's runner assumes this context where a program does not state one (extension/llm/runner/constants.h).
DEFAULT_CONTEXT = 128


@dataclass(frozen=True)
class ModelMetadata:
    """The values of the constant methods; None where the program lacks one.

    ``max_seq_len`` bounds the tokens of one call, ``max_context_len`` the whole text.
    """

    bos_id: int | None = None
    eos_ids: frozenset[int] | None = None
    max_seq_len: int | None = None
    max_context_len: int | None = None
    vocab_size: int | None = None
    use_kv_cache: bool | None = None
    use_sdpa_with_kv_cache: bool | None = None
    enable_dynamic_shape: bool | None = None


# Every spelling in use: get_eos_id is that of older exporters.
_EOS = ("get_eos_ids", "get_eos_id")
METADATA_METHODS = frozenset(
    {
        *_EOS,
        "get_bos_id",
        "get_max_seq_len",
        "get_max_context_len",
        "get_vocab_size",
        "get_n_layers",
        "get_n_bos",
        "get_n_eos",
        "get_n_kv_heads",
        "get_head_dim",
        "get_dtype",
        "get_max_batch_size",
        "get_sliding_window",
        "use_kv_cache",
        "use_sdpa_with_kv_cache",
        "enable_dynamic_shape",
    }
)


def read_metadata(program: ProgramLike) -> ModelMetadata:
    """Run the constant methods that the program has.

    Raises:
        InvalidProgram: One of them returns something else than numbers.
    """

    def number(name: str) -> int | None:
        values = _values(program, name)
        if values is None:
            return None
        if len(values) != 1:
            raise InvalidProgram(f"method {name} returns {len(values)} values, expected 1")
        return values[0]

    def flag(name: str) -> bool | None:
        value = number(name)
        return None if value is None else bool(value)

    ends = next((values for name in _EOS if (values := _values(program, name)) is not None), None)
    return ModelMetadata(
        bos_id=number("get_bos_id"),
        eos_ids=None if ends is None else frozenset(ends),
        max_seq_len=number("get_max_seq_len"),
        max_context_len=number("get_max_context_len"),
        vocab_size=number("get_vocab_size"),
        use_kv_cache=flag("use_kv_cache"),
        use_sdpa_with_kv_cache=flag("use_sdpa_with_kv_cache"),
        enable_dynamic_shape=flag("enable_dynamic_shape"),
    )


def _values(program: ProgramLike, name: str) -> list[int] | None:
    if name not in program.method_names:
        return None
    found = list(_flatten(program.load_method(name).execute([])))
    for value in found:
        if not isinstance(value, int | np.integer | np.bool_) and not float(value).is_integer():
            raise InvalidProgram(f"method {name} returns {value!r}, expected whole numbers")
    return [int(value) for value in found]


def _flatten(values: Any) -> Sequence[Any]:
    if isinstance(values, list | tuple):
        return [item for value in values for item in _flatten(value)]
    if isinstance(values, np.ndarray):
        return [item.item() for item in values.reshape(-1)]
    if not isinstance(values, int | float | np.generic):
        raise InvalidProgram(f"a metadata method returns {values!r}, expected a number")
    return [values]
