# One door to everything: make help

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# Another environment that is active is left alone: installers would take it for the one to install into.
unexport CONDA_PREFIX PYTHONHOME
export VIRTUAL_ENV := $(CURDIR)/.venv

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
# The page of lossylink explore, once it is built.
PAGE := python/lossylink/_package/page
PYTEST := $(BIN)/python -m pytest --junitxml
# Says how long a command took, with its processor time: tools/timed NAME COMMAND...
TIMED := tools/timed
# What the module for Python is made of.
RUST_SOURCES := $(shell find crates -path crates/web -prune -o -name '*.rs' -print -o -name Cargo.toml -print) Cargo.toml Cargo.lock

.PHONY: help
help: ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'
	@echo
	@echo "After make build: $(BIN)/lossylink --help"

.PHONY: build
build: $(STAMPS)/native ## Set up everything: tools, .venv, the compiled simulator

.PHONY: reproduce
reproduce: build ## Run the published experiments and write a report (ARGS="--quick --only stress")
	@$(BIN)/lossylink reproduce $(ARGS)

.PHONY: test
test: ## Every check and every test, in about half an hour on two cores
	@echo "make test: about half an hour on two cores, ten minutes less once all is compiled; it needs root or user namespaces for the live tests"
	@# Two at a time: one compiles the simulator for Python while the other compiles the tests in Rust.
	+$(MAKE) --jobs=2 --output-sync=line build lint-rust test-rust promised-rust lint-python docs check-fuzz kernel newcomer
	+$(MAKE) test-python
	+$(MAKE) test-web

.PHONY: test-rust
test-rust: $(STAMPS)/venv ## Tests of the Rust crates
	$(TIMED) "tests of the crates" cargo test --locked --workspace --exclude lossylink-python
	$(TIMED) "tests of the plain simulator" \
		cargo test --locked --package lossylink-sim --no-default-features --lib --tests
	$(TIMED) "the same rows" tools/same-rows

.PHONY: promised-rust
promised-rust: $(STAMPS)/venv ## The workspace compiles with the Rust version that Cargo.toml promises
	$(TIMED) "the promised Rust" tools/promised-rust

.PHONY: check-fuzz
check-fuzz: $(STAMPS)/venv ## Every fuzz target compiles (tools/fuzz SECONDS runs each; the tests in Rust run their checks, too)
	$(TIMED) "fuzz targets" tools/fuzz --check

.PHONY: test-python
test-python: build ## Tests of the Python package, with the examples in its documentation
	@# The live tests run one after another, each lab with the machine to itself, and also where others have failed. Files of other tests
	@# are shared out in the order of their names: pytest-xdist's own order puts a file of one long test last.
	status=0; \
	$(TIMED) "Python tests" $(PYTEST)=target/tests.xml --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder \
		--ignore-glob='*/test_live_*.py' || status=$$?; \
	$(TIMED) "live tests" $(PYTEST)=target/live-tests.xml tests/python/test_live_*.py || status=$$?; \
	$(BIN)/python tools/skipped.py target/tests.xml target/live-tests.xml; \
	exit $$status

.PHONY: test-p4
test-p4: build ## The switch programs on BMv2: they compile, decide as the engines do, and live through experiments
	tools/build-p4 $(LOSSYLINK_P4)
	$(BIN)/python -m pytest -s tests/p4

.PHONY: kernel
kernel: build ## The kernel for virtual time, in the user's cache; built if its source or recipe has changed
	$(TIMED) "the kernel for virtual time" tools/kernel

.PHONY: newcomer
newcomer: $(STAMPS)/venv ## The way of a new user: an ordinary user, a closed home, another environment, no network (ARGS=--whole)
	$(TIMED) "the way of a new user" tools/try-newcomer $(ARGS)

.PHONY: web
web: build ## The page of lossylink explore, into the package; needs Node.js, and Rust for WebAssembly or Debian's sources of it
	$(TIMED) "the page" tools/web

.PHONY: test-web
test-web: build ## Types and tests of the page, its rows beside those of lossylink run, and a reader's way through it in two browsers
	$(TIMED) "tests of the page" tools/test-web

