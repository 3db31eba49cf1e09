"""Golden cases of the operators that move, repeat, join or rename elements."""

from __future__ import annotations

import torch
from framework import Case, Dim, values, write_family
from torch.nn import functional

N = Dim("n", max=7)
INTS = {"low": 0, "high": 50}
# 8-bit integers are never delegated here.
DTYPES = {
    "float16": values(3, 5, 7, dtype=torch.float16),
    "int32": values(3, 5, 7, dtype=torch.int32, **INTS),
    "bool": values(3, 5, 7, dtype=torch.bool),
}

MOVES = (
    "aten.permute_copy.default",
    "aten.select_copy.int",
    "aten.slice_copy.Tensor",
    "aten.flip.default",
    "aten.repeat.default",
    "aten.constant_pad_nd.default",
    "aten.expand_copy.default",
    "aten.split_with_sizes_copy.default",
)


def moves(x):
    """Every operator that reads elements in another order."""
    return (
        x.permute(2, 0, 1),
        x.select(1, -2),
        x[:, 1:4],
        x[:, :, 1::2],
        x.flip(0, 2),
        x.repeat(2, 1, 3),
        functional.pad(x, (1, 2, -1, 3), value=1),
        x[:, :1].expand(3, 5, 7),
        *x.split([3, 4], 2),
    )


def views(x):
    """Every operator that only renames."""
    return x.reshape(-1, 5) * 2, x.unsqueeze(1) * 2, (x.unsqueeze(0) * 2).squeeze(0) + 1


VIEWS = ("aten.view_copy.default", "aten.unsqueeze_copy.default", "aten.squeeze_copy.dims")


def many(*parts):
    """More parts than one dispatch joins, along each dim."""
    return torch.cat(parts, 0), torch.cat(parts, 1), torch.cat([part.flip(1) for part in parts], -1)


