PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := whisper,offline,dev
PEERS := .peers
AUDIT := .audit
PINS := .pins
COMMA := ,

.DEFAULT_GOAL := help
.PHONY: help setup demo test attack test-browser lint pins audit peers clean clean-peers

help: ## Shows this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/installed ## Makes .venv with everything pinned in constraints.txt.

demo: setup ## Replays two recorded sessions: heard, remembered, recalled.
	$(BIN)/python -m pipelines.replay --demo

test: lint ## Checks style and types and runs every test.
	$(BIN)/pytest

attack: lint ## Attacks the memory in full: 1,000 kills, 240 power cuts, 150 corruptions, 500 injections and more; a quarter of an hour.
	$(BIN)/pytest --full tests/attacks tests/test_crash.py tests/storage/sqlite/test_damage.py tests/storage/test_forget.py tests/test_isolation.py \
		tests/test_encryption.py tests/storage/test_spool.py tests/test_fairness.py tests/operations/test_retention.py

test-browser: setup ## Tests the browser bot, the inspector and the report in headless Chromium; as root on Debian it installs Chromium first.
	@command -v chromedriver >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium-driver; } \
		|| { echo "Chromium and its driver are missing. On Debian: apt-get install chromium-driver"; exit 1; }
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS),browser]" selenium
	$(BIN)/pytest tests/browser

lint: setup ## Checks style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

audit: setup $(AUDIT)/installed ## Looks installed packages up among known vulnerabilities and lists their licences; needs the network.
	@$(BIN)/python .ci/licences.py
	@$(BIN)/python -m pip freeze --exclude-editable | sed 's/+.*//' > $(AUDIT)/installed.txt
	@$(AUDIT)/bin/pip-audit --strict --no-deps --disable-pip --requirement $(AUDIT)/installed.txt \
		|| { echo "Not every package is known to be sound: see above. If the advisories at pypi.org could not be reached, connect to the network and repeat it."; exit 1; }

pins: $(PINS)/installed ## Writes requirements.txt, what make setup installs with its checksums, after a change of constraints.txt; minutes.
	$(PINS)/bin/pip-compile --quiet --generate-hashes $(patsubst %,--extra %,$(subst $(COMMA), ,$(EXTRAS))) --constraint constraints.txt --unsafe-package torch \
		--strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --no-annotate --output-file requirements.txt pyproject.toml
	@{ echo '# What make setup installs, by its checksums, but for torch. `make pins` writes it from constraints.txt.'; \
		grep -v '^ *#\|^pipecat-hotmem ' requirements.txt | grep . ; } > $(PINS)/pinned && mv $(PINS)/pinned requirements.txt

peers: $(patsubst eval/peers/%.txt,$(PEERS)/%/installed,$(wildcard eval/peers/*.txt)) ## Makes each peer's own environment for python -m eval peers: 3 GB, some minutes.

clean: ## Removes .venv, caches and builds; prepared models stay in the user's cache folder.
	rm -rf $(VENV) $(AUDIT) $(PINS) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

clean-peers: ## Removes the peers' environments.
	rm -rf $(PEERS)

# Everything but torch by its checksum, then HotMem, and torch, whose builds differ from machine to machine.
$(VENV)/installed: pyproject.toml constraints.txt requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

$(AUDIT)/installed: | $(BIN)/python
	$(BIN)/python -m venv --clear $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet pip-audit==2.10.1
	touch $@

$(PINS)/installed: | $(BIN)/python
	$(BIN)/python -m venv --clear $(PINS)
	$(PINS)/bin/python -m pip install --quiet pip-tools==7.6.2
	touch $@

# The encoder is installed once; a peer's own packages come before it on the path.
$(PEERS)/encoder/installed: constraints.txt | $(BIN)/python
	$(BIN)/python -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --constraint constraints.txt sentence-transformers torch
	touch $@

$(PEERS)/%/installed: eval/peers/%.txt $(PEERS)/encoder/installed
	$(BIN)/python -m venv --clear $(@D)
	$(PEERS)/encoder/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/encoder.pth
	$(@D)/bin/python -m pip install --quiet --requirement $<
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "HotMem needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq python3-venv; } \
		|| { echo "This Python cannot make virtual environments. Install them: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
