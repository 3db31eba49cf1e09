"""The meaning of the operators that train on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from executorch_webgpu.ops.linear4.packing import dequantize
from executorch_webgpu.ops.registry import Out, reference

Array = np.ndarray[Any, np.dtype[Any]]


@reference("et_vk.fused_ce.default", outputs=2)
def fused_ce(out: tuple[Out, Out], logits: Array, labels: Array, valid: float) -> tuple[Array, Array]:
    """Cross entropy of logits [M, V] and labels [M] (negative: ignored) over ``valid`` rows, and its gradient."""
    wide = np.asarray(logits, np.float32)
    kept = labels >= 0
    rows, picked = np.arange(wide.shape[0]), np.maximum(labels, 0)
    peak = wide.max(-1, keepdims=True)
    weights = np.exp(wide - peak)
    total = weights.sum(-1, keepdims=True)
    losses = np.log(total)[:, 0] + peak[:, 0] - wide[rows, picked]
    gradient = weights / total
    gradient[rows, picked] -= 1
    gradient = np.where(kept[:, None], gradient / np.float32(valid), np.float32(0))
    return np.asarray(np.where(kept, losses / np.float32(valid), np.float32(0)).sum()), gradient


@reference("et_vk.adamw_step.default", outputs=3, writes=(0, 1, 2))
def adamw_step(
    out: tuple[Out, Out, Out],
    param: Array,
    m: Array,
    v: Array,
    grad: Array,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
    correction1: float,
    correction2: float,
) -> tuple[Array, Array, Array]:
    """One AdamW step: param, m and v are updated in place and are the results."""
    wide_param, wide_m, wide_v, wide_grad = (np.asarray(x, np.float32) for x in (param, m, v, grad))
    new_m = wide_m * np.float32(beta1) + wide_grad * np.float32(1 - beta1)
    new_v = wide_v * np.float32(beta2) + wide_grad * wide_grad * np.float32(1 - beta2)
    root = np.sqrt(new_v / np.float32(correction2)) + np.float32(eps)
    step = np.float32(lr) * (new_m / np.float32(correction1)) / root
    param[...] = wide_param * np.float32(1 - lr * decay) - step
    m[...] = new_m
    v[...] = new_v
    return param, m, v


@reference("et_vk.linear_dW.default")
def linear_dw(out: Out, gradient: Array, x: Array) -> Array:
    """``gradient^T x`` over all leading dims: [N, K] of [..., N] and [..., K]."""
    rows, columns = gradient.shape[-1], x.shape[-1]
    return np.asarray(gradient, np.float32).reshape(-1, rows).T @ np.asarray(x, np.float32).reshape(-1, columns)


@reference("et_vk.linear_q4gsw_backward.default")
def linear_q4gsw_backward(out: Out, gradient: Array, weight: Array, scales: Array, group: int) -> Array:
    """``gradient`` [..., N] times the dequantized weight [N, K]."""
    return np.asarray(gradient, np.float32) @ dequantize(weight, scales, group, out.shape[-1])


@reference("et_vk.q4gsw_requant.default")
def q4gsw_requant(out: Out, latent: Array, scales: Array, group: int) -> Array:
    """Pack round(latent / scale) of latent [N, K], scales [K/group, N], as uint8 [N, ceil(K/2)], low nibble first."""
    rows, columns = latent.shape
    factor = np.repeat(np.asarray(scales, np.float32)[:, :rows].T, group, 1)[:, :columns]
    used = factor != 0
    values = np.round(np.asarray(latent, np.float32) / np.where(used, factor, np.float32(1)))
    codes = (np.clip(np.where(used, values, 0), -8, 7).astype(np.int32) + 8).astype(np.uint8)
    codes = np.pad(codes, ((0, 0), (0, columns % 2)))
    return np.asarray(codes[:, 0::2] | codes[:, 1::2] << 4)
