"""Runs all benchmarks and writes a page with the figures, what they should be, and what bounds those that miss.

    python benchmarks/report.py --models DIR [--out docs/performance.md] [--device gpu] [--quick]

DIR holds programs with their weights: vision-*.pte are vision nets, other .pte files language models; a tokenizer is
taken from NAME.tokenizer.json where there is one. Each part runs in a process of its own with a time limit, so that
one that fails costs its own figures alone.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Values = dict[str, Any]
MATVEC = "matvec q4 16384x2048 group 32"
MATMUL = "matmul q4 512x8192x2048 group 32"
THREADS = ("caller's thread", "each finishing thread", "submitting thread")


@dataclass
class Part:
    """What one script found."""

    title: str
    values: Values = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Row:
    """A line of the table. ``must`` and ``aim`` are bounds on ``value``, from above where ``less``."""

    name: str
    unit: str
    must: float
    aim: float
    less: bool
    value: float | None
    peer: str = ""
    bound: str = ""

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        sign = -1 if self.less else 1
        reached = [limit for limit in (self.must, self.aim) if sign * self.value >= sign * limit]
        return ("misses", "must", "aim")[len(reached)]


def run(title: str, script: str, arguments: list[str], limit: float) -> Part:
    """Run one script and return its figures; what it wrote before it failed counts."""
    part = Part(title)
    print(f"\n== {title}", flush=True)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "figures.json"
        command = [sys.executable, str(HERE / script), *arguments, "--json", str(found)]
        try:
            status = subprocess.run(command, timeout=limit, check=False).returncode
            if status:
                part.errors.append(f"{script} ended with status {status}")
        except subprocess.TimeoutExpired:
            part.errors.append(f"{script} took more than {limit:.0f} s")
        if found.is_file():
            data = json.loads(found.read_text())
            part.values = data["values"]
            part.errors += data["errors"]
    print(f"== {title}: {time.perf_counter() - begin:.0f} s", flush=True)
    return part


def measure(options: argparse.Namespace) -> list[Part]:
    """Run everything, the figures that matter most first."""
    common = ["--device", options.device] + (["--quick"] if options.quick else [])
    models = sorted(Path(options.models).glob("*.pte"))
    vision = [path for path in models if path.name.startswith("vision")]
    parts = []
    for path in models:
        if path in vision:
            continue
        arguments = [str(path)]
        tokenizer = next(iter(sorted(path.parent.glob(f"{path.stem}*tokenizer*"))), None)
        if tokenizer:
            arguments += ["--tokenizer", str(tokenizer)]
        parts.append(run(f"language model {path.stem}", "language_model.py", [*arguments, *common], 120))
    if vision:
        parts.append(run("vision", "vision.py", [*map(str, vision), *common], 60))
    else:
        parts.append(Part("vision", errors=[f"no vision-*.pte in {options.models}"]))
    quick = ["--quick"] if options.quick else []
    for peer, limit in (("llama.cpp", 90), ("onnxruntime", 60)):
        parts.append(run(f"peer {peer}", "peers.py", ["--only", peer, *quick], limit))
    parts.append(run("kernels", "kernels.py", common, 150))
    return parts


def table(parts: list[Part]) -> list[Row]:
    """Return the rows of the table."""
    by_title = {part.title: part.values for part in parts}
    language = {title: values for title, values in by_title.items() if title.startswith("language model")}
    llama: Values = next((v for title, v in language.items() if "llama" in title), {})
    small: Values = next((v for title, v in language.items() if "smol" in title.lower()), {})
    vision, kernels = by_title.get("vision", {}), by_title.get("kernels", {})
    peers = {**by_title.get("peer llama.cpp", {}), **by_title.get("peer onnxruntime", {})}
    copied, fused = kernels.get("copy rate"), kernels.get("FMA rate")

    def peer(label: str, name: str, unit: str) -> str:
        value = peers.get(name)
        return "" if value is None else f"{label} {shown(value)} {unit}"

    def host_time(values: Values) -> float | None:
        """The busiest thread."""
        times = [values.get(f"host time per token, {thread}") for thread in THREADS]
        return None if None in times else max(times)

    def decode_bound(values: Values, context: int) -> str:
        gpu, host = values.get(f"GPU time per token at {context}"), host_time(values)
        rate, floor = values.get(f"decode at {context}"), values.get(f"times the byte floor at {context}")
        if None in (gpu, host, rate, floor):
            return ""
        wall = 1e6 / rate
        if wall > 1.15 * max(gpu, host):
            what = "neither alone: what lies between submissions"
        else:
            what = "the GPU's kernels" if gpu >= host else "encoding on the host"
        parts = f"the GPU {gpu:.0f} us ({floor:.1f} x the byte floor), the busiest host thread {host:.0f} us"
        return f"a token takes {wall:.0f} us, {parts}: {what}"

    def prefill_bound() -> str:
        gpu, rate = llama.get("GPU time of a prompt of 512"), llama.get("prefill 512")
        if None in (gpu, rate):
            return ""
        wall = 512e6 / rate
        rest = f"the GPU {gpu / 1000:.1f} ms of {wall / 1000:.1f} ms"
        return f"{rest}; its products: {share(MATMUL, ' TFLOP/s', fused, 'FMA')}"

    def share(name: str, key: str, whole: float | None, what: str) -> str:
        value = kernels.get(name + key)
        if value is None or not whole:
            return ""
        error = kernels.get(f"{name} error")
        return f"{value / whole:.0%} of the card's {what} rate" + ("" if error is None else f", error {error:.1e}")

    def vision_bound(name: str) -> str:
        gpu, call = vision.get(f"{name} GPU time"), vision.get(f"{name} call")
        if None in (gpu, call):
            return ""
        layers = kernels.get(f"{name.split('-')[1]} layers together")
        note = f"GPU {gpu:.2f} ms, staging, submission, waiting and reading back {call - gpu:.2f} ms"
        return note + (f"; its layers one by one {layers:.2f} ms" if layers else "")

    rows = [
        Row(
            f"decode at context {context}, Llama 3.2 1B 4 bit", "tokens/s", must, aim, False,
            llama.get(f"decode at {context}"),
            peer("llama.cpp", f"llama.cpp decode at {context}", "tokens/s"), decode_bound(llama, context),
        )
        for context, must, aim in ((128, 800, 1200), (2048, 650, 1000))
    ]  # fmt: skip
    rows.append(
        Row("prefill of 512 tokens", "tokens/s", 9000, 16000, False, llama.get("prefill 512"),
            peer("llama.cpp", "llama.cpp prefill 512", "tokens/s (tensor cores)"),
            prefill_bound())
    )  # fmt: skip
    rows += [
        Row(f"decode GPU time over the byte floor, context {context}", "x", 6, 3, True,
            llama.get(f"times the byte floor at {context}"), "", decode_bound(llama, context))
        for context in (128, 2048)
    ]  # fmt: skip
    matvec = kernels.get(f"{MATVEC} GB/s")
    host, gpu = host_time(llama), llama.get("GPU time per token at 128")
    split = ", ".join(f"{thread} {llama.get(f'host time per token, {thread}', 0):.0f} us" for thread in THREADS)
    loading = llama.get("load to first token")
    opening, bare = llama.get("load of a device alone"), llama.get("host memory of a device alone")
    alone = "" if opening is None else f", {opening:.2f} s of it to open the device"
    note = "" if loading is None else f"GPU memory filled {llama.get('GPU memory', 0):.0f} MB{alone}"
    settled = llama.get("host memory after loading")
    rows += [
        Row("matrix-vector 16384x2048, 4 bit, group 32", "TB/s", 1.4, 2.5, False,
            None if matvec is None else matvec / 1000, "", share(MATVEC, " GB/s", copied, "copy")),
        Row("matrix-matrix 512x8192x2048, 4 bit", "TFLOP/s", 32, 45, False, kernels.get(f"{MATMUL} TFLOP/s"), "",
            share(MATMUL, " TFLOP/s", fused, "FMA")),
        Row("host time a token, share of the GPU's", "x", 1, 0.5, True,
            None if None in (host, gpu) else host / gpu, "",
            "" if None in (host, gpu) else f"{split}; GPU {gpu:.0f} us"),
        Row("load to first token", "s", 4, 1.5, True, loading, "", note),
        Row("host memory above the interpreter's, peak while loading", "MB", 500, 200, True,
            llama.get("peak host memory while loading"), "",
            "" if None in (bare, settled) else f"{bare:.0f} MB without a program: the driver, wgpu and imports; "
            f"{settled:.0f} MB after loading"),
    ]  # fmt: skip
    for net, must, aim in (("resnet50", 4.6, 3.0), ("mobilenetv2", 1.6, 0.8)):
        name = next((key[:-5] for key in vision if net in key and key.endswith(" call")), "")
        label = "ONNX Runtime WebGPU"
        both = [
            peer(label, f"ONNX Runtime {net}, numpy in and out", "ms, numpy in and out"),
            peer("", f"ONNX Runtime {net}, input kept, output read back", "ms, input kept").strip(),
        ]
        rows.append(
            Row(f"{net}, fp32, 224x224, outputs read back", "ms", must, aim, True, vision.get(f"{name} call"),
                "; ".join(filter(None, both)), vision_bound(name) if name else "")
        )  # fmt: skip
    if small:
        rows.append(
            Row("decode at context 128, SmolLM2-135M 4 bit", "tokens/s", 1000, 2000, False,
                small.get("decode at 128"), "", decode_bound(small, 128))
        )  # fmt: skip
    return rows


def shown(value: float) -> str:
    """Return a number with three or four digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def versions(parts: list[Part]) -> list[str]:
    """Return what was measured on and with."""
    device = next((part.values["device"] for part in parts if "device" in part.values), "unknown")
    lines = [f"Card: {device}"]
    if shutil.which("nvidia-smi"):
        command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        lines.append(f"driver {found.splitlines()[0]}" if found else "driver unknown")
    packages = []
    for name in ("wgpu", "numpy"):
        try:
            packages.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    lines.append(f"Python {platform.python_version()}, {', '.join(packages)}, {platform.system()} {platform.machine()}")
    for part in parts:
        lines += [value for key, value in part.values.items() if key == "llama.cpp version"]
        lines += [f"onnxruntime-webgpu {value}" for key, value in part.values.items() if key == "ONNX Runtime version"]
    return lines


