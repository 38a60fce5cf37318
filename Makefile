# Two commands: `make lab` and `make test`. `make help` explains the rest.
# Written for GNU make 3.81 (a Mac's own) and newer.

# Arguments that a caller may give, as in `make PYTHON=python3.12 lab`.
PYTHON ?=
LAB_ARGS ?=
PYTEST_ARGS ?=
PEERS_ARGS ?=
UPGRADE ?=
LIMITS_ARGS ?=

# Two environments are kept. Those below build/ are made for the part that needs them, and removed after it.
VENV := .venv
BIN := $(VENV)/bin
FRAMEWORKS := .venv-frameworks
ENVIRONMENTS := build/environments
OTHER := $(ENVIRONMENTS)/python-
FRONT_ENDS := $(ENVIRONMENTS)/front-ends
OLDER_HUB := $(ENVIRONMENTS)/hub-5
PEERS := $(ENVIRONMENTS)/peers
BINDER_IMAGE := $(ENVIRONMENTS)/binder-image
DEMO := $(ENVIRONMENTS)/demo
# nbgrader, Sphinx, repo2docker and twine.
TOOLS := $(ENVIRONMENTS)/tools
# The wheel, and what pages tell their readers to install from it.
WHEEL := $(ENVIRONMENTS)/wheel
PAGES := $(ENVIRONMENTS)/pages
# In recipes, tools of .venv come first: jlpm finds its node there, and no other Node is needed.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Containers are often told to keep no compiled files. Each of the hundreds of kernels and processes that the tests start
# would compile the whole package anew.
export PYTHONDONTWRITEBYTECODE :=

STEP := scripts/step.sh
INSTALL_STEP := scripts/step.sh --quiet
ENVIRONMENT := scripts/environments.sh
WITH := $(ENVIRONMENT) with
PIP_INSTALL := -m pip install --disable-pip-version-check --progress-bar off
FROM_LIST := $(PIP_INSTALL) --require-hashes --no-deps --only-binary :all: --requirement
JLPM := cd labextension && jlpm

