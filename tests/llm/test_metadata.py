"""Metadata methods in the forms that exporters write."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import FakeProgram

from executorch_webgpu.errors import InvalidProgram
from executorch_webgpu.llm.metadata import ModelMetadata, read_metadata


def test_everything() -> None:
    program = FakeProgram(
        {},
        {
            "get_bos_id": 1,
            "get_eos_ids": [2, 3],
            "get_max_seq_len": 128,
            "get_max_context_len": 256,
            "get_vocab_size": 512,
            "use_kv_cache": True,
            "use_sdpa_with_kv_cache": False,
            "enable_dynamic_shape": True,
        },
    )
    assert read_metadata(program) == ModelMetadata(1, frozenset({2, 3}), 128, 256, 512, True, False, True)


def test_nothing() -> None:
    assert read_metadata(FakeProgram({})) == ModelMetadata()


def test_other_spellings() -> None:
    assert read_metadata(FakeProgram({}, {"get_eos_id": 7})).eos_ids == {7}
    assert read_metadata(FakeProgram({}, {"get_eos_ids": [np.array([4, 5])]})).eos_ids == {4, 5}
    assert read_metadata(FakeProgram({}, {"get_eos_ids": [[4, 5]]})).eos_ids == {4, 5}
    assert read_metadata(FakeProgram({}, {"get_vocab_size": 9.0})).vocab_size == 9
    assert read_metadata(FakeProgram({}, {"get_vocab_size": np.int64(9)})).vocab_size == 9


def test_nonsense_is_named() -> None:
    with pytest.raises(InvalidProgram, match="get_vocab_size returns 2 values"):
        read_metadata(FakeProgram({}, {"get_vocab_size": [1, 2]}))
    with pytest.raises(InvalidProgram, match=r"get_max_seq_len returns 1.5"):
        read_metadata(FakeProgram({}, {"get_max_seq_len": 1.5}))
    with pytest.raises(InvalidProgram, match="'text'"):
        read_metadata(FakeProgram({}, {"get_bos_id": "text"}))
