"""Tells the beginning of a story with the small language model in model.pte.

    python examples/storyteller/tell_story.py [PROMPT] [TOKENS]

Needs the extra ``llm``.
"""

import sys
from pathlib import Path

from executorch_webgpu.llm import GenerationConfig, TextLLMRunner

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Print the prompt and what follows it, as it comes."""
    prompt = sys.argv[1] if len(sys.argv) > 1 else "Once upon a time there was a king who had"
    tokens = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    config = GenerationConfig(max_new_tokens=tokens, temperature=0.8, top_p=0.9, seed=1, num_bos=1)
    with TextLLMRunner(HERE / "model.pte", HERE / "tokenizer.json") as runner:
        print(f"Telling a story on {runner.program.device}:")
        print(f"  {prompt}", end="", flush=True)
        for chunk in runner.stream(prompt, config):
            print(chunk.text, end="", flush=True)
        print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
