# make demo: install and answer one question. make test: everything that CI runs.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m uv pip install --system-certs --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt
# A machine whose packages come from a mirror that only pip knows is served by pip.
FALLBACK := $(BIN)/python -m pip install --quiet -c constraints.txt

.PHONY: demo test test-fast lint bench lock clean

demo: .venv/demo
	$(BIN)/tacit demo tacit-demo

test: .venv/test lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-fast: .venv/test lint
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

lint: .venv/test
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy

bench: .venv/bench
	$(BIN)/python -m benchmarks

lock: .venv/uv
	$(BIN)/python -m uv pip compile --quiet --all-extras --no-header --no-annotate --upgrade pyproject.toml -o constraints.txt

.venv/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv
	@touch $@

.venv/demo: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[report]' || $(FALLBACK) -e '.[report]'
	@touch $@

.venv/test: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[report,solve,postgres,spark,test]' || $(FALLBACK) -e '.[report,solve,postgres,spark,test]'
	@touch $@

.venv/bench: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[report,solve,bench]' || $(FALLBACK) -e '.[report,solve,bench]'
	@touch $@

clean:
	rm -rf .venv tacit-demo .pytest_cache .mypy_cache .ruff_cache
