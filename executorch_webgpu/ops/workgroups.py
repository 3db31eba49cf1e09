"""Workgroup sizes and what shaders are told of subgroups: functions of the work and of the device's facts."""

from __future__ import annotations

from executorch_webgpu.ops.dispatch import DeviceFacts


def lanes_for(work: int, facts: DeviceFacts, most: int = 256) -> int:
    """Return the invocations of a workgroup that shares ``work`` items: a power of two, whole subgroups."""
    lanes = max(32, facts.subgroup_size or 0)
    while lanes < min(work, most, facts.max_invocations):
        lanes *= 2
    return min(lanes, facts.max_invocations)


def subgroup_define(facts: DeviceFacts) -> dict[str, str]:
    """Return the define that tells shaders the subgroups' size, empty where they have none."""
    return {"SUBGROUP": str(facts.subgroup_size or "")}
