# make demo: install and answer one question. make test: what to run before every commit.
# make test-thorough: all the other tests. CI runs both.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m uv pip install --system-certs --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt
# A machine whose packages come from a mirror that only pip knows is served by pip.
FALLBACK := $(BIN)/python -m pip install --quiet -c constraints.txt

.PHONY: demo test test-thorough coverage docs shapes lint bench bench-quick table-4.1 commuters commuters-attack lock clean

demo: .venv/demo
	$(BIN)/tacit demo tacit-demo
	@echo 'The same in the browser, with more: $(BIN)/tacit serve tacit-demo/tacit.yaml'

# A worker for each core. Every test is in exactly one of the two.
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

test: .venv/test .venv/node/axe lint
	$(PYTEST) -m "not slow"

test-thorough: .venv/test .venv/node/axe
	$(PYTEST) -m slow

# Which lines and branches `make test` reaches.
coverage: .venv/test .venv/node/axe
	$(PYTEST) -m "not slow" --cov --cov-report=term --cov-report=html:.venv/coverage
	@echo 'Line by line: .venv/coverage/index.html'

# The documentation as a site, which needs no network: open site/index.html.
docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'The documentation: site/index.html'

# SQL of every shape against what DuckDB and PostgreSQL answer on all small databases (tests/sql_shapes).
STATEMENTS ?= 20000
SEED ?= 1
shapes: .venv/test
	PYTHONPATH=tests $(BIN)/python -m sql_shapes --statements $(STATEMENTS) --seed $(SEED) --postgres

lint: .venv/test
	$(BIN)/ruff check src tests benchmarks examples docs/site.py
	$(BIN)/ruff format --check src tests benchmarks examples docs/site.py
	$(BIN)/mypy

bench: .venv/bench
	$(BIN)/python -m benchmarks

# Those of them that a change of the core may make slower, in less than 5 minutes.
bench-quick: .venv/bench
	$(BIN)/python -m benchmarks quick

# The tables of Machanavajjhala's thesis (Cornell, 2008), chapter 4, and what is left of the commutes (examples/commuters).
table-4.1: .venv/study
	$(BIN)/python -m examples.commuters.study table-4.1

commuters: .venv/study
	$(BIN)/python -m examples.commuters.study --out commuters-results

# anonymeter wants an older NumPy than Tacit, so it has an environment of its own.
commuters-attack: .venv/study .venv/attack
	$(BIN)/python -m examples.commuters.study people --out commuters-results/people
	.venv/anonymeter/bin/python examples/commuters/attack.py commuters-results/people

lock: .venv/uv
	$(BIN)/python -m uv pip compile --quiet --all-extras --no-header --no-annotate --upgrade pyproject.toml -o constraints.txt

.venv/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv
	@touch $@

.venv/demo: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[web]' || $(FALLBACK) -e '.[web]'
	@touch $@

.venv/test: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[report,pdf,solve,synthesis,postgres,spark,gateway,client,web,test]' || $(FALLBACK) -e '.[report,pdf,solve,synthesis,postgres,spark,gateway,client,web,test]'
	@touch $@

# axe-core, for the tests in a browser. Without npm or a network they say so and are left out.
.venv/node/axe: .venv/uv tests/browser/package-lock.json
	@mkdir -p .venv/node && cp tests/browser/package.json tests/browser/package-lock.json .venv/node/
	@cd .venv/node && npm ci --silent --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 20000 \
	  && touch axe || echo "axe-core is not installed (it needs npm): pages are not searched for faults of accessibility."

.venv/docs: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[client,notebook,docs]' || $(FALLBACK) -e '.[client,notebook,docs]'
	@touch $@

.venv/bench: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[report,pdf,solve,synthesis,gateway,client,web,bench]' || $(FALLBACK) -e '.[report,pdf,solve,synthesis,gateway,client,web,bench]'
	@touch $@

.venv/study: .venv/uv pyproject.toml constraints.txt
	$(INSTALL) -e '.[report,synthesis]' || $(FALLBACK) -e '.[report,synthesis]'
	@touch $@

.venv/attack: .venv/uv
	$(PYTHON) -m venv .venv/anonymeter
	.venv/anonymeter/bin/python -m pip install --quiet 'anonymeter>=1.1,<2'
	@touch $@

# SmartNoise wants an older OpenDP than the other benchmarks.
.venv/smartnoise: .venv/uv
	$(PYTHON) -m venv .venv/smartnoise
	.venv/smartnoise/bin/python -m pip install --quiet 'smartnoise-sql>=1.0,<2'

clean:
	rm -rf .venv site tacit-demo .pytest_cache .mypy_cache .ruff_cache
