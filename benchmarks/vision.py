"""Times programs with one image as input: load, a call with its outputs read back, GPU time.

python benchmarks/vision.py MODEL.pte... [--device gpu] [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from figures import Figures

import executorch_webgpu


def gpu_time(figures: Figures, name: str, method: Any, inputs: list[Any]) -> None:
    from rates import gpu_seconds, written_step

    from executorch_webgpu.gpu.recording import record

    single = method._single_delegate()
    device = getattr(single[0], "device", None) if single else None
    if device is None or "timestamp-query" not in device.features:
        print(f"{name}: no GPU time (no single delegate on a device with timestamp queries)")
        return
    step = written_step(single[0], [inputs[index] for index in single[1]])
    launches, grids = step.executable.launches, step.executable.grids(step.environment)
    seconds = gpu_seconds(device, lambda t: record(device, launches, grids, timestamps=t), 15)
    figures.add(f"{name} GPU time", seconds * 1e3, "ms", f"{len(launches)} dispatches")


def measure(figures: Figures, path: str, device: str, repeats: int) -> None:
    name = Path(path).stem
    begin = time.perf_counter()
    with executorch_webgpu.load(path, device=device) as program:
        method = program.load_method("forward")
        meta = method.metadata.input_tensor_meta(0)
        random = np.random.default_rng(0)
        inputs = [random.standard_normal(meta.sizes()).astype(np.float32)]
        method.execute(inputs)
        figures.add(f"{name} load to first output", time.perf_counter() - begin, "s")
        times = []
        for _ in range(repeats + repeats // 4):
            begin = time.perf_counter()
            method.execute(inputs)
            times.append(time.perf_counter() - begin)
        times = sorted(times[-repeats:])
        note = f"{times[0] * 1e3:.2f} to {times[-1] * 1e3:.2f}, outputs read back"
        figures.add(f"{name} call", statistics.median(times) * 1e3, "ms", note)
        gpu_time(figures, name, method, inputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true", help="few calls, to see that it runs")
    options = parser.parse_args()
    figures = Figures(options.json)
    for path in options.models:
        with figures.section(Path(path).stem):
            measure(figures, path, options.device, 3 if options.quick else 60)


if __name__ == "__main__":
    main()
