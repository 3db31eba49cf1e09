"""Times the convolutions and linear layers of ResNet-50 and MobileNetV2 (fp32, 224x224, batch 1), each kernel variant.

    python benchmarks/vision_shapes.py [--device gpu] [--net resnet50|mobilenetv2] [--filter TEXT] [--chosen]

One line a distinct layer: how often it occurs, GMAC, then microseconds of GPU time for the chosen variant and, without
--chosen, for all others. The last line is the sum over the network of what was chosen and of the best.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from harness import Bench

from executorch_webgpu.gpu.device import select_device
from executorch_webgpu.ops.context import Lowering
from executorch_webgpu.ops.convolution import lowering as convolution
from executorch_webgpu.ops.matmul import product
from executorch_webgpu.ops.matmul.variants import LARGE, MEDIUM, SMALL, TILES, Block, Variant, choose


@dataclass(frozen=True)
class Layer:
    """A convolution of ``size`` x ``size`` pixels."""

    ins: int
    outs: int
    size: int
    kernel: int = 1
    stride: int = 1
    groups: int = 1

    @property
    def out_size(self) -> int:
        return (self.size + 2 * (self.kernel // 2) - self.kernel) // self.stride + 1

    @property
    def macs(self) -> int:
        return self.outs * self.out_size**2 * (self.ins // self.groups) * self.kernel**2

    def __str__(self) -> str:
        kind = "dw" if self.groups > 1 else "conv"
        return f"{kind} {self.ins}->{self.outs} {self.size}x{self.size} k{self.kernel} s{self.stride}"


def resnet50() -> Counter[Layer]:
    layers = [Layer(3, 64, 224, 7, 2)]
    size, ins = 56, 64
    for mid, count, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(count):
            stride = first_stride if block == 0 else 1
            layers += [Layer(ins, mid, size), Layer(mid, mid, size, 3, stride)]
            if block == 0:
                layers.append(Layer(ins, 4 * mid, size, 1, stride))
            size //= stride
            layers.append(Layer(mid, 4 * mid, size))
            ins = 4 * mid
    return Counter([*layers, Layer(2048, 1000, 1)])


def mobilenetv2() -> Counter[Layer]:
    layers = [Layer(3, 32, 224, 3, 2)]
    size, ins = 112, 32
    for expand, outs, count, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for block in range(count):
            stride = first_stride if block == 0 else 1
            mid = ins * expand
            if expand != 1:
                layers.append(Layer(ins, mid, size))
            layers.append(Layer(mid, mid, size, 3, stride, mid))
            size //= stride
            layers.append(Layer(mid, outs, size))
            ins = outs
    return Counter([*layers, Layer(320, 1280, 7), Layer(1280, 1000, 1)])


NETS = {"resnet50": resnet50, "mobilenetv2": mobilenetv2}


def variants(layer: Layer, bench: Bench) -> list[Variant | None]:
    """Return all ways to run a layer, the chosen one first; None where there is one kernel only."""
    if layer.groups > 1:
        return [None]
    m, n, k = layer.outs, layer.out_size**2, layer.ins * layer.kernel**2
    layout = "nk" if n == 1 else "kn" if layer.kernel == layer.stride == 1 else "image"
    sizes = (1, 1, m, k, layout) if n == 1 else (1, m, n, k, layout)
    chosen = choose(*sizes, bench.facts)
    others = [*TILES, *[replace(tile, splits=s) for tile in (SMALL, MEDIUM, LARGE) for s in (2, 4, 8)], Block()]
    fitting = [v for v in others if v != chosen and (v.splits == 1 or k // v.splits >= 64)]
    return [chosen, *fitting]


def describe(variant: Variant | None) -> str:
    """Return a short name."""
    name = type(variant).__name__.lower() if not hasattr(variant, "columns") else f"t{variant.rows}"
    return name + (f"/{variant.splits}" if variant is not None and variant.splits > 1 else "")


def time_layer(bench: Bench, layer: Layer, variant: Variant | None, sets: int) -> float:
    """Return the GPU seconds of one launch."""
    x = bench.floats(1, layer.ins, layer.size, layer.size)
    weights = [
        bench.floats(layer.outs, layer.ins // layer.groups, layer.kernel, layer.kernel, scale=0.05) for _ in range(sets)
    ]
    bias = bench.floats(layer.outs)
    out = bench.empty(1, layer.outs, layer.out_size, layer.out_size)
    pad = layer.kernel // 2

    def build(ctx: Lowering, index: int) -> None:
        args = ([layer.stride] * 2, [pad] * 2, [1, 1], False, [0, 0], layer.groups, 0.0, float("inf"))
        convolution.convolution(ctx, x, weights[index], bias, *args)

    original = product.choose
    if variant is not None:
        product.choose = lambda *_: variant
    try:
        return bench.time(build, sets, [out])
    finally:
        product.choose = original
        bench.clear()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--net", choices=list(NETS))
    parser.add_argument("--filter", default="")
    parser.add_argument("--chosen", action="store_true", help="time the chosen variants only")
    parser.add_argument("--sets", type=int, default=20, help="launches with weights of their own in one pass")
    options = parser.parse_args()
    device = select_device(options.device)
    if device is None:
        raise SystemExit("no device")
    bench = Bench(device, warm_up=0.3)
    for net in [options.net] if options.net else NETS:
        total = best_total = 0.0
        for layer, count in NETS[net]().items():
            if options.filter not in str(layer):
                continue
            found = variants(layer, bench)[: 1 if options.chosen else None]
            times = {describe(v): time_layer(bench, layer, v, options.sets) * 1e6 for v in found}
            first = next(iter(times.values()))
            best = min(times, key=times.__getitem__)
            total += count * first
            best_total += count * times[best]
            listed = "  ".join(f"{name} {value:.1f}" for name, value in times.items())
            print(f"{net} {count} x {layer}  {layer.macs / 1e9:.3f} GMAC  {listed}  best {best}", flush=True)
        print(f"{net}: chosen {total:.0f} us, best {best_total:.0f} us (GPU time of the layers)", flush=True)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