# Learners work on copies of the lessons, which git ignores: a run changes no tracked file.
LESSONS_COPY := my-lessons
FIRST_LESSON := 00_start_here.ipynb
# `make test` runs the first lessons, `make test-all` the others, and all solutions. Only what git tracks: somebody's
# own notebook may lie beside them.
TRACKED = $(or $(shell git ls-files $(1) 2>/dev/null),$(wildcard $(1)))
FIRST_LESSONS = $(call TRACKED,notebooks/0[0-3]_*.ipynb)
LESSONS = $(call TRACKED,notebooks/*.ipynb)
SOLUTIONS = $(call TRACKED,notebooks/solutions/*.ipynb)
LATER_LESSONS = $(filter-out $(FIRST_LESSONS),$(LESSONS)) $(SOLUTIONS)

LABEXTENSION := jupyter_mlgpu/labextension/package.json
NODE_MODULES := labextension/node_modules/.yarn-state.yml
LABEXTENSION_SOURCES := $(shell find labextension \
	\( -name node_modules -o -name lib -o -name .yarn \) -prune -o -type f -print 2>/dev/null)
TYPED := $(wildcard jupyter_mlgpu scripts benchmarks tests/packaging)

# Two hashes before what one needs most days, three before the rest.
define EXPLAIN
echo "Usage: make TARGET [PYTHON=python3.12] [LAB_ARGS='--no-browser --port=9999']"
awk 'BEGIN { FS = ":.* $(1)" } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	/^[a-z-]+:.* $(1)/ { printf "  make %-18s %s\n", $$1, $$2 }' Makefile
endef

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: FORCE

##@ Everyday

.PHONY: help
help: ## explain the targets that one needs most days
	@$(call EXPLAIN,## )

.PHONY: help-all
help-all: ## explain every target
	@$(call EXPLAIN,###? )

.PHONY: lab
lab: install ## build everything, copy the lessons to my-lessons/, and open JupyterLab on the first one
	@$(BIN)/jupyter mlgpu lessons $(LESSONS_COPY) --language zh >/dev/null
	@echo "==> JupyterLab on your copies of the lessons, in $(LESSONS_COPY) (Ctrl-C stops it)"
	@# JupyterLab refuses to start as root, which is who one is in most containers. The default address is the one
	@# that is printed with --no-browser.
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --ServerApp.root_dir=$(CURDIR)/$(LESSONS_COPY) \
		--LabApp.default_url=/lab/tree/$(FIRST_LESSON) $(LAB_ARGS)

.PHONY: install
install: $(VENV)/.project ## make .venv with what `make lab` needs, without opening anything

.PHONY: clean
clean: ## remove everything that make made, .venv too; my-lessons/ is yours and stays
	rm -rf $(VENV) $(FRAMEWORKS) dist build
	rm -rf jupyter_mlgpu/labextension jupyter_mlgpu/jupyter/notebook/static
	rm -rf labextension/node_modules labextension/lib labextension/.yarn labextension/tsconfig.tsbuildinfo
	rm -rf .mypy_cache .pytest_cache .ruff_cache

##@ Tests

# `make test` runs these, in twelve minutes on 2 cores: all but the tests marked slow.
TEST_PARTS := test-labextension test-packaging test-unit test-fuzz test-integration test-frameworks test-metal \
	test-teacher test-ui test-lessons
# Which tests of a part run: with "not slow" those of `make test`, with "slow" the others, and else all of them.
MARKS :=
MARKED = $(if $(MARKS),-m "$(MARKS)")
AND_MARKED = $(if $(MARKS), and $(MARKS))
# The tests of each of the package's rooms, of how it is built, and of what it answers to planted bottlenecks.
ROOMS := $(wildcard $(addprefix tests/,record measure explain graphs experiment show jupyter teach structure limits))
# Modules, or notebooks, to run in place of all those of a part.
ONLY :=
# How each part ended is kept here, for the summary.
REPORTS := build/test-reports

.PHONY: test
test: ## the tests of every part of the project, 12 minutes on 2 cores; PYTEST_ARGS="-k receipt" chooses among them
	@rm -rf $(REPORTS)
	@status=0; $(MAKE) --no-print-directory --keep-going $(TEST_PARTS) MARKS="not slow" || status=1; \
		$(MAKE) --no-print-directory test-summary || status=1; exit $$status

.PHONY: test-summary
test-summary: ## how the parts of the last `make test` ended, and what was flaky or skipped
	@$(BIN)/python scripts/run_tests.py --summary "make test"

.PHONY: test-all
test-all: install ## what make test leaves out: slow tests, other versions, all lessons, a hub, a class, the documentation
	@rm -rf $(REPORTS)
	@$(BIN)/python scripts/other_tests.py

# A part's tests: `$(RUN_TESTS) PYTHON OPTION... -- SELECTION...`. What fails is repeated once, alone.
RUN_TESTS = $(BIN)/python scripts/run_tests.py $@
WORKERS := 2
SPREAD = --numprocesses $(WORKERS) --dist worksteal
PYTEST = $(RUN_TESTS) $(BIN)/python $(SPREAD) --

.PHONY: test-labextension
test-labextension: install ### the labextension's own functions, in Node
	@$(STEP) "labextension tests" sh -c \
		"(cd labextension && jlpm test:build) && $(RUN_TESTS) node labextension 'lib/test/test/**/*.test.js'"

.PHONY: test-packaging
test-packaging: test-tools ### the package, its pinned versions, this Makefile
	@$(STEP) "packaging tests" $(PYTEST) $(or $(ONLY),tests/packaging) $(MARKED) $(PYTEST_ARGS)

.PHONY: test-unit
test-unit: test-tools ## no kernel, no browser: small tests, the doctor's, and the lessons' files
	@$(STEP) "unit tests" $(PYTEST) $(or $(ONLY),$(ROOMS)) -m "small$(AND_MARKED)" $(PYTEST_ARGS)

.PHONY: test-fuzz
test-fuzz: test-tools ### made-up files of strangers through all that reads files; JUPYTER_MLGPU_FUZZ_SEED=7 makes up others
	@$(STEP) "strangers' files" $(PYTEST) tests/fuzz $(MARKED) $(PYTEST_ARGS)

.PHONY: test-integration
test-integration: test-tools ## with a real kernel
	@$(STEP) "integration tests" $(PYTEST) $(or $(ONLY),$(ROOMS)) -m "kernel$(AND_MARKED)" $(PYTEST_ARGS)

# There a framework that is missing is an error, and no reason to leave a test out; so is a library that trains.
REQUIRED := tensorflow,torch,jax,mlx,lightning,transformers,accelerate
RUN_FRAMEWORKS = env JUPYTER_MLGPU_REQUIRE=$(REQUIRED) $(RUN_TESTS) --environment $(FRAMEWORKS) $(FRAMEWORKS)/bin/python
# Those that need more than .venv has; what needs TensorFlow alone, or pandas, runs with the other parts. To read all files
# would take longer than to run these.
MORE := torch|jax|mlx|lightning|transformers|accelerate|xprof|viztracer
NEEDING = $(shell grep -rlE 'mark\.needs($$|.([^"]|.*"($(MORE))"))' $(ROOMS) --include='test_*.py')
# The contract suite has all frameworks in one process, where their imports are paid once.
.PHONY: test-frameworks
test-frameworks: test-tools ## over TensorFlow, PyTorch, JAX and MLX: the contract suite, and more
	@status=0; \
	$(STEP) "contract suite over every framework" \
		$(RUN_FRAMEWORKS) -- tests/measure/contract $(MARKED) $(PYTEST_ARGS) || status=1; \
	$(STEP) "tests that need several frameworks" \
		$(RUN_FRAMEWORKS) $(SPREAD) -- $(NEEDING) -m "needs and (small or kernel)$(AND_MARKED)" $(PYTEST_ARGS) || status=1; \
	exit $$status

# It times programs, so it is no part of `make test`: a machine that does something else beside it gets other answers.
.PHONY: test-limits
test-limits: $(FRAMEWORKS)/.packages ### the exam of what limits a cell: planted programs over every framework; 6 minutes
	@$(STEP) "what limits planted programs" $(FRAMEWORKS)/bin/python -m tests.limits $(LIMITS_ARGS)

.PHONY: test-metal
test-metal: test-tools ### TensorFlow and PyTorch on a Mac's GPU emulated on Linux; built by g++ where there is one
	@status=0; \
	$(STEP) "TensorFlow on an emulated Metal device" \
		$(RUN_TESTS) $(BIN)/python --numprocesses $(WORKERS) --dist loadfile -- tests/metal_emulator $(MARKED) $(PYTEST_ARGS) || status=1; \
	$(STEP) "PyTorch on an emulated MPS device" \
		$(RUN_FRAMEWORKS) --numprocesses $(WORKERS) --dist loadfile -- tests/mps_emulator $(MARKED) $(PYTEST_ARGS) || status=1; \
	exit $$status

.PHONY: test-ui
test-ui: test-tools browser ## a real JupyterLab in Chromium
	@$(STEP) "browser tests" $(PYTEST) $(or $(ONLY),tests/jupyter/lab) $(MARKED) $(PYTEST_ARGS)

# Their tests stand in tests/jupyter/lab, for they share its browser; test-ui says that they are run here.
.PHONY: test-front-ends
test-front-ends: test-tools browser ### JupyterLab 4.4 and Notebook 7
	@$(WITH) $(FRONT_ENDS) -- $(STEP) "tests with other front ends" \
		env JUPYTER_MLGPU_FRONT_ENDS=$(FRONT_ENDS)/bin/python \
		$(PYTEST) tests/jupyter/lab/test_other_front_ends.py $(PYTEST_ARGS)

.PHONY: test-hub
test-hub: test-tools browser ### a class behind a real JupyterHub 5 and 6
	@status=0; for hub in $(OLDER_HUB) $(FRONT_ENDS); do \
		$(WITH) $$hub -- $(STEP) "tests with the JupyterHub of $$hub" env JUPYTER_MLGPU_FRONT_ENDS=$$hub/bin/python \
			$(RUN_TESTS) $(BIN)/python -- tests/jupyter/lab/test_hub.py $(PYTEST_ARGS) || status=1; \
	done; exit $$status

# nbgrader draws feedback with nbconvert's templates, which are with the packages below.
.PHONY: test-class
test-class: test-tools ### grade the labs of made-up students with nbgrader
	@$(WITH) $(TOOLS) -- $(STEP) "labs under nbgrader" \
		env JUPYTER_MLGPU_REQUIRE=nbgrader JUPYTER_PATH=$(CURDIR)/$(VENV)/share/jupyter \
		$(RUN_TESTS) $(TOOLS)/bin/python -- tests/teach/classes $(PYTEST_ARGS)

.PHONY: test-peers
test-peers: test-tools ### suites of ipykernel, nbclient and IPython, plainly and with us; PEERS_ARGS=nbclient chooses
	@$(WITH) $(PEERS) -- $(STEP) "the suites of ipykernel, nbclient and IPython" \
		env PYTHONPATH=scripts $(PEERS)/bin/python tests/peers/peers.py --report $@ $(PEERS_ARGS)

# They start a JupyterHub, whose proxy came with the labextension's tools.
.PHONY: test-teacher
test-teacher: test-tools browser ### the teacher's view, over SQLite and PostgreSQL, in a browser, and with a real JupyterHub
	@$(STEP) "the teacher's view" env JUPYTER_MLGPU_REQUIRE=jupyterhub,sqlalchemy,psycopg \
		$(PYTEST) tests/teach/teacher $(MARKED) $(PYTEST_ARGS)

.PHONY: test-binder
test-binder: test-tools browser ### binder/ as far as it can be checked without Docker, the recipe for conda, the workflows
	@$(WITH) $(TOOLS) $(BINDER_IMAGE) -- $(STEP) "binder/, as far as it can be checked without Docker, and the workflows" \
		env JUPYTER_MLGPU_REQUIRE=repo2docker,check_jsonschema,rattler_build JUPYTER_MLGPU_BINDER_IMAGE=$(BINDER_IMAGE) \
		$(RUN_TESTS) $(TOOLS)/bin/python -- tests/binder $(PYTEST_ARGS)

.PHONY: test-docs
test-docs: test-tools browser ### build the documentation and look for what is missing in it
	@$(WITH) $(TOOLS) -- $(STEP) "tests of the documentation" $(RUN_TESTS) $(TOOLS)/bin/python -- tests/docs $(PYTEST_ARGS)

.PHONY: test-demo
test-demo: test-tools browser ### build the demo from the wheel, and read it in Chromium
	@$(WITH) $(DEMO) $(WHEEL) -- $(STEP) "tests of the demo" \
		env JUPYTER_MLGPU_REQUIRE=jupyterlite_core JUPYTER_MLGPU_WHEEL=$(WHEEL) \
		$(RUN_TESTS) $(DEMO)/bin/python -- tests/demo $(PYTEST_ARGS)

# tests/pages/pages.toml says which environments there are, and which page is typed in which.
PAGE_ENVIRONMENTS = env PYTHONPATH=scripts $(BIN)/python -m tests.pages.environments
.PHONY: test-pages
test-pages: test-tools ### type every block of every page, in environments made from the wheel; PYTEST_ARGS="-k tutorial" chooses
	@$(ENVIRONMENT) announce-torch $(BIN)/python
	@$(WITH) $(WHEEL) $(addprefix $(PAGES)/,$(shell $(PAGE_ENVIRONMENTS))) -- $(STEP) "blocks of pages" \
		env JUPYTER_MLGPU_PAGES=$(CURDIR)/$(PAGES) $(PYTEST) tests/pages $(PYTEST_ARGS)

TESTED_LESSONS = $(if $(filter not,$(MARKS)),$(FIRST_LESSONS),$(if $(MARKS),$(LATER_LESSONS),$(LESSONS) $(SOLUTIONS)))
# The first ones take seconds; the others compare speeds, so that each has the machine to itself.
LESSONS_AT_ONCE = $(if $(filter not,$(MARKS)),$(WORKERS),1)
# Offline: what a lesson prints of its data is the same on every machine. A lesson's cells share a kernel.
NBVAL = -p tests.conftest -p nbval.plugin --nbval-lax --nbval-current-env --nbval-cell-timeout 600 --timeout 0
.PHONY: test-lessons
test-lessons: test-tools ## run the lessons' cells and compare what they print with what is saved
	@$(STEP) "lessons under nbval" env JUPYTER_MLGPU_OFFLINE=1 $(RUN_TESTS) $(BIN)/python $(NBVAL) \
		--numprocesses $(LESSONS_AT_ONCE) --dist loadfile -- $(or $(ONLY),$(TESTED_LESSONS)) $(PYTEST_ARGS)

# What pyproject.toml and constraints/unit.txt are for; the first two have TensorFlow, and make .venv.
PYTHONS := 3.11 3.12 3.13 3.14
.PHONY: test-other-python
test-other-python: test-tools ### the unit tests under each other Python from 3.11 to 3.14 that is at hand
	@missing=; failed=; \
	for version in $(PYTHONS); do \
		case "`cat $(VENV)/.python`" in $$version.*) continue ;; esac; \
		if ! $(ENVIRONMENT) other $$version >/dev/null; then \
			missing="$$missing $$version"; \
			continue; \
		fi; \
		$(WITH) $(OTHER)$$version -- $(STEP) "unit tests under Python $$version" \
			$(RUN_TESTS) $(OTHER)$$version/bin/python $(SPREAD) -- $(ROOMS) --ignore tests/explain/doctor \
				--ignore tests/teach/lessons -m "small and not slow" $(PYTEST_ARGS) || failed="$$failed $$version"; \
	done; \
	for version in $$missing; do \
		echo "==> unit tests under Python $$version: not run, for none is at hand"; \
	done; \
	for version in $$failed; do echo "==> unit tests under Python $$version: FAILED"; done; \
	[ -z "$$failed" ]

