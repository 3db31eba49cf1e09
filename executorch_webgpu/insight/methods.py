"""Which method is meant where none is named."""

from __future__ import annotations

from executorch_webgpu.errors import NotFound
from executorch_webgpu.runtime import Program


def pick_method(program: Program, name: str | None = None) -> str:
    """Return ``name``, else ``forward``, else the only method, else the only one that computes something.

    Raises:
        NotFound: The program has no such method, or several could be meant.
    """
    if name is not None:
        program.metadata(name)
        return name
    names = sorted(program.method_names)
    if "forward" in names:
        return "forward"
    computing = [plan.name for plan in program.content.plans if any(plan.chains)]
    for candidates in (names, computing):
        if len(candidates) == 1:
            return candidates[0]
    raise NotFound(f"which method? {program.content.source} has {', '.join(names) or 'none'}")