.PHONY: hostile
hostile: build ## Seven minutes of faults and forgeries against two guards: on a cable, with a key, over a path
	$(BIN)/python -m tests.hostile
	$(BIN)/python -m tests.hostile --key
	$(BIN)/python -m tests.hostile --routed

.PHONY: lint
lint: lint-rust lint-python ## Formatting, lints and types, in Rust and Python

.PHONY: lint-rust
lint-rust: $(STAMPS)/venv
	cargo fmt --all -- --check
	$(TIMED) "clippy" cargo clippy --locked --workspace --all-targets -- -D warnings
	$(TIMED) "clippy of the plain simulator" \
		cargo clippy --locked --package lossylink-sim --all-targets --no-default-features -- -D warnings

.PHONY: lint-python
lint-python: build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(TIMED) "mypy" $(BIN)/mypy
	$(BIN)/python -m mypy.stubtest lossylink._native

.PHONY: docs
docs: build ## The documentation as a site, target/site/index.html, with the live page after make web; a broken link is an error
	$(TIMED) "the documentation" $(BIN)/zensical build --clean
	@if [ -e $(PAGE)/index.html ]; then mkdir -p target/site/explore && cp $(PAGE)/index.html target/site/explore/ \
		&& touch target/site/explore/here.js; fi

.PHONY: format
format: build ## Format everything
	cargo fmt --all
	$(BIN)/ruff format .

.PHONY: bench
bench: build ## Measure what must be fast, and how often intervals hold (COVERAGE=--whole for all seeds)
	$(BIN)/python benches/bench.py $(ARGS)
	$(BIN)/python benches/ports.py
	$(BIN)/python benches/one_flow.py
	$(BIN)/python benches/ablation.py
	$(BIN)/python benches/sweeping.py
	$(BIN)/python benches/coverage.py $(COVERAGE)

.PHONY: bench-peers
bench-peers: build ## Measure beside ns-3, and csg-htsim with SIMULATOR=CHECKOUT
	$(BIN)/python benches/peers/compare.py $(if $(SIMULATOR),--simulator $(SIMULATOR)) $(ARGS)

.PHONY: wheel
wheel: build web ## Build sdist and wheel, and try both in fresh environments
	tools/try-wheel

.PHONY: wheels
wheels: build web ## Build manylinux wheels for x86-64 and aarch64 into dist/ (needs zig)
	tools/build-wheels

.PHONY: licenses
licenses: build ## Write THIRD-PARTY-LICENSES.md anew, with Node.js also what the page contains
	if [ -d web/node_modules ]; then node web/build.mjs --licences; fi
	$(BIN)/python tools/licenses.py

.PHONY: deny
deny: ## Licences, advisories, sources and duplicates of the crates (needs cargo-deny)
	@cargo deny --version >/dev/null 2>&1 \
		|| { echo "error: cargo-deny is missing; run cargo install cargo-deny --locked" >&2; exit 1; }
	cargo deny --locked check

.PHONY: lock
lock: build ## Renew the locked versions of the Python dependencies
	$(BIN)/pip install -q uv
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --extra dev --no-header --no-emit-index-url \
		--no-emit-find-links --output-file requirements-dev.lock pyproject.toml

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf $(VENV) target dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find python -name '*.so' -delete -o -name __pycache__ -prune -exec rm -rf {} +

# --- Stamps: each step runs again only when what it reads has changed.

$(STAMPS)/venv: tools/setup tools/find-python
	python=$$(tools/find-python); PYTHON=$$python tools/setup; \
	[ -x $(BIN)/python ] || $$python -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/packages: $(STAMPS)/venv requirements-dev.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --upgrade-strategy only-if-needed -r requirements-dev.lock
	@touch $@

$(STAMPS)/native: $(STAMPS)/packages pyproject.toml $(RUST_SOURCES)
	PIP_QUIET=1 $(TIMED) "the module for Python" $(BIN)/maturin develop --quiet --release
	@touch $@