def page(parts: list[Part], seconds: float) -> str:
    """Return the page."""
    lines = [
        "# Performance",
        "",
        "Written by `benchmarks/report.py`; `benchmarks/README.md` says how each figure is taken. All of them, the "
        "other runtimes' too, are from one run on one machine. Medians; random weights and inputs.",
        "",
        *[f"- {line}" for line in versions(parts)],
        f"- {seconds:.0f} s for all",
        "",
        "| figure | must | aim | measured | reached | others, same run | what bounds it |",
        "|---|---:|---:|---:|---|---|---|",
    ]
    for row in table(parts):
        sign = "<= " if row.less else ""
        value = "not measured" if row.value is None else f"**{shown(row.value)}** {row.unit}"
        lines.append(
            f"| {row.name} | {sign}{shown(row.must)} | {sign}{shown(row.aim)} | {value} | "
            f"{row.verdict if row.value is not None else ''} | {row.peer} | {row.bound} |"
        )
    for part in parts:
        lines += ["", f"## {part.title[0].upper()}{part.title[1:]}", ""]
        numbers = {key: value for key, value in part.values.items() if isinstance(value, int | float)}
        if part.title == "kernels":
            lines += kernel_table(part.values)
        elif numbers:
            lines += ["| figure | value |", "|---|---:|"]
            lines += [f"| {key} | {shown(value)}{unit_of(key)} |" for key, value in numbers.items()]
        lines += [f"- not measured: {error}" for error in part.errors]
    return "\n".join(lines) + "\n"