# What people may have of each framework, by the ranges of pyproject.toml. It downloads several GB, and keeps nothing.
VERSIONS := tensorflow torch jax mlx
.PHONY: test-versions
test-versions: $(VENV)/.python ### the contract suite over the oldest and newest version of each framework; VERSIONS=torch chooses
	@$(STEP) "oldest and newest versions" $(BIN)/python scripts/framework_versions.py $(VERSIONS) --pythons $(PYTHONS) 3.14t

.PHONY: test-tools
test-tools: install $(VENV)/.tests ### add what tests and lint need to .venv

.PHONY: browser
browser: test-tools ### find a Chromium for the browser tests, or install one
	@$(STEP) "a Chromium for the browser tests" $(BIN)/python -m tests.support.browser

##@ Upkeep

# Passes the files that git tracks to a command: a user's own notebook is not linted.
LINTED = git ls-files -z "*.py" "*.ipynb" | xargs -0

.PHONY: lint
lint: test-tools ## ruff, mypy --strict, and the labextension's eslint, prettier and tsc
	@$(STEP) "ruff" sh -c '$(LINTED) $(BIN)/ruff check --force-exclude'
	@$(STEP) "ruff format" sh -c '$(LINTED) $(BIN)/ruff format --check --force-exclude'
	@$(STEP) "mypy" $(BIN)/mypy $(TYPED)
	@$(STEP) "eslint, prettier and tsc" sh -c "$(JLPM) lint"

