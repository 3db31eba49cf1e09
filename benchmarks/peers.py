"""Times other runtimes on the same card: ONNX Runtime WebGPU (vision nets), llama.cpp's Vulkan backend (Llama 3.2 1B).

    python benchmarks/peers.py [--only onnxruntime|llama.cpp] [--quick] [--json FILE]

Needs the packages onnxruntime-webgpu and cyllama-vulkan; one that is missing is told in one line. Weights and inputs
are random. llama.cpp is timed without sampling or text, as llama-bench does.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figures
from gguf_llama import Shape, write_llama
from onnx_nets import mobilenetv2, resnet50

NETS = {"resnet50": resnet50, "mobilenetv2": mobilenetv2}


def median_seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the median time of a call after a quarter as many that do not count."""
    times = []
    for _ in range(repeats + repeats // 4 + 1):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[-repeats:])


def onnxruntime(figures: Figures, quick: bool) -> None:
    import onnxruntime as ort

    figures.say("ONNX Runtime version", ort.__version__)
    ort.set_default_logger_severity(4)
    x = np.random.default_rng(0).standard_normal((1, 3, 224, 224)).astype(np.float32)
    for name, build in NETS.items():
        with figures.section(f"ONNX Runtime {name}"):
            session = ort.InferenceSession(build(), providers=["WebGpuExecutionProvider"])
            if session.get_providers()[0] != "WebGpuExecutionProvider":
                raise RuntimeError("ONNX Runtime did not take its WebGPU provider")
            repeats = 2 if quick else 60
            seconds = median_seconds(lambda s=session: s.run(None, {"image": x}), repeats)
            figures.add(f"ONNX Runtime {name}, numpy in and out", seconds * 1e3, "ms")
            binding = session.io_binding()
            binding.bind_ortvalue_input("image", ort.OrtValue.ortvalue_from_numpy(x, "webgpu", 0))
            binding.bind_output(session.get_outputs()[0].name, "cpu")
            seconds = median_seconds(lambda s=session, b=binding: s.run_with_iobinding(b), repeats)
            figures.add(f"ONNX Runtime {name}, input kept, output read back", seconds * 1e3, "ms")


def llama_cpp(figures: Figures, quick: bool) -> None:
    from cyllama.llama import llama_cpp as llama

    figures.say("llama.cpp version", f"cyllama-vulkan {importlib.metadata.version('cyllama-vulkan')}")
    shape = Shape(256, 512, 2, 4, 2, 1000, 512) if quick else Shape()
    contexts, prefills, count, repeats = (128, 512, 1024, 2048), (128, 512, 1024), 128, 5
    if quick:
        contexts, prefills, count, repeats = (64,), (32,), 8, 2
    llama.disable_logging()
    llama.llama_backend_init()
    llama.ggml_backend_load_all()
    figures.say("llama.cpp backends", ", ".join(map(str, llama.ggml_backend_reg_names())))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "llama.gguf"
        write_llama(path, shape)
        params = llama.LlamaModelParams()
        params.n_gpu_layers = 99
        model = llama.LlamaModel(str(path), params)
        context_params = llama.LlamaContextParams()
        context_params.n_ctx = contexts[-1] + count
        context_params.n_batch = max(prefills[-1], 512)
        context = llama.LlamaContext(model, context_params)
        random = np.random.default_rng(0)

        def feed(tokens: int, start: int) -> None:
            ids = [int(token) for token in random.integers(3, shape.vocabulary, tokens)]
            context.decode(llama.llama_batch_get_one(ids, start))

        def clear(depth: int) -> None:
            context.kv_cache_clear()
            for start in range(0, depth, 512):
                feed(min(512, depth - start), start)
            context.synchronize()

        def steps(depth: int) -> float:
            clear(depth - count // 2 - 8)
            begin = 0.0
            for index in range(count + 8):
                if index == 8:
                    begin = time.perf_counter()
                feed(1, depth - count // 2 - 8 + index)
                context.synchronize()
            return count / (time.perf_counter() - begin)

        def prompt(tokens: int) -> float:
            clear(0)
            begin = time.perf_counter()
            feed(tokens, 0)
            context.synchronize()
            return tokens / (time.perf_counter() - begin)

        for depth in contexts:
            steps(depth)
            figures.add(f"llama.cpp decode at {depth}", statistics.median(_times(steps, depth, repeats)), "tokens/s")
        for tokens in prefills:
            prompt(tokens)
            figures.add(f"llama.cpp prefill {tokens}", statistics.median(_times(prompt, tokens, repeats)), "tokens/s")


def _times(call: Callable[[int], float], argument: int, repeats: int) -> list[float]:
    return [call(argument) for _ in range(repeats)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["onnxruntime", "llama.cpp"])
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true", help="small shapes, to see that it runs")
    options = parser.parse_args()
    figures = Figures(options.json)
    peers: dict[str, Any] = {"onnxruntime": onnxruntime, "llama.cpp": llama_cpp}
    packages = {"onnxruntime": "onnxruntime-webgpu", "llama.cpp": "cyllama-vulkan"}
    for name, measure in peers.items():
        if options.only in (None, name):
            with figures.section(name):
                try:
                    measure(figures, options.quick)
                except ImportError as error:
                    raise SystemExit(f"not measured: the package {packages[name]} is missing ({error})") from error


if __name__ == "__main__":
    main()
