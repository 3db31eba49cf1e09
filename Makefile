# `make demo` and `make test` set up all they need in .venv; see scripts/setup.sh for what that is.
.PHONY: demo test lint clean
.SILENT:

VENV = .venv/bin

demo:
	sh scripts/setup.sh demo
	$(VENV)/python examples/digits/read_digits.py
	$(VENV)/python examples/storyteller/tell_story.py

test:
	sh scripts/setup.sh test
	$(VENV)/python -m pytest

lint:
	sh scripts/setup.sh lint
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy

clean:
	rm -rf .venv .make dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
