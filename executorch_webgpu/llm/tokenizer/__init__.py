"""Tokenizers: one interface over four kinds of file."""

from executorch_webgpu.llm.tokenizer.base import Detokenizer, Tokenizer
from executorch_webgpu.llm.tokenizer.detect import load_tokenizer

__all__ = ["Detokenizer", "Tokenizer", "load_tokenizer"]
