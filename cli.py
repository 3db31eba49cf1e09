"""The command line without installing: ``python cli.py COMMAND``."""

from executorch_webgpu.cli import main

raise SystemExit(main())
