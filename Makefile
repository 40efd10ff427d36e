PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
COMMA := ,
EXTRAS := whisper,dev
PARALLEL := -n 2 --dist loadgroup
REPORT := --durations=100 --durations-min=0.5 --junitxml=test-results/tests.xml
PARTS :=
PEERS := .peers
AUDIT := .audit
PINS := .pins
DOCS := .docs
MATRIX := .matrix
ROWS := 3.11-pinned 3.11-lowest 3.12-newest 3.13-newest

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast test-all torch attack test-browser lint docs pictures pins audit peers matrix clean clean-peers clean-matrix

help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/installed ## Create .venv with everything pinned in constraints.txt.

demo: setup ## Replay two recorded sessions through recognition, memory and recall.
	$(BIN)/python -m pipelines.replay --demo

test: lint ## Check style and types and run the tests that every push needs; seven minutes on two cores.
	$(BIN)/pytest $(PARALLEL) $(REPORT)

test-fast: setup ## Run those of them that take less than a tenth of a second; a minute.
	$(BIN)/pytest $(PARALLEL) -m "not slow"

test-all: lint torch ## Run every test, or with PARTS=wheel,engines those parts of tests/parts.py alone; half an hour.
	$(BIN)/pytest $(PARALLEL) $(if $(PARTS),--parts $(PARTS),--all)
	$(if $(PARTS),$(if $(findstring browser,$(PARTS)),$(MAKE) test-browser),$(MAKE) test-browser)

torch: $(VENV)/torch ## Add PyTorch and sentence-transformers, for training, other encoders and their tests.

attack: lint ## Run the attack tests in full: 1,000 kills, 240 power cuts, 150 corruptions, 500 injections; a quarter of an hour.
	$(BIN)/pytest $(PARALLEL) --full tests/attacks tests/test_crash.py tests/storage/sqlite/test_damage.py tests/storage/test_forget.py tests/test_isolation.py \
		tests/test_encryption.py tests/storage/test_spool.py tests/test_job_fairness.py tests/operations/test_retention.py

test-browser: setup ## Test the browser bot, the inspector and the report in headless Chromium, installed first as root on Debian.
	@command -v chromedriver >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium-driver; } \
		|| { echo "Chromium and its driver are missing. On Debian: apt-get install chromium-driver"; exit 1; }
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS),browser]" selenium
	$(BIN)/pytest tests/browser

lint: setup ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(DOCS)/installed ## Build the documentation into site/, without warnings, and check every link and anchor.
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet
	$(DOCS)/bin/python -m website.check site

pictures: setup ## Make the pictures of the documentation again, from the demo, the inspector and the report; needs Chromium, as test-browser.
	$(BIN)/python -m website.pictures docs/pictures

audit: setup $(AUDIT)/installed ## List licences and known vulnerabilities of installed packages; needs the network.
	@$(BIN)/python .ci/licences.py
	@$(BIN)/python -m pip freeze --exclude-editable | sed 's/+.*//' > $(AUDIT)/installed.txt
	@$(AUDIT)/bin/pip-audit --strict --no-deps --disable-pip --requirement $(AUDIT)/installed.txt \
		|| { echo "The audit failed: see above. If pypi.org could not be reached, connect to the network and try again."; exit 1; }

pins: $(PINS)/installed ## Write requirements.txt with checksums after a change of constraints.txt; some minutes.
	$(PINS)/bin/pip-compile --quiet --generate-hashes $(patsubst %,--extra %,$(subst $(COMMA), ,$(EXTRAS))) --constraint constraints.txt --strip-extras \
		 --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --no-annotate --output-file requirements.txt pyproject.toml
	@{ echo '# Everything that make setup installs, with checksums. Written by `make pins` from constraints.txt.'; \
		grep -v '^ *#\|^pipecat-hotmem ' requirements.txt | grep . ; } > $(PINS)/pinned && mv $(PINS)/pinned requirements.txt

peers: $(patsubst eval/peers/%.txt,$(PEERS)/%/installed,$(wildcard eval/peers/*.txt)) ## Create an environment for each peer of python -m eval peers: 3 GB, some minutes.

# With pyenv, every version that is installed can be found.
matrix: $(MATRIX)/uv/installed ## Run the fast tests with Python 3.11 to 3.13 and pinned, lowest and newest dependencies; half an hour, 4 GB, needs the network.
	@PYENV_VERSION="$$(pyenv versions --bare 2>/dev/null | paste -sd:)" UV_PYTHON_DOWNLOADS=never UV_CACHE_DIR=$(MATRIX)/packages \
		$(MATRIX)/uv/bin/python .ci/matrix.py $(TORCHLESS) $(ROWS)

clean: ## Remove .venv, caches and builds.
	rm -rf $(VENV) $(AUDIT) $(PINS) $(DOCS) build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

clean-peers: ## Remove the peers' environments.
	rm -rf $(PEERS)

clean-matrix: ## Remove the environments of make matrix.
	rm -rf $(MATRIX)

$(VENV)/installed: pyproject.toml constraints.txt requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	touch $@

# Not pinned by checksum: torch's builds differ between machines.
$(VENV)/torch: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[sentence-transformers]"
	touch $@

$(AUDIT)/installed: | $(BIN)/python
	$(BIN)/python -m venv --clear $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet pip-audit==2.10.1
	touch $@

$(DOCS)/installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m venv --clear $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --constraint constraints.txt $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	touch $@

$(PINS)/installed: | $(BIN)/python
	$(BIN)/python -m venv --clear $(PINS)
	$(PINS)/bin/python -m pip install --quiet pip-tools==7.6.2
	touch $@

$(MATRIX)/uv/installed: | $(BIN)/python
	$(BIN)/python -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet uv==0.13.9
	touch $@

# The encoder is installed once for all peers; a peer's own packages precede it on the path.
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
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "HotMem needs Python 3.11 or newer. Choose one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq python3-venv; } \
		|| { echo "This Python cannot create virtual environments. Run: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
