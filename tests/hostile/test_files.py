"""Every hostile file is refused: the right error, one line, the file's name, at once."""

from __future__ import annotations

import time

import pytest

from executorch_webgpu import errors
from tests.hostile.cases import CASES, FILES
from tests.hostile.patching import FIXTURES, load_all, read_all


@pytest.mark.parametrize("name", sorted(CASES))
def test_it_is_refused(name):
    path = FILES / name
    start = time.process_time()
    with pytest.raises(getattr(errors, CASES[name][1])) as caught:
        read_all(path, path.suffix[1:], str(path))
        load_all(path)
    assert time.process_time() - start < 2
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 500 + len(str(path))
    assert type(caught.value).__name__ == CASES[name][1]


def test_the_folder_is_what_the_cases_make():
    readme = (FILES / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in FILES.iterdir()} == {*CASES, "README.md"}
    for name, (sentence, _, contents) in CASES.items():
        assert (FILES / name).read_bytes() == contents(), name
        assert f"- `{name}`: {sentence}\n" in readme


@pytest.mark.parametrize("name", ["segment.pte", "inline.pte", "branch.pte", "lists.pte", "mutable.pte", "methods.pte"])
def test_undamaged_they_are_read(name):
    read_all(FIXTURES / name, "pte")


def test_undamaged_others_are_read():
    read_all(FIXTURES / "bundled.bpte", "bpte")
    read_all(FIXTURES / "external.ptd", "ptd")
    read_all(FIXTURES / "blob.bin", "bin")
