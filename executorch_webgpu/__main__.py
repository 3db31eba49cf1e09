"""The command line as ``python -m executorch_webgpu``."""

from executorch_webgpu.cli import main

raise SystemExit(main())
