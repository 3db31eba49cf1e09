"""Language models: tokenizers, sampling, chat, and the runner that generates text."""

from executorch_webgpu.llm.chat_template import ChatTemplate, load_chat_template
from executorch_webgpu.llm.config import GenerationConfig, Sampling
from executorch_webgpu.llm.conversation import Conversation
from executorch_webgpu.llm.metadata import ModelMetadata
from executorch_webgpu.llm.runner import TextChunk, TextLLMRunner
from executorch_webgpu.llm.stats import Stats
from executorch_webgpu.llm.tokenizer import Tokenizer, load_tokenizer

__all__ = [
    "ChatTemplate",
    "Conversation",
    "GenerationConfig",
    "ModelMetadata",
    "Sampling",
    "Stats",
    "TextChunk",
    "TextLLMRunner",
    "Tokenizer",
    "load_chat_template",
    "load_tokenizer",
]
