# Everything runs in .venv, which is made on first use; a second run finds the stamps and starts at once.
BIN := .venv/bin
# What Python has compiled is kept: the tests start it some hundred times.
export PYTHONDONTWRITEBYTECODE :=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-compile -c constraints.txt

# As root on Debian some packages are installed; `make test OPTIONS=--no-install` skips that, and the tests that need them.
export NO_INSTALL := $(filter --no-install,$(OPTIONS))

# Chromium and the NBD clients are installed while Python's packages are.
MAKEFLAGS += --jobs=2

.DEFAULT_GOAL := help
.PHONY: help predict keep test web extensions chromium clients check laws drift bench compiled fuzz faults golden mutants pages docs notebooks sbom audit clean

help:
	@echo "make predict   calibrate, predict the studies, compare and report"
	@echo "make keep      simulate all studies and write the results that come with raidsim"
	@echo "make test      all tests (OPTIONS=--no-install: without Debian's chromium and NBD clients, and their tests)"
	@echo "make web       the explorer in a browser (OPTIONS='--port 8600')"
	@echo "make check     lint, format, types, security and the quick tests"
	@echo "make laws      scenarios drawn at random, other ones every day, checked for laws of every machine (COUNT=2000)"
	@echo "make drift     predict all studies and compare with the kept table; goes on where it was stopped"
	@echo "make bench     how fast the simulator itself is"
	@echo "make compiled  the hot modules as C extensions, as make predict and test have them; make check uses the source"
	@echo "make fuzz      every reader of files under a fuzzer (SECONDS_EACH=60)"
	@echo "make faults    full disks, kills, power cuts, dead workers, jumping clocks"
	@echo "make golden    kept results, bit by bit: on other processors, on the Pythons 3.11-3.13 that are there, and compiled"
	@echo "make mutants   one changed line at a time, and which test notices it (hours; goes on where it was stopped)"
	@echo "make pages     what the manual's commands print, also those that take minutes, into its pages"
	@echo "make docs      the manual, in docs/_build/html"
	@echo "make notebooks the guide in Python as notebooks, in build/notebooks"
	@echo "make sbom      what raidsim is installed with, as CycloneDX, in build/raidsim.cdx.json"
	@echo "make audit     compare all packages of constraints.txt with lists of known vulnerabilities"
	@echo "make clean     remove what was built, and .venv"

# What comes with raidsim is shown at once. Compiling takes less than it saves of simulating all studies, which verifies it.
predict: .venv/compiled.stamp
	$(BIN)/raidsim predict --kept
	@sh compiled/install_compiler.sh $(BIN)/python
	-@$(BIN)/python -m raidsim.compiled --where-possible
	$(BIN)/raidsim predict

# Goes on where it was stopped.
keep: extensions
	$(BIN)/raidsim predict --all --keep

# Most tests simulate, so these are on the compiled modules too, where that is possible; `make check` is on the source.
test: extensions chromium clients
	RAIDSIM_PURE=0 $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "not source"
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m source

# Where the hot modules were compiled, the page uses them.
web: .venv/web.stamp
	$(BIN)/raidsim web $(OPTIONS)

extensions: .venv/dev.stamp
	@sh compiled/install_compiler.sh $(BIN)/python
	-@$(BIN)/python -m raidsim.compiled --where-possible

chromium:
	@sh tests/web/install_chromium.sh

clients:
	@sh tests/serve/install_clients.sh

check: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@# It warns of every node of a line that is marked; shown if anything is found.
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive . 2>.venv/bandit.log || { cat .venv/bandit.log; exit 1; }
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

# Other scenarios every day: the seed is the date.
COUNT ?= 2000
laws: extensions
	$(BIN)/raidsim laws --count $(COUNT) --seed $$(date +%Y%m%d)

drift: extensions
	$(BIN)/raidsim drift

bench: .venv/run.stamp
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks --gate
	$(BIN)/python -m benchmarks --against

compiled: .venv/compiled.stamp
	$(BIN)/python -m raidsim.compiled

SECONDS_EACH ?= 60
fuzz: .venv/fuzz.stamp
	$(BIN)/python -m raidsim.tests.fuzz.campaign --seconds-each $(SECONDS_EACH)
	$(BIN)/python -m pytest -n 2 -m hypothesis --hypothesis-profile explore

faults: .venv/dev.stamp
	$(BIN)/python -m pytest tests/faults tests/scenarios/sweeps/test_sweep_kill.py tests/scenarios/sweeps/test_sweep_store.py

golden: extensions
	$(BIN)/python -m raidsim.tests.golden.other_platforms
	$(BIN)/python -m pytest tests/compiled

mutants: .venv/dev.stamp
	nice $(BIN)/python -m raidsim.tests.mutation

pages: .venv/dev.stamp
	$(BIN)/python -m raidsim.tests.refresh_pages

docs: .venv/dev.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# A page that is a notebook says so in its second line.
notebooks: .venv/dev.stamp
	@mkdir -p build/notebooks
	@for page in $$(grep -l '^file_format: mystnb' docs/python/*.md); do \
		$(BIN)/mystnb-to-jupyter --overwrite $$page build/notebooks/$$(basename $$page .md).ipynb || exit 1; done

# An environment with what a user gets, and another one with the programs that look at it.
sbom: .venv/review.stamp
	rm -rf .venv/shipped && $(BIN)/python -m venv --without-pip .venv/shipped
	$(BIN)/python -m pip --python .venv/shipped/bin/python install --quiet --disable-pip-version-check -c constraints.txt .
	@mkdir -p build
	.venv/review/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o build/raidsim.cdx.json .venv/shipped/bin/python

audit: .venv/review.stamp
	.venv/review/bin/pip-audit -r constraints.txt --no-deps --disable-pip

clean:
	rm -rf .venv build dist docs/_build raidsim.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The python3 of the PATH, unless it is too old or another one there is clearly faster; or the one given as PYTHON=...
.venv/bin/python:
	@sh benchmarks/environment.sh "$${PYTHON:-$$(python3 benchmarks/interpreter.py)}"

.venv/run.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt setuptools
	$(PIP) -e .
	@touch $@

.venv/compiled.stamp: .venv/run.stamp
	$(PIP) -e '.[compiled]'
	@touch $@

.venv/web.stamp: .venv/run.stamp
	$(PIP) -e '.[web]'
	@touch $@

.venv/review.stamp: | .venv/bin/python
	$(BIN)/python -m venv .venv/review
	.venv/review/bin/python -m pip install --quiet --disable-pip-version-check 'cyclonedx-bom>=7' 'pip-audit>=2.9'
	@touch $@

.venv/fuzz.stamp: .venv/dev.stamp
	$(PIP) -e '.[fuzz]'
	@touch $@

# mypy has to see the checkout under the name it installs by.
.venv/dev.stamp: .venv/run.stamp
	$(PIP) -e '.[dev,docs]'
	@mkdir -p .venv/types && ln -sfn ../.. .venv/types/raidsim
	@touch $@
