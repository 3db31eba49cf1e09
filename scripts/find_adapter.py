"""Exit status 0 when WebGPU finds an adapter that programs can run on, else 1. Prints its name."""

from executorch_webgpu.gpu.adapters import find_adapter

found = find_adapter("auto")
if found is None:
    raise SystemExit("no adapter")
print(f"{found[0].name} ({found[0].kind}, {found[0].backend})")
