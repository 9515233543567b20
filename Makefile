# Two commands: `make demo` shows what ecoc does, `make test` tests it; both set up .venv by
# themselves. CI also runs `make lint types package docs test-slow`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Some package indexes make pip warn about places they do not have; only errors matter here.
QUIETLY := 2>$(VENV)/pip.log || { cat $(VENV)/pip.log >&2; exit 1; }
DEMO := demo

.PHONY: demo test test-slow lint types package docs clean

demo: $(VENV)/.core
	@mkdir -p $(DEMO)
	@sh tools/demo.sh $(BIN)/ecoc $(DEMO)

# What one process has compiled the others find, modules as well: some environments forbid that.
test test-slow: export PYTHONDONTWRITEBYTECODE =
test test-slow: export OMP_NUM_THREADS = 1
test: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs 2 $(KERNELS)
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

# What is left out there: whole programs, as every benchmark on its smallest setting, several
# processes, storms of requests and of broken files.
test-slow: $(VENV)/.dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m slow tests

package: $(VENV)/.dev
	@mkdir -p build && rm -rf build/dist
	@$(BIN)/python -m build --no-isolation --outdir build/dist . >build/build.log 2>&1 \
		|| { cat build/build.log >&2; exit 1; }
	@$(BIN)/python -m twine check --strict build/dist/* | sed 's/^/twine: /'

docs: $(VENV)/.dev
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs build/docs
	@echo "docs: build/docs/index.html"

lint: $(VENV)/.dev
	@mkdir -p build
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/codespell
	@$(BIN)/lint-imports >build/imports.log || { cat build/imports.log >&2; exit 1; }

types: $(VENV)/.dev
	@$(BIN)/mypy

# In parts, so that no core waits: they take nearly as long as all of mypy.
KERNELS := $(addprefix kernels-,design graphs constructions others)
.PHONY: $(KERNELS)
$(KERNELS): kernels-%: $(VENV)/.dev
	@$(BIN)/python tools/compile_kernels.py $*

$(VENV)/bin/python:
	@echo "setting up $(VENV) (once)" >&2
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing ecoc into $(VENV)" >&2
	@$(PIP) -e . $(QUIETLY)
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing ecoc and its development tools into $(VENV)" >&2
	@$(PIP) -e ".[dev]" $(QUIETLY)
	@touch $(VENV)/.core $@

clean:
	@rm -rf $(VENV) $(DEMO) build docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
