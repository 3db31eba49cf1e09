"""Golden cases of linear layers and matrix products."""

from __future__ import annotations

import torch
from framework import Case, Dim, values, write_family
from torch import nn
from torch.nn import functional

N = Dim("n", max=7)
LINEAR = ("aten.linear.default",)


class Weights(nn.Module):
    """Linear layers with and without bias on one input."""

    def __init__(self, width: int, *columns: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, n, bias=n % 2 == 1) for n in columns)
        for layer in self.layers:
            for number, parameter in enumerate(layer.parameters()):
                parameter.data = values(*parameter.shape, seed=number)

    def forward(self, x):
        return [layer(x) for layer in self.layers]


CASES = [
    Case("linear_row", Weights(64, 33, 40), (values(1, 64),), LINEAR, atol=3e-5),
    Case("linear_rows", Weights(37, 29, 8), (values(3, 37),), LINEAR, atol=3e-5),
    Case("linear_many", Weights(41, 37, 44), (values(5, 17, 41),), LINEAR, atol=3e-5),
    Case("linear_vector", Weights(37, 29), (values(37),), LINEAR, atol=3e-5),
    Case("linear_half", Weights(64, 33, 40), (values(5, 64),), LINEAR, force_fp16=True, atol=4e-2, rtol=4e-3),
    Case("linear_half_row", Weights(64, 33), (values(1, 64),), LINEAR, force_fp16=True, atol=4e-2, rtol=4e-3),
    Case(
        "linear_dynamic",
        Weights(37, 29),
        (values(7, 37),),
        LINEAR,
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(5, 37),), (values(1, 37),)],
        atol=3e-5,
    ),
    Case(
        "mm",
        lambda x, y: (torch.mm(x, y), torch.mm(y, x)),
        (values(13, 41), values(41, 13)),
        ("aten.mm.default",),
        atol=3e-5,
    ),
    Case(
        "mm_dynamic",
        lambda x, y: torch.mm(x, y),
        (values(7, 41), values(41, 12)),
        ("aten.mm.default",),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(3, 41), values(41, 12)), (values(1, 41), values(41, 12))],
        atol=3e-5,
    ),
    Case(
        "mm_half",
        lambda x, y: torch.mm(x, y),
        (values(5, 41, dtype=torch.float16), values(41, 13, dtype=torch.float16)),
        ("aten.mm.default",),
        atol=2e-2,
    ),
    Case(
        "bmm",
        lambda x, y: (torch.bmm(x, y), x @ x.transpose(1, 2)),
        (values(3, 11, 37), values(3, 37, 5)),
        ("aten.bmm.default",),
        atol=3e-5,
    ),
    Case(
        "bmm_dynamic",
        lambda x, y: torch.bmm(x, y),
        (values(7, 11, 8), values(7, 8, 5)),
        ("aten.bmm.default",),
        dynamic_shapes=({0: N}, {0: N}),
        extra_inputs=[(values(3, 11, 8), values(3, 8, 5)), (values(1, 11, 8), values(1, 8, 5))],
    ),
    Case(
        "bmm_half",
        lambda x, y: torch.bmm(x, y),
        (values(3, 11, 8, dtype=torch.float16), values(3, 8, 5, dtype=torch.float16)),
        ("aten.bmm.default",),
        atol=1e-2,
    ),
    Case(
        "addmm",
        lambda b, x, y: (
            torch.addmm(b, x, y),
            torch.addmm(b[:1], x, y, beta=0.5, alpha=2),
            torch.addmm(x[:, :1], x, y, beta=-1),
        ),
        (values(12), values(13, 41), values(41, 12)),
        ("aten.addmm.default",),
        atol=5e-5,
    ),
    Case(
        "addmm_dynamic",
        lambda b, x, y: torch.addmm(b, x, y, alpha=0.5),
        (values(5), values(7, 8), values(8, 5)),
        ("aten.addmm.default",),
        dynamic_shapes=(None, {0: N}, None),
        extra_inputs=[(values(5), values(3, 8), values(8, 5)), (values(5), values(1, 8), values(8, 5))],
    ),
    Case(
        "matmul_broadcast",
        lambda x, y: (x @ y, functional.linear(x, y.t())),
        (values(2, 3, 5, 16), values(16, 9)),
        (),
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
