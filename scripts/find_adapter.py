"""Exit status 0 when WebGPU finds an adapter that programs can run on, else 1."""

from executorch_webgpu.gpu.adapters import find_adapter

found = find_adapter("auto")
if found is None:
    raise SystemExit("no adapter")
