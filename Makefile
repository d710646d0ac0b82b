# Everything happens inside this folder: .venv, .cache, .demo and .e2e are ignored by git.
# Paths are relative, so the clone may lie in a folder with spaces in its name.

SHELL := /bin/sh
PY := .venv/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Another interpreter's search path would be ours too.
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV

.PHONY: help demo test e2e fuzz bench check format clean

help:
	@echo "make demo    a recorded session, replayed through the real hooks"
	@echo "make test    the whole test suite"
	@echo "make e2e     the same round trip in the real client (fetched once with npm)"
	@echo "make fuzz    random input for every parser, FUZZ_SECONDS (20) each"
	@echo "make check   format, lint, types, size"
	@echo "make bench   what each hook costs, against starting an interpreter"
	@echo "make clean   remove everything that these made"

demo: .venv/ready
	@$(PY) -m demo

# In order, and whoever is done takes over half of what another still has: no core waits for the
# last long file, and what a module's fixture makes (a wheel, a server) is rarely made twice.
test: .venv/ready
	@$(PY) -m pytest -n auto --dist worksteal $(ARGS)

e2e: .venv/ready
	@$(PY) -m pytest -m e2e --basetemp=.e2e tests/e2e $(ARGS)

fuzz: .venv/ready
	@$(PY) -m tests.fuzz $(ARGS)

bench: .venv/ready
	@$(PY) -m bench $(ARGS)

check: .venv/ready
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@$(PY) tools/size.py

format: .venv/ready
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

clean:
	@rm -rf .venv .cache .demo .e2e build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Made again when the project's metadata changed, the clone moved, or the interpreter is gone.
ifneq ($(shell cat .venv/ready 2>/dev/null),$(shell $(PY) -c 'import os; print(os.getcwd())' 2>/dev/null))
.PHONY: .venv/ready
endif
.venv/ready: pyproject.toml tools/make_venv.sh
	@sh tools/make_venv.sh
