# Gaitsmith. `make help` lists what can be made. Each target sets up what it needs in .venv.
#
#   make demo PYTHON=/usr/bin/python3.11     another Python (3.11 or 3.13)
#   make test TESTS=tests/motion             only some of the tests

VENV    ?= .venv
TESTS   ?=
TRAIN   ?=
DATA    ?= ../shared/data
DATASET ?= build/biped-dataset
PYTHON  ?= $(shell tools/find_python.sh 3.11 3.13)
RUN     := $(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help demo test bench check pack pack-terrain pack-animal zip clean distclean system env env-test env-train env-tools

help:
	@echo "make demo    bake the shipped pack along an S curve over hills and stairs: demo/walk.blend, .png, .mp4"
	@echo "make test    all tests (tests that need torch skip themselves on Python 3.13)"
	@echo "make bench   measure and print the figures of docs/figures.md"
	@echo "make check   lint, types, and the rules of the house"
	@echo "make pack    rebuild the shipped pack from the raw takes (DATA=folder; needs torch: Python 3.11)"
	@echo "make pack-terrain  rebuild the shipped pack that learned uneven ground (DATA=folder; needs torch)"
	@echo "make pack-animal  rebuild the shipped animal's pack: generate its motion, train (needs torch)"
	@echo "make zip     build the extension for this platform: dist/"
	@echo "make clean   remove what was made, but not the environments (distclean: these too)"

system:
	@test -n "$(PYTHON)"
	@"$(PYTHON)" tools/check_system_libraries.py

env: system
	@"$(PYTHON)" tools/environment.py $(VENV) run
env-train: system
	@"$(PYTHON)" tools/environment.py $(VENV) run train
env-test: system
	@"$(PYTHON)" tools/environment.py $(VENV) run test train
env-tools: system
	@"$(PYTHON)" tools/environment.py $(VENV) run test train tools

demo: env
	$(RUN) -m tools.demo --out demo

test: env-test
	$(RUN) -m pytest $(TESTS)

bench: env-train
	$(RUN) -m tools.bench --dataset $(DATASET) --data "$(DATA)"

check: env-tools
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(RUN) -m pytest -q tests/test_architecture.py

# With TRAIN="--minutes 30" in less time; with TRAIN=--resume where an interrupted run stopped.
pack: env-train
	$(RUN) -m blender_addon ingest --recipe training/recipes/biped.toml --data "$(DATA)" --out $(DATASET)
	$(RUN) -m training train lmm $(DATASET) --out blender_addon/packs/biped-lmm --title "Biped" $(TRAIN)
	$(RUN) -m training evaluate blender_addon/packs/biped-lmm $(DATASET)

pack-terrain: env-train
	$(RUN) -m blender_addon ingest --recipe training/recipes/biped-pfnn.toml --data "$(DATA)" --out build/pfnn-dataset
	$(RUN) -m training train pfnn build/pfnn-dataset --out blender_addon/packs/biped-pfnn \
		--title "Biped, any ground" $(TRAIN)
	$(RUN) -m training evaluate blender_addon/packs/biped-pfnn build/pfnn-dataset

pack-animal: env-train
	$(RUN) -m training gaits --out build/fox-dataset --minutes 84 --seed 1
	$(RUN) -m training train mann build/fox-dataset --out blender_addon/packs/quadruped-mann --title "Quadruped" $(TRAIN)
	$(RUN) -m training evaluate blender_addon/packs/quadruped-mann build/fox-dataset

zip: env
	$(RUN) tools/stage_extension.py --out dist

clean:
	rm -rf build dist demo bench .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) .venvs .cache