.PHONY: format
format: test-tools ## let ruff, prettier and eslint rewrite what they can
	$(LINTED) $(BIN)/ruff check --fix --force-exclude
	$(LINTED) $(BIN)/ruff format --force-exclude
	$(JLPM) lint:fix

.PHONY: constraints
constraints: test-tools ### compile constraints/ from pyproject.toml (UPGRADE=1: newest versions)
	@$(STEP) "constraints" $(BIN)/python scripts/constraints.py $(if $(UPGRADE),--upgrade)

.PHONY: schemas
schemas: test-tools ## write the schemas of files, and what the browser knows of the package, anew from Python
	@$(BIN)/python scripts/schemas.py

# CITATION.cff tells the address that they have now.
.PHONY: addresses
addresses: ### write the repository's address, a line of pyproject.toml, where files name it
	@OLD=`sed -n 's/^repository-code: //p' CITATION.cff` NEW=`sed -n 's/^repository = "\(.*\)"/\1/p' pyproject.toml`; \
		export OLD NEW; git grep -lF "$$OLD" | xargs perl -pi -e 's/\Q$$ENV{OLD}\E/$$ENV{NEW}/g'

.PHONY: catalogues
catalogues: test-tools ## bring the translations of the package and of the lessons up to what the English says
	@$(BIN)/python scripts/catalogues.py
	@$(BIN)/python scripts/lesson_catalogues.py

