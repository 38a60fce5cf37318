# Two commands: `make lab` and `make test`. `make help` explains the rest.
# Written for GNU make 3.81 (a Mac's own) and newer.

# Arguments that a caller may give, as in `make PYTHON=python3.12 lab`.
PYTHON ?=
LAB_ARGS ?=
PYTEST_ARGS ?=
BENCHMARK_ARGS ?=
PEERS_ARGS ?=
UPGRADE ?=
LIMITS_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
OTHER := .venv-other
FRAMEWORKS := .venv-frameworks
FRONT_ENDS := .venv-front-ends
OLDER_HUB := .venv-hub-5
BENCHMARK := .venv-benchmark
CLASS := .venv-class
TEACHER := .venv-teacher
PEERS := .venv-peers
BINDER := .venv-binder
BINDER_IMAGE := .venv-binder-image
DOCS := .venv-docs
# In recipes, tools of .venv come first: jlpm finds its node there, and no other Node is needed.
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Containers are often told to keep no compiled files. Each of the hundreds of kernels and processes that the tests start
# would compile the whole package anew.
export PYTHONDONTWRITEBYTECODE :=

STEP := scripts/step.sh
PIP_INSTALL := -m pip install --disable-pip-version-check
FROM_LIST := $(PIP_INSTALL) --require-hashes --no-deps --only-binary :all: --requirement
JLPM := cd labextension && jlpm

