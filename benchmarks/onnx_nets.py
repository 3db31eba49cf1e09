"""Writes ResNet-50 and MobileNetV2 (batch norm folded, random weights) as ONNX models, with a tiny protobuf writer."""

from __future__ import annotations

import struct

import numpy as np

FLOAT, INT = 1, 7  # TensorProto.DataType


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | float | str | bytes) -> bytes:
    """Return one field: ints as varints, floats as 32 bits, texts and messages with their length."""
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


class Net:
    """Collects nodes of a graph of one float image; every method returns the name of its output."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[bytes] = []
        self.weights: list[bytes] = []
        self.channels = {"image": 3}

    def node(self, kind: str, inputs: list[str], **attributes: int | float | list[int]) -> str:
        name = f"v{len(self.nodes)}"
        data = b"".join(_field(1, i) for i in inputs) + _field(2, name) + _field(4, kind)
        for key, value in attributes.items():
            if isinstance(value, list):
                body = b"".join(_field(8, item) for item in value) + _field(20, 7)
            elif isinstance(value, float):
                body = _field(2, value) + _field(20, 1)
            else:
                body = _field(3, value) + _field(20, 2)
            data += _field(5, _field(1, key) + body)
        self.nodes.append(_field(1, data))
        self.channels[name] = self.channels.get(inputs[0], 0)
        return name

    def weight(self, *shape: int, scale: float) -> str:
        name = f"w{len(self.weights)}"
        data = (self.random.standard_normal(shape, np.float32) * np.float32(scale)).tobytes()
        dims = b"".join(_field(1, size) for size in shape)
        self.weights.append(_field(5, dims + _field(2, FLOAT) + _field(8, name) + _field(9, data)))
        return name

    def conv(self, x: str, outs: int, kernel: int = 1, stride: int = 1, groups: int = 1, clamp: str = "") -> str:
        ins = self.channels[x] // groups
        weight = self.weight(outs, ins, kernel, kernel, scale=(2 / (ins * kernel * kernel)) ** 0.5)
        bias = self.weight(outs, scale=0.05)
        pads = [kernel // 2] * 4
        y = self.node(
            "Conv", [x, weight, bias], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads, group=groups
        )
        self.channels[y] = outs
        if clamp == "relu":
            y = self.node("Relu", [y])
        elif clamp == "relu6":
            y = self.node("Clip", [y, self.scalar(0.0), self.scalar(6.0)])
        return y

    def scalar(self, value: float) -> str:
        name = f"c{value}"
        tensor = _field(2, FLOAT) + _field(8, name) + _field(9, struct.pack("<f", value))
        if _field(5, tensor) not in self.weights:
            self.weights.append(_field(5, tensor))
        return name

    def finish(self, x: str) -> bytes:
        """Add mean and classifier; return the model's bytes."""
        depth = self.channels[x]
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        last = self.node(
            "Gemm", [x, self.weight(1000, depth, scale=depth**-0.5), self.weight(1000, scale=0.05)], transB=1
        )

        def value(name: str, shape: tuple[int, ...]) -> bytes:
            dims = b"".join(_field(1, _field(1, size)) for size in shape)
            return _field(1, name) + _field(2, _field(1, _field(1, FLOAT) + _field(2, dims)))

        graph = b"".join(self.nodes) + _field(2, "net") + b"".join(self.weights)
        graph += _field(11, value("image", (1, 3, 224, 224))) + _field(12, value(last, (1, 1000)))
        return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 17))


def resnet50() -> bytes:
    net = Net()
    x = net.conv("image", 64, 7, 2, clamp="relu")
    x = net.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for mid, count, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(count):
            stride = first if block == 0 else 1
            y = net.conv(x, mid, clamp="relu")
            y = net.conv(y, mid, 3, stride, clamp="relu")
            y = net.conv(y, 4 * mid)
            shortcut = net.conv(x, 4 * mid, 1, stride) if block == 0 else x
            x = net.node("Relu", [net.node("Add", [y, shortcut])])
    return net.finish(x)


def mobilenetv2() -> bytes:
    net = Net()
    x = net.conv("image", 32, 3, 2, clamp="relu6")
    for expand, outs, count, first in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for block in range(count):
            stride = first if block == 0 else 1
            ins = net.channels[x]
            y = net.conv(x, ins * expand, clamp="relu6") if expand != 1 else x
            y = net.conv(y, ins * expand, 3, stride, ins * expand, clamp="relu6")
            y = net.conv(y, outs)
            x = net.node("Add", [y, x]) if stride == 1 and ins == outs else y
    return net.finish(net.conv(x, 1280, clamp="relu6"))