def unit_of(name: str) -> str:
    """Return the unit of a figure, from its name."""
    units: list[tuple[Callable[[str], bool], str]] = [
        (lambda n: n.startswith(("decode", "prefill", "llama.cpp decode", "llama.cpp prefill")), " tokens/s"),
        (lambda n: n.startswith("ONNX") or n.endswith((" call", "GPU time")), " ms"),
        (lambda n: "memory" in n, " MB"),
        (lambda n: n.startswith(("GPU time", "host time")), " us"),
        (lambda n: n.startswith("times the"), " x"),
        (lambda n: n.startswith(("load", "imports")) or n.endswith("first output"), " s"),
        (lambda n: n == "copy rate", " GB/s"),
    ]
    return next((unit for holds, unit in units if holds(name)), "")


def kernel_table(values: Values) -> list[str]:
    """Return the table of kernels with the shares of the card's rates."""
    copied, fused = values.get("copy rate", 0.0), values.get("FMA rate", 0.0)
    lines = [
        f"Copy rate {shown(copied)} GB/s (read and written), FMA rate {shown(fused)} TFLOP/s.",
        "",
        "| kernel and shape | us | GB/s | of copy | TFLOP/s | of FMA |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, microseconds in values.items():
        moved, done = values.get(f"{name} GB/s"), values.get(f"{name} TFLOP/s")
        if moved is None or done is None:
            continue
        work = f"{done:.2f} | {done / fused:.0%}" if done and fused else "| "
        lines.append(f"| {name} | {shown(microseconds)} | {shown(moved)} | {moved / copied:.0%} | {work} |")
    sums = [f"{name}: {value:.2f} ms" for name, value in values.items() if name.endswith("layers together")]
    return [*lines, "", *sums] if sums else lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", required=True, help="folder of .pte files with their weights")
    parser.add_argument("--out", default=str(HERE.parent / "docs" / "performance.md"))
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--quick", action="store_true", help="tiny settings, to see that it runs")
    options = parser.parse_args()
    begin = time.perf_counter()
    parts = measure(options)
    text = page(parts, time.perf_counter() - begin)
    Path(options.out).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