FIRST_LESSON := notebooks/00_start_here.ipynb
# `make test` runs the first lessons, `make test-all` the others, and all solutions.
FIRST_LESSONS := $(wildcard notebooks/0[0-3]_*.ipynb)
LESSONS := $(wildcard notebooks/*.ipynb)
SOLUTIONS := $(wildcard notebooks/solutions/*.ipynb)
LATER_LESSONS := $(filter-out $(FIRST_LESSONS),$(LESSONS)) $(SOLUTIONS)

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
lab: install ## build everything and open JupyterLab on the first lesson
	@echo "==> JupyterLab (Ctrl-C stops it)"
	@# JupyterLab refuses to start as root, which is who one is in most containers.
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) $(FIRST_LESSON) $(LAB_ARGS)

.PHONY: install
install: $(VENV)/.project ## make .venv with everything in it, without opening anything

.PHONY: clean
clean: ## remove everything that make made, .venv too
	rm -rf $(VENV) $(OTHER) $(FRAMEWORKS) $(FRONT_ENDS) $(OLDER_HUB) $(BENCHMARK) $(CLASS) $(TEACHER) $(DOCS)
	rm -rf $(PEERS)
	rm -rf $(BINDER) $(BINDER_IMAGE) dist build
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
ROOMS := $(addprefix tests/,record measure explain graphs experiment show jupyter teach structure limits)
# What every part tells at its end is kept here, for the summary.
REPORTS := build/test-reports

.PHONY: test
test: ## the tests of every part of the project, 12 minutes on 2 cores; PYTEST_ARGS="-k receipt" chooses among them
	@rm -rf $(REPORTS)
	@$(MAKE) --no-print-directory $(TEST_PARTS) test-summary MARKS="not slow" || \
		{ $(MAKE) --no-print-directory test-summary; exit 1; }

.PHONY: test-summary
test-summary: ## how the parts of the last `make test` ended, and what was skipped
	@$(BIN)/python scripts/tests_summary.py $(REPORTS) "make test"

.PHONY: test-all
test-all: install ## what make test leaves out: slow tests, other versions, all lessons, a hub, a class, the documentation
	@$(BIN)/python scripts/other_tests.py

# What a part tells at its end is kept under its name.
PART = env JUPYTER_MLGPU_TEST_REPORT=$(REPORTS)/$@
PYTEST_HERE = $(PART) $(BIN)/python -m pytest
WORKERS := 2
SPREAD = --numprocesses $(WORKERS) --dist worksteal
PYTEST = $(PYTEST_HERE) $(SPREAD)

.PHONY: test-labextension
test-labextension: install ### the labextension's own functions, in Node
	@$(STEP) "labextension tests" sh -c "$(JLPM) test"

.PHONY: test-packaging
test-packaging: install ### the package, its pinned versions, this Makefile
	@$(STEP) "packaging tests" $(PYTEST) tests/packaging $(MARKED) $(PYTEST_ARGS)

.PHONY: test-unit
test-unit: install ## no kernel, no browser: small tests, the doctor's, and the lessons' files
	@$(STEP) "unit tests" $(PYTEST) $(ROOMS) -m "small$(AND_MARKED)" $(PYTEST_ARGS)

.PHONY: test-fuzz
test-fuzz: install ### made-up files of strangers through all that reads files; JUPYTER_MLGPU_FUZZ_SEED=7 makes up others
	@$(STEP) "strangers' files" $(PYTEST) tests/fuzz $(MARKED) $(PYTEST_ARGS)

.PHONY: test-integration
test-integration: install ## with a real kernel
	@$(STEP) "integration tests" $(PYTEST) $(ROOMS) -m "kernel$(AND_MARKED)" $(PYTEST_ARGS)

# There a framework that is missing is an error, and no reason to leave a test out; so is a library that trains.
REQUIRED := tensorflow,torch,jax,mlx,lightning,transformers,accelerate
PYTEST_FRAMEWORKS = $(PART) JUPYTER_MLGPU_REQUIRE=$(REQUIRED) $(FRAMEWORKS)/bin/python -m pytest
# Those that need more than .venv has; what needs TensorFlow alone, or pandas, runs with the other parts. To read all files
# would take longer than to run these.
MORE := torch|jax|mlx|lightning|transformers|accelerate|xprof|viztracer
NEEDING = $(shell grep -rlE 'mark\.needs($$|.([^"]|.*"($(MORE))"))' $(ROOMS) --include='test_*.py')
# The contract suite has all frameworks in one process, where their imports are paid once.
.PHONY: test-frameworks
test-frameworks: $(FRAMEWORKS)/.packages ## over TensorFlow, PyTorch, JAX and MLX: the contract suite, and more
	@$(STEP) "contract suite over every framework" $(PYTEST_FRAMEWORKS) tests/measure/contract $(MARKED) $(PYTEST_ARGS)
	@$(STEP) "tests that need several frameworks" $(PYTEST_FRAMEWORKS) $(SPREAD) $(NEEDING) \
		-m "needs and (small or kernel)$(AND_MARKED)" $(PYTEST_ARGS)

# It times programs, so it is no part of `make test`: a machine that does something else beside it gets other answers.
.PHONY: test-limits
test-limits: $(FRAMEWORKS)/.packages ### the exam of what limits a cell: planted programs over every framework; 6 minutes
	@$(STEP) "what limits planted programs" $(FRAMEWORKS)/bin/python -m tests.limits $(LIMITS_ARGS)

.PHONY: test-metal
test-metal: install ### TensorFlow on a Metal device emulated on Linux; built by g++ where there is one
	@$(STEP) "TensorFlow on an emulated Metal device" $(PYTEST_HERE) --numprocesses $(WORKERS) --dist loadfile \
		tests/metal_emulator $(MARKED) $(PYTEST_ARGS)

.PHONY: test-ui
test-ui: install browser ## a real JupyterLab in Chromium
	@$(STEP) "browser tests" $(PYTEST) tests/jupyter/lab $(MARKED) $(PYTEST_ARGS)

# Their tests stand in tests/jupyter/lab, for they share its browser; test-ui says that they are run here.
PYTEST_FRONT_ENDS = env JUPYTER_MLGPU_FRONT_ENDS=$(FRONT_ENDS)/bin/python $(PYTEST_HERE)
.PHONY: test-front-ends
test-front-ends: install browser $(FRONT_ENDS)/.packages ### JupyterLab 4.4 and Notebook 7
	@$(STEP) "tests with other front ends" $(PYTEST_FRONT_ENDS) tests/jupyter/lab/test_other_front_ends.py $(PYTEST_ARGS)

.PHONY: test-hub
test-hub: install browser $(OLDER_HUB)/.packages $(FRONT_ENDS)/.packages ### a class behind a real JupyterHub 5 and 6
	@$(STEP) "tests with JupyterHub 5" env JUPYTER_MLGPU_FRONT_ENDS=$(OLDER_HUB)/bin/python \
		$(PYTEST_HERE) tests/jupyter/lab/test_hub.py $(PYTEST_ARGS)
	@$(STEP) "tests with JupyterHub 6" $(PYTEST_FRONT_ENDS) tests/jupyter/lab/test_hub.py $(PYTEST_ARGS)

# nbgrader draws feedback with nbconvert's templates, which are with the packages below.
PYTEST_CLASS = $(PART) JUPYTER_MLGPU_REQUIRE=nbgrader JUPYTER_PATH=$(CURDIR)/$(VENV)/share/jupyter \
	$(CLASS)/bin/python -m pytest
.PHONY: test-class
test-class: $(CLASS)/.packages ### grade the labs of made-up students with nbgrader
	@$(STEP) "labs under nbgrader" $(PYTEST_CLASS) tests/teach/classes $(PYTEST_ARGS)

.PHONY: test-peers
test-peers: $(PEERS)/.packages ### suites of ipykernel, nbclient and IPython, plainly and with us; PEERS_ARGS=nbclient chooses
	@$(STEP) "the suites of ipykernel, nbclient and IPython" $(PART) $(PEERS)/bin/python scripts/peers.py $(PEERS_ARGS)

# They start a JupyterHub, whose proxy came with the labextension's tools.
PYTEST_TEACHER = $(PART) JUPYTER_MLGPU_REQUIRE=jupyterhub,sqlalchemy,psycopg \
	$(TEACHER)/bin/python -m pytest $(SPREAD)
.PHONY: test-teacher
test-teacher: $(TEACHER)/.packages ### the teacher's view, over SQLite and PostgreSQL, and with a real JupyterHub
	@$(STEP) "the teacher's view" $(PYTEST_TEACHER) tests/teach/teacher $(MARKED) $(PYTEST_ARGS)

PYTEST_BINDER = $(PART) JUPYTER_MLGPU_REQUIRE=repo2docker,check_jsonschema,rattler_build \
	JUPYTER_MLGPU_BINDER_IMAGE=$(BINDER_IMAGE) $(BINDER)/bin/python -m pytest
# The first step is the check, the second plants mistakes that it has to refuse.
.PHONY: test-binder
test-binder: install browser $(BINDER)/.packages $(BINDER_IMAGE)/.packages ### binder/ without Docker, and the workflows
	@$(STEP) "binder/, as far as it can be checked without Docker" \
		$(BINDER)/bin/python scripts/check_binder.py $(BINDER_IMAGE)
	@$(STEP) "mistakes planted in binder/ and in the workflows" $(PYTEST_BINDER) tests/binder $(PYTEST_ARGS)

.PHONY: test-docs
test-docs: $(DOCS)/.packages ### build the documentation and look for what is missing in it
	@$(STEP) "tests of the documentation" $(PART) $(DOCS)/bin/python -m pytest tests/docs $(PYTEST_ARGS)

TESTED_LESSONS = $(if $(filter not,$(MARKS)),$(FIRST_LESSONS),$(if $(MARKS),$(LATER_LESSONS),$(LESSONS) $(SOLUTIONS)))
# The first ones take seconds; the others compare speeds, so that each has the machine to itself.
LESSONS_AT_ONCE = $(if $(filter not,$(MARKS)),$(WORKERS),1)
# Offline: what a lesson prints of its data is the same on every machine. A lesson's cells share a kernel.
NBVAL = $(PART) JUPYTER_MLGPU_OFFLINE=1 $(BIN)/python -m pytest -p tests.conftest -p nbval.plugin \
	--numprocesses $(LESSONS_AT_ONCE) --dist loadfile \
	--nbval-lax --nbval-current-env --nbval-cell-timeout 600 --timeout 0
.PHONY: test-lessons
test-lessons: install ## run the lessons' cells and compare what they print with what is saved
	@$(STEP) "lessons under nbval" $(NBVAL) $(TESTED_LESSONS) $(PYTEST_ARGS)

# What pyproject.toml and constraints/unit.txt are for; the first two have TensorFlow, and make .venv.
PYTHONS := 3.11 3.12 3.13 3.14
.PHONY: test-other-python
test-other-python: install ### the unit tests under each other Python from 3.11 to 3.14 that is at hand
	@missing=; failed=; \
	for version in $(PYTHONS); do \
		case "`cat $(VENV)/.python`" in $$version.*) continue ;; esac; \
		if ! scripts/find_other_python.sh $$version >/dev/null; then \
			missing="$$missing $$version"; \
			continue; \
		fi; \
		$(MAKE) --no-print-directory $(OTHER)/$$version/.packages && \
		$(STEP) "unit tests under Python $$version" \
			$(PART) $(OTHER)/$$version/bin/python -m pytest $(SPREAD) $(ROOMS) --ignore tests/explain/doctor \
				--ignore tests/teach/lessons -m "small and not slow" $(PYTEST_ARGS) || failed="$$failed $$version"; \
	done; \
	for version in $$missing; do \
		echo "==> unit tests under Python $$version: not run, for none is at hand"; \
	done; \
	for version in $$failed; do echo "==> unit tests under Python $$version: FAILED"; done; \
	[ -z "$$failed" ]

.PHONY: browser
browser: install ### find a Chromium for the browser tests, or install one
	@$(STEP) "a Chromium for the browser tests" $(BIN)/python scripts/browser.py

##@ Upkeep

.PHONY: lint
lint: install ## ruff, mypy --strict, and the labextension's eslint, prettier and tsc
	@$(STEP) "ruff" $(BIN)/ruff check .
	@$(STEP) "ruff format" $(BIN)/ruff format --check .
	@$(STEP) "mypy" $(BIN)/mypy $(TYPED)
	@$(STEP) "eslint, prettier and tsc" sh -c "$(JLPM) lint"

.PHONY: format
format: install ## let ruff, prettier and eslint rewrite what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(JLPM) lint:fix

.PHONY: constraints
constraints: $(VENV)/.packages ### compile constraints/ from pyproject.toml (UPGRADE=1: newest versions)
	@$(STEP) "constraints" $(BIN)/python scripts/constraints.py $(if $(UPGRADE),--upgrade)

.PHONY: schemas
schemas: $(VENV)/.packages ## write the schemas of files, and what the browser knows of the package, anew from Python
	@$(BIN)/python scripts/schemas.py

.PHONY: addresses
addresses: $(VENV)/.packages ### write the repository's address, a line of pyproject.toml, where files name it
	@$(BIN)/python scripts/addresses.py

.PHONY: catalogues
catalogues: $(VENV)/.packages ## bring the translations in jupyter_mlgpu/record/locale up to what the sources say
	@$(BIN)/python scripts/catalogues.py

.PHONY: docs
docs: $(DOCS)/.packages ## build the documentation into build/docs/html, warnings as errors, and check its links
	@$(STEP) "documentation" $(DOCS)/bin/python scripts/docs_site.py

.PHONY: benchmark
benchmark: install ## what tracing costs, measured here; about 10 minutes, on a quiet machine
	@$(STEP) "what %load_ext costs" $(BIN)/python -m benchmarks.load_ext
	@$(STEP) "what tracing costs a cell" $(BIN)/python -m benchmarks.cell_cost
	@$(STEP) "what capturing native lines costs" $(BIN)/python -m benchmarks.capture
	@$(STEP) "what choosing a device costs" $(BIN)/python -m benchmarks.device_scope
	@$(STEP) "explaining a log of 100 MB" $(BIN)/python -m benchmarks.explain
	@$(STEP) "a training step of mlcompute beside Keras" $(BIN)/python -m benchmarks.mlcompute
	@$(STEP) "what the extension adds to JupyterLab's start" $(BIN)/python -m benchmarks.lab_start

.PHONY: benchmark-profilers
benchmark-profilers: $(BENCHMARK)/.packages ### what tracing costs beside JUmPER, scalene and viztracer; half an hour
	@$(STEP) "what tracing costs, beside other tools" $(BENCHMARK)/bin/python -m benchmarks.profilers \
		--markdown docs/measurements/profilers.md $(BENCHMARK_ARGS)

.PHONY: dist
dist: install $(BINDER)/.packages ## build the wheel and the source distribution into dist/, and check both
	rm -rf dist
	@$(STEP) "building" $(BIN)/python -m build --no-isolation --outdir dist .
	@$(STEP) "checking" $(BINDER)/bin/python -m twine check --strict dist/*.whl dist/*.tar.gz

.PHONY: lessons
lessons: install ## run every lesson and its solutions, save their outputs; 50 minutes at most on 2 cores
	@$(STEP) "lessons" $(BIN)/python scripts/lessons.py $(LESSONS)

.PHONY: screenshots
screenshots: install browser ### make the pictures of docs/images again, with the browser tests
	@JUPYTER_MLGPU_SCREENSHOTS=docs/images $(STEP) "screenshots" $(BIN)/python -m pytest tests/jupyter/lab -k screenshot $(PYTEST_ARGS)

# What follows are files: each is made when it is missing or older than what it is made from.

# A Python given by hand may differ from the one .venv has: then .venv is made anew.
$(VENV)/.python: $(if $(PYTHON),FORCE)
	@scripts/make_venv.sh $(VENV) $(PYTHON)

$(VENV)/.packages: constraints/make.txt $(VENV)/.python
	@$(STEP) "installing the pinned packages into $(VENV) (the first time takes minutes)" \
		$(BIN)/python $(FROM_LIST) $<
	@touch $@

$(NODE_MODULES): labextension/package.json labextension/yarn.lock labextension/.yarnrc.yml | $(VENV)/.packages
	@$(STEP) "installing the labextension's tools" sh -c "$(JLPM) install --immutable"
	@touch $@

$(LABEXTENSION): $(LABEXTENSION_SOURCES) $(NODE_MODULES)
	@$(STEP) "building the labextension" sh -c "$(JLPM) build:prod"
	@touch $@

# The labextension is built above, so the package's own build step is left out. Installing copies it
# to where JupyterLab looks.
$(VENV)/.project: pyproject.toml jupyter_mlgpu/_version.py install.json \
		$(wildcard jupyter-config/*/*.json) $(LABEXTENSION) $(VENV)/.packages
	@SKIP_JUPYTER_BUILDER=1 $(STEP) "installing jupyter_mlgpu into $(VENV)" \
		$(BIN)/python $(PIP_INSTALL) --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(OTHER)/%/.packages: constraints/unit.txt
	@rm -rf $(OTHER)/$*
	@`scripts/find_other_python.sh $*` -m venv $(OTHER)/$*
	@$(STEP) "installing what the unit tests need into $(OTHER)/$*" \
		$(OTHER)/$*/bin/python $(FROM_LIST) $< --quiet
	@touch $@

