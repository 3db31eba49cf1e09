"""Peak memory of this process, by what each operating system offers without further packages."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_host_bytes() -> int | None:
    """Return the largest resident size that the process has had, None where it cannot be told."""
    if sys.platform == "win32":
        return _windows_peak()
    if sys.platform == "linux":
        # getrusage would count what the parent had before exec.
        try:
            for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        except OSError:
            pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _windows_peak() -> int | None:
    import ctypes
    from typing import Any

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", ctypes.c_uint32),
            ("PageFaultCount", ctypes.c_uint32),
            *((name, ctypes.c_size_t) for name in ("PeakWorkingSetSize", "WorkingSetSize", *"abcdef")),
        )

    api: Any = getattr(ctypes, "windll", None)
    counters = Counters(cb=ctypes.sizeof(Counters))
    process = ctypes.c_void_p(-1)  # the pseudo-handle of the current process
    if api is None or not api.psapi.GetProcessMemoryInfo(process, ctypes.byref(counters), counters.cb):
        return None
    return int(counters.PeakWorkingSetSize)
