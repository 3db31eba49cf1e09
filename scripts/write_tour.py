"""Runs the commands of the README's tour and puts what they print into it.

python scripts/write_tour.py
"""

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- tour: begin -->", "<!-- tour: end -->"
STORYTELLER = "examples/storyteller/model.pte"
COMMANDS = (
    "executorch-webgpu run examples/digits/model.pte --input examples/digits/digit_7.png",
    "executorch-webgpu inspect examples/digits/model.pte",
    f"executorch-webgpu generate {STORYTELLER} --tokenizer examples/storyteller/tokenizer.json "
    '--prompt "Once upon a time there was a king who had" --num-bos 1 --max-new-tokens 40 --seed 1 --echo',
    f"executorch-webgpu bench {STORYTELLER} -p 64 -n 32 -r 3",
    "executorch-webgpu bench-op linear_q4gsw --shape 1x2048x2048",
    "executorch-webgpu run README.md",
)


def transcript(command: str) -> str:
    """Return a command and what it prints, stderr included, as Markdown."""
    program = [sys.executable, "-m", "executorch_webgpu", *shlex.split(command)[1:]]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    printed = (done.stdout.rstrip("\n") + "\n" + done.stderr).strip("\n")
    return f"```console\n$ {command}\n{printed}\n```"


def main() -> None:
    """Write the tour."""
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    blocks = "\n\n".join(transcript(command) for command in COMMANDS)
    readme.write_text(f"{before}{BEGIN}\n{blocks}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