CASES = [
    Case(
        "moves",
        moves,
        (values(3, 5, 7),),
        MOVES,
    ),
    *[Case(f"moves_{name}", moves, (x,), MOVES[:1]) for name, x in DTYPES.items() if name in ("float16", "int32")],
    *[
        Case(
            f"permute_{name}",
            lambda x: (x.permute(2, 0, 1), x.flip(1), x[:, 1:4], x.select(2, 3)),
            (x,),
            ("aten.permute_copy.default", "aten.flip.default", "aten.slice_copy.Tensor", "aten.select_copy.int"),
        )
        for name, x in DTYPES.items()
        if name == "bool"
    ],
    Case(
        "permute_dynamic",
        lambda x: (x.permute(1, 0, 2), x.flip(0), x.select(1, 1), x[:, 2:], x.transpose(1, 2)),
        (values(7, 5, 3),),
        ("aten.permute_copy.default", "aten.select_copy.int", "aten.slice_copy.Tensor"),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(4, 5, 3),), (values(1, 5, 3),)],
    ),
    Case(
        "permute_rank6",
        lambda x: x.permute(0, 3, 1, 4, 2, 5) * 1,
        (values(2, 3, 2, 5, 2, 3),),
        ("aten.permute_copy.default",),
    ),
    Case("transpose", lambda x: x.t(), (values(13, 29),), ("aten.permute_copy.default",)),
    Case(
        "slice_dynamic",
        lambda x: (x[1:], x[:-1] * 2, x[:, ::3]),
        (values(7, 11),),
        ("aten.slice_copy.Tensor",),
        dynamic_shapes=({0: Dim("m", min=3, max=7)},),
        extra_inputs=[(values(4, 11),), (values(3, 11),)],
    ),
    Case("views", views, (values(3, 5, 7),), VIEWS),
    Case("views_half", views, (values(3, 5, 7),), VIEWS, force_fp16=True),
    Case(
        "views_dynamic",
        lambda x: (x.reshape(-1, 15) * 2, x.unsqueeze(1) * 2, (x + 1).reshape(x.shape[0] * 5, 3)),
        (values(7, 5, 3),),
        ("aten.view_copy.default", "aten.unsqueeze_copy.default"),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, 3),), (values(1, 5, 3),)],
    ),
    Case(
        "squeeze_dynamic",
        lambda x: (x * 2).squeeze(1) + 1,
        (values(7, 1, 3),),
        ("aten.squeeze_copy.dims",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 1, 3),)],
    ),
    Case(
        "expand_dynamic",
        lambda x: (x.unsqueeze(1).expand(-1, 4, 5) * 1, x.split([2, 3], 1)),
        (values(7, 5),),
        ("aten.expand_copy.default", "aten.split_with_sizes_copy.default"),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5),), (values(1, 5),)],
    ),
    Case("cat_many", many, tuple(values(2, 3, seed=seed) for seed in range(8)), ("aten.cat.default",)),
    Case(
        "cat_half",
        many,
        tuple(values(2, 3, dtype=torch.float16, seed=seed) for seed in range(8)),
        ("aten.cat.default",),
    ),
    Case(
        "cat_dynamic",
        lambda x, y: (torch.cat((x, y), 0), torch.cat((x, x), 1), torch.stack((x, x), 1)),
        (values(7, 4), values(3, 4)),
        ("aten.cat.default",),
        dynamic_shapes=({0: N}, None),
        extra_inputs=[(values(2, 4), values(3, 4)), (values(1, 4), values(3, 4))],
    ),
    *[
        Case(
            f"cat_{name}",
            lambda x: (torch.cat((x, x[:, :2], x), 1), torch.cat((x[:, :, :1], x), 2)),
            (x,),
            ("aten.cat.default",),
        )
        for name, x in DTYPES.items()
        if name == "int32"
    ],
    Case("repeat", lambda x: (x.repeat(2, 3, 1, 2), x.repeat(1, 5)), (values(3, 5),), ("aten.repeat.default",)),
    Case(
        "unfold",
        lambda x: (x.unfold(1, 3, 2), x.unfold(-1, 7, 1), x.unfold(0, 1, 1)),
        (values(3, 11, 7),),
        ("aten.unfold_copy.default",),
    ),
    Case(
        "repeat_dynamic",
        lambda x: (x.repeat(2, 3), x.unfold(1, 3, 2) * 2),
        (values(7, 5),),
        ("aten.repeat.default", "aten.unfold_copy.default"),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5),), (values(1, 5),)],
    ),
    Case(
        "pad",
        lambda x: (functional.pad(x, (2, 1), value=-3.5), functional.pad(x, (0, 0, 1, 2)), functional.pad(x, (-1, -1))),
        (values(3, 5, 7),),
        ("aten.constant_pad_nd.default",),
    ),
    Case(
        "pad_half",
        lambda x: functional.pad(x, (2, 1, 0, 3), value=float("-inf")),
        (values(3, 5, 7, dtype=torch.float16),),
        ("aten.constant_pad_nd.default",),
    ),
    Case(
        "pad_dynamic",
        lambda x: functional.pad(x, (1, 2, 3, 0), value=0.5),
        (values(7, 5, 3),),
        ("aten.constant_pad_nd.default",),
        dynamic_shapes=({0: N},),
        extra_inputs=[(values(3, 5, 3),), (values(1, 5, 3),)],
    ),
    Case(
        "pixel_shuffle",
        lambda x: (functional.pixel_shuffle(x, 2), functional.pixel_shuffle(x[:9], 3)),
        (values(12, 3, 5),),
        ("aten.pixel_shuffle.default",),
    ),
    Case(
        "pixel_shuffle_dynamic",
        lambda x: functional.pixel_shuffle(x, 2),
        (values(1, 8, 7, 5),),
        ("aten.pixel_shuffle.default",),
        dynamic_shapes=({2: N},),
        extra_inputs=[(values(1, 8, 3, 5),), (values(1, 8, 1, 5),)],
    ),
    Case(
        "pixel_shuffle_half",
        lambda x: functional.pixel_shuffle(x, 2),
        (values(2, 8, 3, 5, dtype=torch.float16),),
        ("aten.pixel_shuffle.default",),
    ),
    Case(
        "scalars",
        lambda x: (x.reshape(1).expand(5) + 1, x.repeat(3), x.unsqueeze(0) * 2),
        (values(),),
        ("aten.expand_copy.default", "aten.repeat.default"),
    ),
]

if __name__ == "__main__":
    write_family(__file__, CASES)
