"""Golden cases of training on the device."""

from __future__ import annotations

import executorch.backends.vulkan.custom_ops_lib  # noqa: F401
import torch
from framework import Case, Dim, values, write_family

et_vk = torch.ops.et_vk
M = Dim("m", min=2, max=13)
LOSS, WEIGHTS = "et_vk.fused_ce.default", "et_vk.linear_dW.default"
BACKWARD, REQUANT = "et_vk.linear_q4gsw_backward.default", "et_vk.q4gsw_requant.default"
LABELS = torch.tensor([3, -1, 36, 0, 7, 7, -1, 2, 1, 0, 30, 22, 5], dtype=torch.int32)
PACKED = values(12, 32, dtype=torch.uint8, low=0, high=256), values(2, 12, low=0.01, high=0.05)
COARSE = torch.cat([values(2, 12, low=0.1, high=0.5), torch.zeros(2, 1)], 1)

CASES = [
    Case(
        "fused_ce",
        lambda x, t: et_vk.fused_ce(x, t, 3.0),
        (values(13, 37), LABELS),
        operators=(LOSS,),
        dynamic_shapes=({0: M}, {0: M}),
        extra_inputs=[(values(n, 37), LABELS[:n]) for n in (5, 2)],
    ),
    Case(
        "linear_dw",
        et_vk.linear_dW,
        (values(13, 37), values(13, 44)),
        operators=(WEIGHTS,),
        dynamic_shapes=({0: M}, {0: M}),
        extra_inputs=[(values(n, 37), values(n, 44)) for n in (5, 2)],
    ),
    Case("linear_dw_half", et_vk.linear_dW, (values(3, 5), values(3, 7)), operators=(WEIGHTS,), force_fp16=True),
    Case(
        "q4gsw_backward",
        lambda x, w, s: et_vk.linear_q4gsw_backward(x, w, s, 32),
        (values(13, 12), *PACKED),
        operators=(BACKWARD,),
        dynamic_shapes=({0: M}, None, None),
        extra_inputs=[(values(n, 12), *PACKED) for n in (5, 2)],
        supported=(BACKWARD,),
    ),
    Case(
        "q4gsw_requant",
        lambda x, s: et_vk.q4gsw_requant(x, s, 32),
        (values(13, 64), COARSE),
        operators=(REQUANT,),
        dynamic_shapes=({0: M}, {1: M}),
        extra_inputs=[(values(n, 64), COARSE[:, -n:].contiguous()) for n in (5, 2)],
        supported=(REQUANT,),
    ),
    Case(
        "q4gsw_requant_odd",
        lambda x, s: et_vk.q4gsw_requant(x, s, 7),
        (values(5, 7), values(1, 5, low=0.1)),
        operators=(REQUANT,),
        supported=(REQUANT,),
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