$(FRONT_ENDS)/.python: $(VENV)/.python
	@scripts/make_venv.sh $(FRONT_ENDS) $(BIN)/python

$(FRONT_ENDS)/.packages: constraints/front-ends.txt $(FRONT_ENDS)/.python
	@$(STEP) "installing JupyterLab 4.4, Notebook 7 and JupyterHub into $(FRONT_ENDS)" \
		$(FRONT_ENDS)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

$(OLDER_HUB)/.python: $(VENV)/.python
	@scripts/make_venv.sh $(OLDER_HUB) $(BIN)/python

$(OLDER_HUB)/.packages: constraints/hub-5.txt $(OLDER_HUB)/.python
	@$(STEP) "installing JupyterHub 5 and JupyterLab 4.4 into $(OLDER_HUB)" \
		$(OLDER_HUB)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

# It sees the packages of .venv, and holds only what is not there.
$(FRAMEWORKS)/.packages: constraints/frameworks.txt constraints/torch.txt $(VENV)/.project \
		scripts/make_venv_above.sh scripts/install_torch.py
	@scripts/make_venv_above.sh $(FRAMEWORKS) $(VENV)
	@$(STEP) "installing JAX, MLX, Lightning and transformers into $(FRAMEWORKS)" \
		$(FRAMEWORKS)/bin/python $(FROM_LIST) $< --quiet
	@$(STEP) "installing PyTorch into $(FRAMEWORKS)" $(FRAMEWORKS)/bin/python scripts/install_torch.py
	@touch $@

