"""Reads the five digit images with the network in model.pte and prints what each shows.

    python examples/digits/read_digits.py [DEVICE]

DEVICE is auto (the default), gpu, cpu, or part of an adapter's name. Needs pillow (the extra ``image``).
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import executorch_webgpu

HERE = Path(__file__).resolve().parent


def read_digit(method: executorch_webgpu.Method, path: Path) -> int:
    """Return the digit that an image of 16x16 pixels shows."""
    ink = np.asarray(Image.open(path).convert("L"), np.float32) / 255
    (logits,) = method.execute([ink.reshape(1, 1, 16, 16)])
    return int(logits.argmax())


def main() -> int:
    """Read all images; the exit status is 0 when every one is read as its name says."""
    wrong = 0
    with executorch_webgpu.load(HERE / "model.pte", device=sys.argv[1] if len(sys.argv) > 1 else "auto") as program:
        print(f"Reading handwritten digits on {program.device}:")
        method = program.load_method("forward")
        for path in sorted(HERE.glob("digit_*.png")):
            digit = read_digit(method, path)
            wrong += digit != int(path.stem.rpartition("_")[2])
            print(f"  {path.name} -> {digit}")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
