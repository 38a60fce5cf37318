"""The wheel in fresh environments: alone, with JupyterLab, and with the lessons. Minutes of installing."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from constraints import ROOT
from tests.packaging.conftest import Environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

#: Two ways to run cells without a page.
CONSOLES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"][
    "consoles"
]
#: Bytes that the package may add to an environment with ipykernel.
LIMIT = 45_000_000
RECEIPT = r"\[mlgpu\] [\d.]+ (µs|ms|s) · peak memory [\d.]+ MiB"

#: Runs a notebook as any client does that knows nothing of us, and prints the kinds of its cells' outputs.
NOTEBOOK = """
import json, nbformat
from nbclient import NotebookClient
cells = [nbformat.v4.new_code_cell(code) for code in ("%load_ext jupyter_mlgpu", "6 * 7")]
notebook = nbformat.v4.new_notebook(cells=cells)
NotebookClient(notebook, kernel_name="python3").execute()
print(json.dumps([[sorted(one.get("data", {})) for one in cell.outputs] for cell in notebook.cells]))
"""
#: Runs a notebook of a file, and fails where a cell does.
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
print(sum(cell.cell_type == "code" for cell in notebook.cells))
"""


@pytest.fixture(scope="module")
def core(environment: Callable[..., Environment]) -> Environment:
    """The package alone, and two clients of kernels without a page."""
    return environment("", *CONSOLES)


@pytest.fixture(scope="module")
def lab(environment: Callable[..., Environment]) -> Environment:
    """What people install."""
    return environment("lab")


def test_the_package_alone_has_all_that_it_asks_for_and_nothing_of_a_page(core: Environment) -> None:
    checked = core.run("-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout
    listed = core.run("-m", "pip", "list").stdout.lower()
    assert "ipykernel" in listed
    for absent in ("jupyterlab", "jupyter_server", "plotly", "anywidget", "ipywidgets", "numpy", "babel"):
        assert f"\n{absent} " not in listed


def test_the_package_alone_adds_little_to_an_environment_with_ipykernel(
    core: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import installed_sizes; print(sum(installed_sizes.added().values()))"
    done = core.run("-c", code, PYTHONPATH=str(ROOT / "docs/measurements/2026-11-26-install"))
    assert done.returncode == 0, done.stderr
    with capsys.disabled():
        print(f"\n    the package alone adds {int(done.stdout) / 1e6:.1f} MB")
    assert 1_000_000 < int(done.stdout) < LIMIT


def test_the_package_alone_traces_the_cells_of_nbclient(core: Environment) -> None:
    done = core.run("-c", NOTEBOOK)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        '[[], [["text/plain"], ["application/vnd.jupyter-mlgpu.record+json", "text/html", "text/plain"]]]\n'
    )


def test_the_package_alone_traces_the_cells_of_jupyter_console(core: Environment) -> None:
    console = pexpect.spawn(
        str(core.python),
        ["-m", "jupyter_console", "--simple-prompt", "--kernel", "python3"],
        encoding="utf-8",
        timeout=120,
        cwd=str(core.folder),
        env={**core.variables, "LC_ALL": "C.UTF-8"},
        dimensions=(40, 200),
    )
    with console:
        console.expect(r"In \[1\]")
        console.sendline("%load_ext jupyter_mlgpu")
        console.expect(r"In \[2\]")
        console.sendline("6 * 7")
        console.expect("42")
        console.expect(RECEIPT)
        console.expect(r"In \[3\]")


def test_with_jupyterlab_a_browser_finds_what_it_needs(lab: Environment) -> None:
    checked = lab.run("-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout
    for words, name in (
        (["labextension", "list"], "jupyter-mlgpu v"),
        (["server", "extension", "list"], "jupyter_mlgpu.serverextension"),
    ):
        done = lab.run("-m", "jupyter", *words)
        said = done.stdout + done.stderr
        assert name in said
        assert "OK" in said[said.index(name) :]


def test_with_jupyterlab_the_first_minute_goes_as_in_a_checkout(lab: Environment, core: Environment) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "tests/jupyter/lab/test_starting.py",
         "tests/jupyter/lab/test_two_environments.py"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={
            **os.environ,
            "JUPYTER_MLGPU_LAB": str(lab.python),
            "JUPYTER_MLGPU_KERNEL": str(core.python),
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert "skipped" not in done.stdout.splitlines()[-1]


def test_a_learner_copies_the_lessons_and_runs_the_first(
    environment: Callable[..., Environment], tmp_path: Path
) -> None:
    lessons = environment("lab,lessons", *CONSOLES)
    copied = lessons.run("-m", "jupyter", "mlgpu", "lessons", tmp_path / "lessons", "--language", "zh")
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "lessons/zh/00_start_here.ipynb").is_file()
    first = tmp_path / "lessons" / "00_start_here.ipynb"
    done = lessons.run("-c", RUN, first, JUPYTER_MLGPU_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 3