.PHONY: docs
docs: test-tools ## build the documentation into build/docs/html, warnings as errors, and check its links
	@$(WITH) $(TOOLS) -- $(STEP) "documentation" $(TOOLS)/bin/python scripts/docs_site.py

.PHONY: demo
demo: test-tools ## build the demo, a JupyterLab of recorded cells without a kernel, into build/demo/site
	@$(WITH) $(DEMO) $(WHEEL) -- $(STEP) "the demo" sh -c "$(DEMO)/bin/python scripts/demo_site.py $(WHEEL)/*.whl"

.PHONY: benchmark
benchmark: $(FRAMEWORKS)/.packages ## what tracing costs, measured here; about 10 minutes, on a quiet machine
	@$(STEP) "what %load_ext costs" $(BIN)/python -m benchmarks load
	@$(STEP) "what tracing costs a cell" $(FRAMEWORKS)/bin/python -m benchmarks tracing
	@$(STEP) "what cells that write much cost" $(BIN)/python -m benchmarks output
	@$(STEP) "what the extension adds to JupyterLab's start" $(BIN)/python -m benchmarks sidebar --part start

.PHONY: dist
dist: test-tools ## build the wheel and the source distribution into dist/, and check both
	rm -rf dist
	@$(STEP) "building" $(BIN)/python -m build --no-isolation --outdir dist .
	@$(WITH) $(TOOLS) -- $(STEP) "checking" $(TOOLS)/bin/python -m twine check --strict dist/*.whl dist/*.tar.gz

.PHONY: lessons
lessons: test-tools ## run every lesson and its solutions, save their outputs; 25 minutes on 2 cores
	@$(STEP) "lessons" $(BIN)/python scripts/lessons.py $(LESSONS)

.PHONY: screenshots
screenshots: browser ### make the pictures of docs/images again, with the browser tests
	@JUPYTER_MLGPU_SCREENSHOTS=docs/images $(STEP) "screenshots" $(BIN)/python -m pytest tests/jupyter/lab tests/docs/test_pictures.py -k screenshot $(PYTEST_ARGS)
	@JUPYTER_MLGPU_SCREENSHOTS=docs/images $(MAKE) test-class PYTEST_ARGS="-k screenshot"

# What follows are files: each is made when it is missing or older than what it is made from.

# A Python given by hand may differ from the one .venv has: then .venv is made anew.
$(VENV)/.python: $(if $(PYTHON),FORCE)
	@$(ENVIRONMENT) create $(VENV) $(PYTHON)

$(VENV)/.packages: constraints/make.txt $(VENV)/.python
	@$(INSTALL_STEP) "installing JupyterLab, TensorFlow and what the lessons need into $(VENV), the first time in minutes" \
		$(BIN)/python $(FROM_LIST) $<
	@touch $@

$(NODE_MODULES): labextension/package.json labextension/yarn.lock labextension/.yarnrc.yml | $(VENV)/.packages
	@$(INSTALL_STEP) "installing the labextension's tools" sh -c "$(JLPM) install --immutable"
	@touch $@

$(LABEXTENSION): $(LABEXTENSION_SOURCES) $(NODE_MODULES)
	@$(INSTALL_STEP) "building the labextension" sh -c "$(JLPM) build:prod"
	@touch $@

# The labextension is built above, so the package's own build step is left out. Installing copies it
# to where JupyterLab looks.
$(VENV)/.project: pyproject.toml jupyter_mlgpu/_version.py install.json \
		$(wildcard jupyter-config/*/*.json) $(LABEXTENSION) $(VENV)/.packages
	@SKIP_JUPYTER_BUILDER=1 $(INSTALL_STEP) "installing jupyter_mlgpu into $(VENV)" \
		$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.tests: constraints/tests.txt $(VENV)/.packages
	@$(INSTALL_STEP) "installing what the tests need into $(VENV)" $(BIN)/python $(FROM_LIST) $<
	@touch $@

