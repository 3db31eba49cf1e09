"""Times every kernel family over the shapes of real models against the card's own copy and FMA rates.

    python benchmarks/kernels.py [--device gpu] [--filter TEXT] [--quick] [--json FILE]

A line a shape: microseconds, GB/s of what must be read and written once, TFLOP/s, and the shares of the rates. Weights
come in several sets used in turn, so that caches do not hold them; medians of GPU timestamps.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from figures import Figures
from harness import Bench
from rates import copy_rate, fma_rate
from vision_shapes import NETS, Layer, time_layer

from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.ops.decode.lowering import matvec
from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.registry import lowerings

BEYOND_CACHE = 250e6  # bytes of weights that one pass goes through
HEADS, KV_HEADS, HEAD = 32, 8, 64  # Llama 3.2 1B
CONTEXT = 2048


@dataclass
class Case:
    """A shape: what must be read and written once, operations, and how to time it."""

    name: str
    nbytes: float
    operations: float
    seconds: Callable[[], float] = field(repr=False)


class Cases:
    """Makes the cases of a device; ``quick`` keeps one small shape of each family."""

    def __init__(self, bench: Bench, quick: bool) -> None:
        self.bench = bench
        self.quick = quick
        self.repeats = 3 if quick else 7
        self.errors: dict[str, float] = {}  # largest error over the largest result, float64 as the truth

    def all(self) -> Iterator[Case]:
        quick = self.quick
        for n, k, group in (
            [(256, 256, 32)]
            if quick
            else [(3072, 2048, 32), (2048, 2048, 32), (16384, 2048, 32), (2048, 8192, 32), (128256, 2048, 32),
                  (576, 576, 32), (3072, 576, 32), (49152, 576, 32)]
        ):  # fmt: skip
            yield self.matvec_q4(n, k, group)
        for m, n, k in (
            [(64, 64, 64)]
            if quick
            else [(512, 2048, 2048), (512, 8192, 2048), (512, 2048, 8192), (512, 512, 2048), (128, 8192, 2048)]
        ):
            yield self.matmul_q4(m, n, k, 32)
        for m, n, k in [(64, 64, 64)] if quick else [(512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048)]:
            yield self.operator(f"matmul f32 {m}x{n}x{k}", "aten.mm.default", [(m, k), (k, n)], (m, n), 2.0 * m * n * k)
        n, k = (64, 64) if quick else (1000, 2048)
        yield self.operator(
            f"linear f32 1x{n}x{k}", "aten.linear.default", [(1, k), (n, k)], (1, n), 2.0 * n * k, after=[None]
        )
        for context in (64,) if quick else (128, 512, 1024, 2048):
            yield self.attention_step(context)
        for sequence in (16,) if quick else (128, 512, 1024):
            yield self.attention_prompt(sequence)
        for rows in (1,) if quick else (1, 512):
            yield self.operator(
                f"rms_norm {rows}x2048",
                "et_vk.rms_norm.default",
                [(rows, 2048), (2048,)],
                (rows, 2048),
                0,
                after=[1e-5],
            )
        size = (64, 64) if quick else (4096, 4096)
        for name, count, after in (
            ("aten.add.Tensor", 2, [1]), ("aten.mul.Tensor", 2, []), ("aten.sigmoid.default", 1, []),
            ("aten.gelu.default", 1, ["none"]),
        ):  # fmt: skip
            yield self.operator(f"{name} {size[0]}x{size[1]}", name, [size] * count, size, 0, after=after)
        for vocabulary in (500,) if quick else (49152, 128256):
            yield from self.choices(vocabulary)
        for net, layers in NETS.items():
            for layer, count in list(layers().items())[: 1 if quick else None]:
                yield self.layer(net, layer, count)

    def sets(self, nbytes: float) -> int:
        return 2 if self.quick else int(max(2, min(48, BEYOND_CACHE / nbytes)))

    def matvec_q4(self, n: int, k: int, group: int) -> Case:
        nbytes = n * k / 2 + 4 * n * k / group + 4 * n + 4 * k

        def seconds() -> float:
            b = self.bench
            packed = b.random.integers(0, 256, (n, k // 2), dtype=np.uint8)
            sets = self.sets(nbytes)
            weights = [b.tensor(packed) for _ in range(sets)]
            scales = [b.floats(k // group, n, scale=0.01) for _ in range(sets)]
            x, out = b.floats(1, k), b.empty(1, n)
            return b.time(
                lambda ctx, i: matvec(ctx, x, [weights[i]], [scales[i]], group, [out]), sets, [out], self.repeats
            )

        return Case(f"matvec q4 {n}x{k} group {group}", nbytes, 2.0 * n * k, seconds)

    def matmul_q4(self, m: int, n: int, k: int, group: int) -> Case:
        function = lowerings()["et_vk.linear_q4gsw.default"].function
        name = f"matmul q4 {m}x{n}x{k} group {group}"

        def seconds() -> float:
            b = self.bench
            weight, scales = b.nibbles(n, k), b.floats(k // group, n, scale=0.01)
            x, out = b.floats(m, k), b.empty(m, n)
            found = b.time(lambda ctx, _: function(ctx, x, weight, scales, group, None), 2, [out], self.repeats)
            rows = slice(0, 4)
            bytes_ = b.host(weight)[:512]
            dense = np.stack([bytes_ & 15, bytes_ >> 4], -1).reshape(len(bytes_), k).astype(np.float64) - 8
            dense *= np.repeat(b.host(scales)[:, : len(bytes_)].T, group, axis=1)
            wanted = b.host(x)[rows].astype(np.float64) @ dense.T
            error = abs(b.read(out)[rows, : len(bytes_)] - wanted).max() / abs(wanted).max()
            self.errors[name] = float(error)
            return found

        nbytes = n * k / 2 + 4 * n * k / group + 4 * m * (n + k)
        return Case(name, nbytes, 2.0 * m * n * k, seconds)

    def operator(
        self, name: str, operator: str, shapes: list[tuple[int, ...]], out_shape: tuple[int, ...], operations: float,
        after: list[Any] | None = None,
    ) -> Case:  # fmt: skip
        function = lowerings()[operator].function
        nbytes = 4.0 * sum(int(np.prod(shape)) for shape in [*shapes, out_shape])

        def seconds() -> float:
            b = self.bench
            sets = self.sets(nbytes)
            args = [[b.floats(*shape) for shape in shapes] for _ in range(min(sets, 8))]
            out = b.empty(*out_shape)
            return b.time(lambda ctx, i: function(ctx, *args[i % len(args)], *(after or [])), sets, [out], self.repeats)

        return Case(name, nbytes, operations, seconds)

    def _caches(self, length: int) -> list[Tensor]:
        b = self.bench
        shape = (1, length, KV_HEADS, HEAD)
        return [b.tensor(b.random.standard_normal(shape).astype(np.float32), constant=False) for _ in range(2)]

    def attention_step(self, context: int) -> Case:
        function = lowerings()["fused.rope_sdpa"].function

        def seconds() -> float:
            b = self.bench
            pairs = [self._caches(CONTEXT) for _ in range(2 if self.quick else 16)]
            q, k, v = b.floats(1, 1, HEADS, HEAD), b.floats(1, 1, KV_HEADS, HEAD), b.floats(1, 1, KV_HEADS, HEAD)
            cosine, sine = b.floats(1, HEAD // 2), b.floats(1, HEAD // 2)
            out = b.empty(1, 1, HEADS, HEAD)

            def build(ctx: Any, i: int) -> None:
                if function(ctx, q, k, cosine, sine, [], v, *pairs[i], context - 1, 1) is False:
                    raise RuntimeError("the fused kernel does not take this shape")

            return b.time(build, len(pairs), [out], self.repeats)

        operations = 4.0 * HEADS * HEAD * context
        return Case(f"attention step, context {context}", 8.0 * context * KV_HEADS * HEAD, operations, seconds)

    def attention_prompt(self, sequence: int) -> Case:
        function = lowerings()["sdpa_with_kv_cache.default"].function

        def seconds() -> float:
            b = self.bench
            caches = self._caches(CONTEXT)
            q, out = b.floats(1, sequence, HEADS, HEAD), b.empty(1, sequence, HEADS, HEAD)
            k, v = b.floats(1, sequence, KV_HEADS, HEAD), b.floats(1, sequence, KV_HEADS, HEAD)
            return b.time(
                lambda ctx, _: function(ctx, q, k, v, *caches, 0, 1, None, 0, True, None), 2, [out], self.repeats
            )

        nbytes = 4.0 * sequence * HEAD * (2 * HEADS + 4 * KV_HEADS)
        return Case(f"attention prompt of {sequence}", nbytes, 2.0 * HEADS * HEAD * sequence * (sequence + 1), seconds)

    def choices(self, vocabulary: int) -> Iterator[Case]:
        def timed(name: str, settings: tuple[Any, ...]) -> Callable[[], float]:
            def seconds() -> float:
                b = self.bench
                rows = [b.floats(1, vocabulary, scale=2.5) for _ in range(4)]
                token = b.tensor(np.zeros(1, np.int32), constant=False)
                result = b.tensor(np.zeros(4, np.uint32), constant=False)
                function = lowerings()[name].function
                return b.time(lambda ctx, i: function(ctx, rows[i], token, result, *settings), 4, [], self.repeats)

            return seconds

        yield Case(f"greedy choice of {vocabulary}", 4.0 * vocabulary, 0, timed("choice.greedy", ()))
        for label, settings in (
            ("top-p 0.9", (5, 0.8, 0, 0.9, 0.0, 1)),
            ("top-k 40, top-p 0.95, min-p 0.05", (5, 0.8, 40, 0.95, 0.05, 1)),
            ("temperature 1", (5, 1.0, 0, 1.0, 0.0, 1)),
        ):
            yield Case(f"draw of {vocabulary}, {label}", 4.0 * vocabulary, 0, timed("choice.sample", settings))

    def layer(self, net: str, layer: Layer, count: int) -> Case:
        weights = layer.outs * (layer.ins // layer.groups) * layer.kernel**2
        nbytes = 4.0 * (layer.ins * layer.size**2 + weights + layer.outs * layer.out_size**2)
        sets = 2 if self.quick else 20
        return Case(
            f"{net} {count} x {layer}", nbytes, 2.0 * layer.macs, lambda: time_layer(self.bench, layer, None, sets)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--filter", default="", help="only shapes whose name has this text")
    parser.add_argument("--json")
    parser.add_argument("--quick", action="store_true", help="small shapes, to see that it runs")
    options = parser.parse_args()
    device = select_device(options.device)
    if device is None or "timestamp-query" not in device.features:
        raise SystemExit("no device with timestamp queries was found")
    figures = Figures(options.json)
    figures.say("device", device.description)
    copied, fused = copy_rate(device), fma_rate(device)
    figures.add("copy rate", copied / 1e9, "GB/s")
    figures.add("FMA rate", fused / 1e12, "TFLOP/s")
    bench = Bench(device, warm_up=0.01 if options.quick else 0.3)
    sums: dict[str, float] = {}
    cases = Cases(bench, options.quick)
    for case in cases.all():
        if options.filter not in case.name:
            continue
        with figures.section(case.name):
            seconds = case.seconds()
            rate, operations = case.nbytes / seconds, case.operations / seconds
            note = f"{rate / 1e9:7.0f} GB/s {rate / copied:4.0%} of copy"
            if operations:
                note += f"  {operations / 1e12:6.2f} TFLOP/s {operations / fused:4.0%} of FMA"
            if case.name in cases.errors:
                note += f"  error {cases.errors[case.name]:.1e}"
                figures.values[f"{case.name} error"] = cases.errors[case.name]
            figures.add(case.name, seconds * 1e6, "us", note)
            figures.values[f"{case.name} GB/s"] = rate / 1e9
            figures.values[f"{case.name} TFLOP/s"] = operations / 1e12
            net, _, rest = case.name.partition(" ")
            if net in NETS:
                sums[net] = sums.get(net, 0.0) + seconds * int(rest.split()[0])
        bench.clear()
    for net, seconds in sums.items():
        figures.add(f"{net} layers together", seconds * 1e3, "ms", "GPU time of the convolutions and linear layers")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
