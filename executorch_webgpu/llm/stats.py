"""Counts and times of one generation."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from executorch_webgpu.errors import counted
from executorch_webgpu.llm.memory import peak_host_bytes


def now_ms() -> float:
    """Return a time in milliseconds that only differences have a meaning of."""
    return time.perf_counter() * 1000.0


@dataclass
class Stats:
    """Statistics of one generation; times are milliseconds on one clock, as in ExecuTorch's ``Stats``.

    ``first_token_ms`` is when the first drawn token was known, so it also ends the evaluation of the prompt.
    """

    model_load_start_ms: float = 0.0
    model_load_end_ms: float = 0.0
    inference_start_ms: float = 0.0
    token_encode_end_ms: float = 0.0
    prompt_eval_end_ms: float = 0.0
    first_token_ms: float = 0.0
    last_token_ms: float = 0.0
    inference_end_ms: float = 0.0
    num_prompt_tokens: int = 0
    num_generated_tokens: int = 0
    finish_reason: str | None = None
    seed: int | None = None
    device: str | None = None
    gpu_bytes: int | None = None
    host_bytes: int | None = field(default_factory=peak_host_bytes)

    SCALING_FACTOR_UNITS_PER_SECOND = 1000

    def on_token(self) -> None:
        """Note that a token has been drawn."""
        self.last_token_ms = now_ms()
        if self.num_generated_tokens == 0:
            self.first_token_ms = self.prompt_eval_end_ms = self.last_token_ms
        self.num_generated_tokens += 1

    def on_end(self, reason: str | None) -> None:
        """Note the end of the text and the memory used so far."""
        self.inference_end_ms = now_ms()
        self.finish_reason = reason
        if self.num_generated_tokens == 0 and self.prompt_eval_end_ms == 0:
            self.prompt_eval_end_ms = self.inference_end_ms
        self.host_bytes = peak_host_bytes()

    @property
    def load_seconds(self) -> float:
        """Time to load the program and the tokenizer."""
        return (self.model_load_end_ms - self.model_load_start_ms) / 1000.0

    @property
    def time_to_first_token(self) -> float:
        """Seconds from the request to the first drawn token, 0 where there was none."""
        return max(self.first_token_ms - self.inference_start_ms, 0.0) / 1000.0

    @property
    def prompt_tokens_per_second(self) -> float:
        """Speed of reading the prompt, up to the first drawn token."""
        return _rate(self.num_prompt_tokens, self.prompt_eval_end_ms - self.token_encode_end_ms)

    @property
    def tokens_per_second(self) -> float:
        """Speed of drawing the tokens after the first, 0 where there was none."""
        return _rate(self.num_generated_tokens - 1, self.last_token_ms - self.first_token_ms)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: ExecuTorch's names, then this package's own."""
        return {
            "prompt_tokens": self.num_prompt_tokens,
            "generated_tokens": self.num_generated_tokens,
            "model_load_start_ms": self.model_load_start_ms,
            "model_load_end_ms": self.model_load_end_ms,
            "inference_start_ms": self.inference_start_ms,
            "inference_end_ms": self.inference_end_ms,
            "prompt_eval_end_ms": self.prompt_eval_end_ms,
            "first_token_ms": self.first_token_ms,
            "SCALING_FACTOR_UNITS_PER_SECOND": self.SCALING_FACTOR_UNITS_PER_SECOND,
            "load_seconds": self.load_seconds,
            "time_to_first_token_seconds": self.time_to_first_token,
            "prompt_tokens_per_second": self.prompt_tokens_per_second,
            "decode_tokens_per_second": self.tokens_per_second,
            "peak_host_bytes": self.host_bytes,
            "gpu_bytes": self.gpu_bytes,
            "device": self.device,
            "seed": self.seed,
            "finish_reason": self.finish_reason,
        }

    def to_json_string(self) -> str:
        """Return ``to_dict`` as one line of JSON."""
        return json.dumps(self.to_dict())

    def to_text(self) -> str:
        """Return the statistics for people, a few lines."""
        sizes = (("host", self.host_bytes), ("GPU", self.gpu_bytes))
        memory = [f"{name} {size / 2**20:.0f} MiB" for name, size in sizes if size]
        ended = f"; ended by {self.finish_reason}" if self.finish_reason else ""
        details = [f"load {self.load_seconds:.2f} s", "peak memory " + (", ".join(memory) or "unknown")]
        details += [f"device {self.device}"] if self.device else []
        details += [f"seed {self.seed}"] if self.seed is not None else []
        return (
            f"prompt: {counted(self.num_prompt_tokens, 'token')}, {self.prompt_tokens_per_second:.1f} tokens/s, "
            f"first token after {self.time_to_first_token:.2f} s\n"
            f"answer: {counted(self.num_generated_tokens, 'token')}, {self.tokens_per_second:.1f} tokens/s{ended}\n"
            f"{'; '.join(details)}"
        )


def _rate(count: int, milliseconds: float) -> float:
    return count * 1000.0 / milliseconds if count > 0 and milliseconds > 0 else 0.0