# It sees the packages of .venv, and holds only what is not there.
$(FRAMEWORKS)/.packages: constraints/frameworks.txt constraints/torch.txt $(VENV)/.project $(VENV)/.tests $(ENVIRONMENT)
	@$(ENVIRONMENT) above $(FRAMEWORKS) $(VENV)
	@$(INSTALL_STEP) "installing JAX, MLX, Lightning and transformers into $(FRAMEWORKS)" \
		$(FRAMEWORKS)/bin/python $(FROM_LIST) $<
	@$(INSTALL_TORCH)
	@touch $@

# A download of several GB is said first, before the quiet step.
INSTALL_TORCH = $(ENVIRONMENT) announce-torch $(@D)/bin/python && $(INSTALL_STEP) "installing PyTorch into $(@D)" \
	$(@D)/bin/python $(PIP_INSTALL) --only-binary :all: --constraint constraints/torch.txt torch

# These see the packages of .venv, too. nbgrader starts the program alembic, which has to be that of its own environment: so
# what .venv has of the list is installed again.
$(TOOLS)/.packages: constraints/tools.txt $(VENV)/.project $(VENV)/.tests
	@$(ENVIRONMENT) above $(@D) $(VENV)
	@$(INSTALL_STEP) "installing nbgrader, Sphinx, repo2docker and twine into $(@D)" \
		$(@D)/bin/python $(FROM_LIST) $< --ignore-installed
	@touch $@

