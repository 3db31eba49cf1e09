"""Golden cases of the operators that read elements where an index tensor says."""

from __future__ import annotations

import torch
from framework import Case, Dim, values, write_family

N = Dim("n", max=7)
PICKS = torch.tensor([4, 0, 2, 2, 1], dtype=torch.int32)
WIDE = PICKS.long()


def rows(*shape: int, high: int, seed: int = 0) -> torch.Tensor:
    """Return indices below ``high``."""
    return values(*shape, dtype=torch.int64, low=0, high=high, seed=seed)


class Table(torch.nn.Module):
    """An embedding of 29 rows with seeded weights."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(29, width)
        self.table.weight.data = values(29, width)

    def forward(self, indices):
        return self.table(indices)


# 8-bit integers are never delegated here.
SELECTED = {
    "float16": values(3, 5, 7, dtype=torch.float16),
    "int32": values(3, 5, 7, dtype=torch.int32, low=0, high=50),
    "bool": values(3, 5, 7, dtype=torch.bool),
}

CASES = [
    Case(
        "select",
        lambda x, i: (x.index_select(1, i), x.index_select(-2, i[:2])),
        (values(3, 5, 7), PICKS),
        ("aten.index_select.default",),
    ),
    Case(
        "select_wide",
        lambda x, i: (x.index_select(0, i), x.transpose(0, 1).index_select(1, i)),
        (values(5, 8), WIDE),
        ("aten.index_select.default",),
    ),
    *[
        Case(f"select_{name}", lambda x, i: x.index_select(1, i), (x, PICKS), ("aten.index_select.default",))
        for name, x in SELECTED.items()
    ],
    Case(
        "select_dynamic",
        lambda x, i: x.index_select(1, i) + 1,
        (values(7, 5, 3), PICKS),
        ("aten.index_select.default",),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(4, 5, 3), PICKS), (values(1, 5, 3), PICKS)],
    ),
    Case(
        "index",
        lambda x, i: (x[i], x[:, i.clamp(max=2)], x[i - 5]),
        (values(5, 3, 7), PICKS),
        ("aten.index.Tensor",),
    ),
    Case("index_vector", lambda x, i: x[i], (values(11), PICKS), ("aten.index.Tensor",)),
    Case(
        "index_int",
        lambda x, i: x[:, i],
        (values(3, 5, dtype=torch.int32, low=0, high=50), PICKS),
        ("aten.index.Tensor",),
    ),
    Case(
        "index_dynamic",
        lambda x, i: x[i] * 2,
        (values(5, 3), torch.tensor([4, 0, 2, 2, 1, 3, 3], dtype=torch.int32)),
        ("aten.index.Tensor",),
        dynamic_shapes=(None, {0: N}),
        extra_inputs=[(values(5, 3), PICKS[:3]), (values(5, 3), PICKS[:1])],
    ),
    Case(
        "gather",
        lambda x, i: (x.gather(1, i), x.gather(0, i.clamp(max=2)), x.gather(-1, i)),
        (values(3, 5, 7), rows(2, 4, 6, high=5)),
        ("aten.gather.default",),
    ),
    *[
        Case(f"gather_{name}", lambda x, i: x.gather(1, i), (x, rows(2, 4, 6, high=5)), ("aten.gather.default",))
        for name, x in SELECTED.items()
    ],
    Case(
        "gather_dynamic",
        lambda x, i: x.gather(1, i) + 1,
        (values(7, 5), rows(7, 3, high=5)),
        ("aten.gather.default",),
        dynamic_shapes=({0: N}, {0: N}),
        extra_inputs=[(values(4, 5), rows(4, 3, high=5)), (values(1, 5), rows(1, 3, high=5))],
    ),
    Case(
        "embedding",
        Table(12),
        (rows(3, 5, high=29),),
        ("aten.embedding.default",),
    ),
    Case(
        "embedding_odd",
        Table(7),
        (values(3, 5, dtype=torch.int32, low=0, high=29),),
        ("aten.embedding.default",),
    ),
    Case(
        "embedding_half",
        Table(12),
        (rows(3, 5, high=29, seed=1),),
        ("aten.embedding.default",),
        force_fp16=True,
    ),
    Case(
        "embedding_dynamic",
        Table(12),
        (rows(7, high=29),),
        ("aten.embedding.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(rows(3, high=29),), (rows(1, high=29),)],
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
