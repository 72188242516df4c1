# Every target sets up its own environment in .venv, from Python, make and a package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOCK := requirements-dev.txt
READY := $(VENV)/.ready
# The uv that is here, else one inside the environment.
UV = $(or $(shell command -v uv),$(BIN)/uv)
# An index may be known to pip only, by its own settings: what uv cannot fetch, pip does.
INSTALL_WITH_UV = $(UV) pip install --quiet --python $(BIN)/python
INSTALL_WITH_PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
export UV_SYSTEM_CERTS ?= true
# Where it is set every process would compile all of its modules anew, and the tests start thousands of them.
unexport PYTHONDONTWRITEBYTECODE

# Many tests wait for processes most of the time: one more than there are cores.
BESIDE = $(shell $(BIN)/python -c "import os; print((os.cpu_count() or 1) + 1)")

FUZZ_SECONDS ?= 120
SEEDS ?= 1000
KILLS ?= 1000
POINTS ?= 500
EXAMPLES ?= 100
APP ?= examples/hello.py

.DEFAULT_GOAL := help
.PHONY: help setup serve test test-all check format bench docs preview lock clean \
  simulate crashes storm mutants power faults fuzz batteries prove

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Set up the environment in .venv (every target does so by itself)

$(READY): $(LOCK) pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -n "$$(command -v uv)" || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(INSTALL_WITH_UV) --require-hashes -r $(LOCK) || $(INSTALL_WITH_PIP) --require-hashes -r $(LOCK)
	$(INSTALL_WITH_PIP) --no-deps --no-build-isolation -e .
	touch $@

serve: $(READY) ## Run the example's schedules and the API on SQLite, or your program: make serve APP=app.py
	$(BIN)/foliot serve $(APP)

test: $(READY) ## Run the tests (some ten minutes on two cores)
	$(BIN)/pytest -n $(BESIDE) --dist loadgroup -m "not slow"

test-all: $(READY) ## Run all tests: every zone and clock change, long fuzzing
	$(BIN)/pytest -n auto -m "not slow" --cov --cov-report=term tests/domain
	$(BIN)/pytest -n auto --dist loadgroup --hypothesis-profile=thorough --timeout=3600
	$(BIN)/python tests/fuzz/fuzz_parser.py -max_total_time=$(FUZZ_SECONDS) -max_len=400 -verbosity=0 -print_final_stats=1

check: $(READY) ## Check format, lint, types and the import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

simulate: $(READY) ## Prove: the engine under seeded faults in virtual time, SEEDS=1000 days; SEEDS=7, is one seed again
	$(BIN)/python -m tests.simulation --seeds $(SEEDS)

crashes: $(READY) ## Prove: die at every commit and around every dispatch, the first, second and third time
	$(BIN)/python -m tests.crash.fail_points

storm: $(READY) ## Prove: KILLS=1000 processes killed at random on each database, and worse; KEEP=folder leaves them
	$(BIN)/python -m tests.crash.storm --kills $(KILLS) $(if $(KEEP),--keep $(KEEP))

mutants: $(READY) ## Prove: each deliberately broken variant is caught by a named test
	$(BIN)/python -m tests.mutants

power: $(READY) ## Prove: the power fails at POINTS=500 moments, and SQLite has all that it acknowledged
	$(BIN)/python -m tests.power --points $(POINTS)

fuzz: $(READY) ## Prove: whatever is sent to the API, EXAMPLES=100 of each kind to every operation, on both databases
	$(BIN)/python -m tests.http.fuzz --examples $(EXAMPLES)

batteries: $(READY) ## Prove: who may do what, bad tokens, URLs that lead inside, secrets, limits; the number of each
	$(BIN)/python -m tests.http.batteries

faults: $(READY) ## Prove: full disk, no permission, no file handles, no database, a clock that jumps
	$(BIN)/python -m tests.faults

prove: $(READY) ## All of the proof in its long form, an hour of it; writes docs/reliability.md
	rm -rf build/proof
	for part in simulate crashes storm mutants power faults; do $(MAKE) --no-print-directory $$part || true; done
	$(BIN)/python -m tests.proof.report

bench: $(READY) ## Measure, beside peers and a raw yardstick, half an hour; writes the figures into docs/performance.md
	rm -rf build/bench
	$(BIN)/python benchmarks/cron_next.py
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.page

docs: $(READY) ## Write the tables that the docs share with the tests
	$(BIN)/python -m tests.docs.tables

preview: $(READY) ## Show when a spec fires: make preview ARGS="--cron '0 9 * * MON-FRI' --timezone Europe/Berlin"
	@$(BIN)/foliot preview $(or $(ARGS),--cron '0 9 * * MON-FRI' --timezone Europe/Berlin)

lock: $(READY) ## Lock the dependencies anew, with hashes and without any index host
	$(UV) pip compile pyproject.toml --group dev --all-extras --universal --python-version 3.11 --upgrade --quiet \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate -o $(LOCK)

clean: ## Remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* dist build
