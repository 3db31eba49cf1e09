"""Times a language model program end to end, through the text loop of ``TextLLMRunner.stream``.

    python benchmarks/language_model.py MODEL.pte [--tokenizer FILE] [--device gpu] [--quick] [--json FILE]

Without a tokenizer token ids stand for themselves. Medians; tokens of prompts are random with a fixed seed.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

BEGIN = time.perf_counter()
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def memory(name: str) -> float:
    """Return a size from /proc/self/status in MB; NaN where there is none. VmHWM is the peak so far."""
    try:
        found = re.search(rf"{name}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    return int(found[1]) / 1000 if found else float("nan")


INTERPRETER_MB = memory("VmRSS")

from figures import Figures  # noqa: E402

from executorch_webgpu.llm import GenerationConfig, TextLLMRunner  # noqa: E402
from executorch_webgpu.llm.tokenizer.base import Detokenizer, Tokenizer  # noqa: E402

WARM = 8  # tokens before the clock starts


class Ids(Detokenizer):
    def push(self, token: int) -> str:
        return f"{token} "

    def flush(self) -> str:
        return ""


class IdTokenizer(Tokenizer):
    """Token ids written as numbers."""

    kind = "ids"
    vocab_size = 0

    def encode_plain(self, text: str) -> list[int]:
        return [int(word) for word in text.split()]

    def detokenizer(self, context: Sequence[int] = (), *, skip_special: bool = True) -> Detokenizer:
        return Ids()

    def token_text(self, token: int) -> str:
        return str(token)

    def token_id(self, text: str) -> int | None:
        return int(text) if text.isdigit() else None


class Model:
    """A runner with random prompts."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.runner = TextLLMRunner(options.model, options.tokenizer or IdTokenizer(), device=options.device)

    def ids(self, count: int, seed: int = 0) -> list[int]:
        import numpy as np

        high = self.runner.metadata.vocab_size or 256
        return [int(token) for token in np.random.default_rng(seed).integers(3, high, count)]

    def empty(self) -> None:
        if self.runner.position:
            self.runner.rewind(0)

    def stream(self, prompt: list[int], tokens: int, **settings: Any) -> Any:
        config = GenerationConfig(max_new_tokens=tokens, ignore_eos=True, **{"temperature": 0.0, "seed": 1, **settings})
        return self.runner.stream(prompt, config)

    def decode_rate(self, context: int, count: int, **settings: Any) -> tuple[float, int]:
        """Return tokens a second of ``count`` tokens around ``context``, and the middle that fits."""
        room = self.runner.context_length - count - WARM - 1
        start = max(1, min(context - count // 2 - WARM, room))
        self.empty()
        chunks = self.stream(self.ids(start), count + WARM, **settings)
        for _ in range(WARM):
            next(chunks)
        begin = time.perf_counter()
        taken = sum(chunk.token is not None for chunk in chunks)
        return taken / (time.perf_counter() - begin), start + WARM + count // 2

    def prefill_seconds(self, count: int) -> float:
        """Return the time from the prompt to the first token's text."""
        self.empty()
        prompt = self.ids(count, seed=count)
        begin = time.perf_counter()
        next(self.stream(prompt, 1))
        return time.perf_counter() - begin


def open_device(spec: str) -> tuple[float, float]:
    """Return the seconds that opening a device takes and the host memory (MB) that it costs, imports included."""
    from executorch_webgpu.gpu.device import select_device

    begin = time.perf_counter()
    select_device(spec)
    return time.perf_counter() - begin, memory("VmHWM") - INTERPRETER_MB


def bare_device(figures: Figures, options: argparse.Namespace) -> None:
    """Measure a device without any program, in a process of its own."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        seconds, megabytes = pool.submit(open_device, options.device).result()
    figures.add("load of a device alone", seconds, "s")
    figures.add("host memory of a device alone", megabytes, "MB", "above the interpreter's, imports included")


def load(figures: Figures, options: argparse.Namespace) -> Model:
    with Path(options.model).open("rb") as file:
        while file.read(1 << 24):
            pass
    imports = time.perf_counter() - BEGIN
    begin = time.perf_counter()
    model = Model(options)
    next(model.stream(model.ids(8), 1))
    figures.add("load to first token", time.perf_counter() - begin, "s", "from the page cache, 8 tokens of prompt")
    figures.add("imports", imports, "s", "not in the load")
    figures.add("peak host memory while loading", memory("VmHWM") - INTERPRETER_MB, "MB", "above the interpreter's")
    figures.add("host memory after loading", memory("VmRSS") - INTERPRETER_MB, "MB", "above the interpreter's")
    program = model.runner.program
    figures.add("GPU memory", program.gpu_bytes / 1e6, "MB")
    figures.say("device", program.device)
    return model


def step_bytes(executable: Any, delegate: Any, context: int, length: int) -> float:
    """Return the bytes of weights and of cache rows that one step must read."""
    weights: dict[tuple[int, int], int] = {}
    caches: dict[tuple[int, int], int] = {}
    for dispatch in executable.compiled.dispatches:
        if "embedding" in dispatch.shader:
            continue  # one row
        for _, tensor in dispatch.bindings:
            if tensor.storage in delegate.plan.state:
                caches[tensor.storage, tensor.offset] = tensor.nbytes
            elif tensor.constant:
                weights[tensor.storage, tensor.offset] = tensor.nbytes
    return sum(weights.values()) + sum(caches.values()) * context / length


def gpu_times(figures: Figures, model: Model, contexts: Sequence[int], prompts: Sequence[int]) -> None:
    """Measure the GPU's time for a step and for prompts, and the host's for submitting a step."""
    import numpy as np
    from rates import copy_rate, gpu_seconds, written_step

    from executorch_webgpu.gpu.recording import record

    decoder: Any = model.runner.decoder
    linked = getattr(decoder, "_linked", None)
    if linked is None:
        print("no figures of single steps: the device does not choose this program's tokens")
        return
    delegate = linked.delegate
    device = delegate.device
    length = model.runner.context_length
    linked.choose_by(None)

    def step_of(position: int, tokens: int = 1) -> Any:
        shape = decoder._position_shape
        made: list[Any] = [0, 0]
        ids = np.array(model.ids(tokens), np.int32)
        made[linked._token_input] = ids.reshape((*decoder._token_shape[:-1], tokens))
        made[linked._position_input] = position if shape is None else np.full(shape, position, np.int32)
        return written_step(delegate, made)

    if "timestamp-query" in device.features:
        rate = copy_rate(device)
        figures.add("copy rate", rate / 1e9, "GB/s")
        for context in contexts:
            position = min(context, length) - 1
            step = step_of(position)
            chooser = linked._chooser(step)
            chooser.write_live({-1: position + 1})
            launches = [*step.executable.launches, *chooser.launches]
            grids = [*step.executable.grids(step.environment), *chooser.grids({-1: position + 1})]
            work = launches, grids
            seconds = gpu_seconds(device, lambda t, work=work: record(device, *work, timestamps=t))
            floor = step_bytes(step.executable, delegate, context, length) / rate
            dispatches = sum(grid[0] > 0 for grid in grids)
            figures.add(f"GPU time per token at {context}", seconds * 1e6, "us", f"{dispatches} dispatches")
            figures.add(f"times the byte floor at {context}", seconds / floor, "x", f"floor {floor * 1e6:.0f} us")
        for prompt in prompts:
            with figures.section(f"GPU time of a prompt of {prompt}"):
                step = step_of(0, prompt)
                work = step.executable.launches, step.executable.grids(step.environment)
                seconds = gpu_seconds(device, lambda t, work=work: record(device, *work, timestamps=t))
                figures.add(f"GPU time of a prompt of {prompt}", seconds * 1e6, "us", f"{len(work[0])} dispatches")
    else:
        print("no GPU times: the device has no timestamp queries")
    host_times(figures, model, linked, min(200, length // 2))


def host_times(figures: Figures, model: Model, linked: Any, context: int) -> None:
    """Measure the processor time of a token on the threads that make it, text loop included."""
    from executorch_webgpu.gpu.device import FINISHERS
    from executorch_webgpu.graph import linked as module

    spent: dict[str, list[float]] = {"finish": [], "_send": []}

    def timed(owner: Any, name: str) -> Any:
        call = getattr(owner, name)

        def wrapper(*arguments: Any) -> Any:
            begin = time.thread_time()
            try:
                return call(*arguments)
            finally:
                spent[name].append(time.thread_time() - begin)

        setattr(owner, name, wrapper)
        return call

    originals = [(owner, name, timed(owner, name)) for owner, name in ((module, "finish"), (linked, "_send"))]
    try:
        model.empty()
        chunks = model.stream(model.ids(max(context - 100, 1)), min(250, model.runner.context_length - context))
        for _ in range(50):
            next(chunks)
        begin = time.thread_time()
        count = sum(chunk.token is not None for chunk in chunks)
        caller = (time.thread_time() - begin) / count
    finally:
        for owner, name, call in originals:
            setattr(owner, name, call)
    finishing, submitting = (statistics.median(spent[name][50:]) for name in ("finish", "_send"))
    figures.add("host time per token, caller's thread", caller * 1e6, "us", "recording and the text loop")
    note = f"{finishing * 1e6:.0f} us over {FINISHERS} threads"
    figures.add("host time per token, each finishing thread", finishing / FINISHERS * 1e6, "us", note)
    figures.add("host time per token, submitting thread", submitting * 1e6, "us")
    figures.add("host time per token, all threads", (caller + finishing + submitting) * 1e6, "us")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--tokenizer")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true", help="few tokens and short contexts, to see that it runs")
    options = parser.parse_args()
    figures = Figures(options.json)
    contexts, prefills, count, repeats = (128, 512, 1024, 2048), (128, 512, 1024), 128, 5
    if options.quick:
        contexts, prefills, count, repeats = (32, 64), (16,), 12, 2
    with figures.section("device"):
        bare_device(figures, options)
    model = None
    with figures.section("load"):
        model = load(figures, options)
    if model is None:
        raise SystemExit(1)
    length = model.runner.context_length
    for context in contexts:
        if context > length:
            continue
        with figures.section(f"decode at {context}"):
            found = [model.decode_rate(context, count) for _ in range(repeats)]
            rate = statistics.median(rate for rate, _ in found)
            low, high = min(found)[0], max(found)[0]
            figures.add(f"decode at {context}", rate, "tokens/s", f"{low:.0f} to {high:.0f}, middle {found[0][1]}")
    with figures.section("sampled"):
        for name, settings in (
            ("temperature 0.8, top-p 0.9", {"temperature": 0.8, "top_p": 0.9}),
            ("temperature 0.8, top-k 40, top-p 0.95, min-p 0.05",
             {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05}),
        ):  # fmt: skip
            rates = [model.decode_rate(contexts[0], count, **settings)[0] for _ in range(repeats)]
            figures.add(f"decode at {contexts[0]}, {name}", statistics.median(rates), "tokens/s")
    for size in prefills:
        if size >= length:
            continue
        with figures.section(f"prefill {size}"):
            model.prefill_seconds(size)
            seconds = statistics.median(model.prefill_seconds(size) for _ in range(repeats))
            figures.add(f"prefill {size}", size / seconds, "tokens/s", f"{seconds * 1e3:.1f} ms to the first token")
    with figures.section("steps"):
        model.empty()
        longest = min(length - 1, model.runner._callers.chunk)
        fitting = [size for size in prefills if size <= longest]
        gpu_times(figures, model, [context for context in contexts if context <= length], fitting)
    model.runner.close()


if __name__ == "__main__":
    main()