$(PEERS)/.packages: constraints/peers.txt $(VENV)/.project $(VENV)/.tests
	@$(ENVIRONMENT) above $(@D) $(VENV)
	@$(INSTALL_STEP) "installing what the suites of others need into $(@D)" $(@D)/bin/python $(FROM_LIST) $<
	@touch $@

$(DEMO)/.packages: constraints/demo.txt $(VENV)/.project $(VENV)/.tests
	@$(ENVIRONMENT) above $(@D) $(VENV)
	@$(INSTALL_STEP) "installing JupyterLite into $(@D)" $(@D)/bin/python $(FROM_LIST) $<
	@touch $@

$(WHEEL)/.packages: $(VENV)/.project $(VENV)/.tests
	@$(INSTALL_STEP) "building the wheel" $(BIN)/python -m build --wheel --no-isolation --outdir $(@D) .
	@touch $@

# Those that follow see nothing of .venv.
$(PAGES)/%/.packages: $(WHEEL)/.packages
	@$(ENVIRONMENT) create $(@D) $(BIN)/python
	@$(INSTALL_STEP) "installing the wheel and its extras into $(@D)" $(PAGE_ENVIRONMENTS) $(@D) $(WHEEL)
	@touch $@

$(OTHER)%/.packages: constraints/unit.txt
	@rm -rf $(@D)
	@`$(ENVIRONMENT) other $*` -m venv $(@D)
	@$(INSTALL_STEP) "installing what the unit tests need into $(@D)" $(@D)/bin/python $(FROM_LIST) $<
	@touch $@

$(FRONT_ENDS)/.packages: constraints/front-ends.txt $(VENV)/.python
	@$(ENVIRONMENT) create $(@D) $(BIN)/python
	@$(INSTALL_STEP) "installing JupyterLab 4.4, Notebook 7 and JupyterHub 6 into $(@D)" $(@D)/bin/python $(FROM_LIST) $<
	@touch $@

$(OLDER_HUB)/.packages: constraints/hub-5.txt $(VENV)/.python
	@$(ENVIRONMENT) create $(@D) $(BIN)/python
	@$(INSTALL_STEP) "installing JupyterHub 5 and JupyterLab 4.4 into $(@D)" $(@D)/bin/python $(FROM_LIST) $<
	@touch $@

# Stands for Binder's image: nothing but the list, of today, installed as repo2docker does it. It runs Python 3.11;
# where none is at hand, the checks run on the Python of .venv, and say so.
$(BINDER_IMAGE)/.packages: binder/requirements.txt $(VENV)/.python
	@rm -rf $(@D)
	@$(ENVIRONMENT) create $(@D) "$$($(ENVIRONMENT) python python3.11 2>/dev/null || echo $(BIN)/python)"
	@$(INSTALL_STEP) "installing Binder's requirements into $(@D)" \
		$(@D)/bin/python $(PIP_INSTALL) --no-compile --requirement $<
	@touch $@