# It sees the packages of .venv, too.
$(CLASS)/.packages: constraints/class.txt $(VENV)/.project scripts/make_venv_above.sh
	@scripts/make_venv_above.sh $(CLASS) $(VENV)
	@$(STEP) "installing nbgrader into $(CLASS)" $(CLASS)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

# It sees the packages of .venv, too.
$(PEERS)/.packages: constraints/peers.txt $(VENV)/.project scripts/make_venv_above.sh
	@scripts/make_venv_above.sh $(PEERS) $(VENV)
	@$(STEP) "installing what the suites of others need into $(PEERS)" \
		$(PEERS)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

# It sees the packages of .venv, too.
$(TEACHER)/.packages: constraints/teacher.txt $(VENV)/.project scripts/make_venv_above.sh
	@scripts/make_venv_above.sh $(TEACHER) $(VENV)
	@$(STEP) "installing JupyterHub, SQLAlchemy and psycopg into $(TEACHER)" \
		$(TEACHER)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

# repo2docker, and what validates workflows: above .venv, too.
$(BINDER)/.packages: constraints/binder.txt $(VENV)/.project scripts/make_venv_above.sh
	@scripts/make_venv_above.sh $(BINDER) $(VENV)
	@$(STEP) "installing repo2docker, rattler-build and check-jsonschema into $(BINDER)" \
		$(BINDER)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

