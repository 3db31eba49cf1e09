"""Output sizes of convolutions."""

from __future__ import annotations

from collections.abc import Sequence

Pair = Sequence[int]


def conv_size(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """Return a convolution's output size in one dim."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def transposed_size(size: int, kernel: int, stride: int, padding: int, extra: int, dilation: int) -> int:
    """Return a transposed convolution's output size in one dim."""
    return (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1
