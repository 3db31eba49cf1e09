"""When a row of a tensor is the work of one workgroup."""

from __future__ import annotations

from executorch_webgpu.ops.dispatch import Tensor
from executorch_webgpu.ops.reduction.lowering import FEW, LONG

SHORT = 32  # elements below which a workgroup has too little to share


def fits_one_workgroup(rows: int, n: int, out: Tensor) -> bool:
    """Whether rows of ``n`` contiguous elements are best made whole, one workgroup each.

    Few long rows are split among workgroups instead; rows of halves must begin at a quad to be written apart.
    """
    if n < SHORT or (rows <= FEW and n >= LONG):
        return False
    return out.dtype.itemsize == 4 or n % 4 == 0