# Stands for Binder's image: nothing but the list, of today, installed as repo2docker does it. It runs Python 3.11;
# where none is at hand, the checks run on the Python of .venv, and say so.
$(BINDER_IMAGE)/.packages: binder/requirements.txt $(VENV)/.python
	@rm -rf $(BINDER_IMAGE)
	@scripts/make_venv.sh $(BINDER_IMAGE) \
		"$$(scripts/find_python.sh python3.11 2>/dev/null || echo $(BIN)/python)"
	@$(STEP) "installing Binder's requirements into $(BINDER_IMAGE)" \
		$(BINDER_IMAGE)/bin/python $(PIP_INSTALL) --no-compile --quiet --requirement $<
	@touch $@

# Above .venv as well, for pages are made of what the package says of itself.
$(DOCS)/.packages: constraints/docs.txt $(VENV)/.project scripts/make_venv_above.sh
	@scripts/make_venv_above.sh $(DOCS) $(VENV)
	@$(STEP) "installing Sphinx into $(DOCS)" $(DOCS)/bin/python $(FROM_LIST) $< --quiet
	@touch $@

# Above .venv too, and apart from $(FRAMEWORKS): no test needs these tools.
$(BENCHMARK)/.packages: constraints/benchmark.txt constraints/torch.txt $(VENV)/.project \
		scripts/make_venv_above.sh scripts/install_torch.py
	@scripts/make_venv_above.sh $(BENCHMARK) $(VENV)
	@$(STEP) "installing JAX, JUmPER, scalene and viztracer into $(BENCHMARK)" \
		$(BENCHMARK)/bin/python $(FROM_LIST) $< --quiet
	@$(STEP) "installing PyTorch into $(BENCHMARK)" $(BENCHMARK)/bin/python scripts/install_torch.py
	@touch $@
