"""Finds what kind of tokenizer a file holds, from its content."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from executorch_webgpu.errors import InvalidArgument, NotFound
from executorch_webgpu.llm.tokenizer import huggingface, llama2c, sentencepiece_model, tiktoken_ranks
from executorch_webgpu.llm.tokenizer.base import Tokenizer

USUAL_NAMES = ("tokenizer.json", "tokenizer.model", "tokenizer.bin")


def load_tokenizer(path: str | os.PathLike[str], *, tiktoken_style: str = "llama3") -> Tokenizer:
    """Read the tokenizer in a file, or in a folder that holds one under a usual name.

    ``tiktoken_style`` names the split pattern and special tokens assumed for tiktoken rank files, which lack them:
    llama3, qwen or cl100k.

    Raises:
        NotFound: There is no such file.
        InvalidArgument: The content is of no known kind (the message says why for each kind), or is damaged.
        MissingExtra: A package that reads this kind is not installed.
    """
    file = find_tokenizer(Path(path))
    try:
        data = file.read_bytes()
    except OSError as error:
        raise NotFound(f"{file}: cannot read the tokenizer: {error.strerror or error}") from error
    kinds: tuple[tuple[str, Callable[[bytes], str | None], Callable[[], Tokenizer]], ...] = (
        ("Hugging Face tokenizer.json", huggingface.why_not, lambda: huggingface.load(data, file.parent)),
        ("tiktoken ranks", tiktoken_ranks.why_not, lambda: tiktoken_ranks.load(data, tiktoken_style)),
        ("llama2.c .bin", llama2c.why_not, lambda: llama2c.load(data)),
        ("sentencepiece .model", sentencepiece_model.why_not, lambda: sentencepiece_model.load(data)),
    )
    reasons = []
    for title, why_not, load in kinds:
        reason = why_not(data)
        if reason is None:
            try:
                return load()
            except InvalidArgument as error:
                raise InvalidArgument(f"{file}: {error}") from error
        reasons.append(f"{title}: {reason}")
    raise InvalidArgument(f"{file}: no known kind of tokenizer; tried {'; '.join(reasons)}")


def find_tokenizer(path: Path) -> Path:
    """Return ``path``, or the tokenizer file in it if it is a folder."""
    if not path.is_dir():
        if not path.exists():
            raise NotFound(f"{path}: no such file (the tokenizer)")
        return path
    for name in USUAL_NAMES:
        if (path / name).is_file():
            return path / name
    raise NotFound(f"{path}: the folder holds none of {', '.join(USUAL_NAMES)}")
