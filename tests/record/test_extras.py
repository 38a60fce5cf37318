"""What only an extra brings is asked for in one sentence, and what is in the package needs nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from jupyter_mlgpu.record import extras
from jupyter_mlgpu.record.errors import MissingPackageError

#: In a fresh process where none of these can be imported, as in an environment with ipykernel alone.
WITHOUT = """
import importlib.abc, sys
names = {"anywidget", "babel", "ipyparallel", "ipywidgets", "jupyter_server", "jupyterlab", "matplotlib",
         "nbclient", "nbformat", "nbgrader", "numpy", "pandas", "plotly", "sqlalchemy"}
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import jupyter_mlgpu
"""


def without_extras(code: str) -> subprocess.CompletedProcess[str]:
    """Run code where only what a kernel needs can be imported."""
    return subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True)


def command_without_extras(words: str) -> subprocess.CompletedProcess[str]:
    """Run `jupyter mlgpu WORDS` there."""
    return without_extras(f"from jupyter_mlgpu.jupyter.cli import main; sys.exit(main({words!r}.split()))")


def test_what_is_missing_is_said_with_the_extra_that_brings_it():
    with pytest.raises(MissingPackageError) as refused:
        extras.require("A table", "dataframe", "json", "no_such_package")
    assert str(refused.value) == (
        "A table needs the package no_such_package, which is not installed in this Python: "
        'run `pip install "jupyter_mlgpu[dataframe]"`.'
    )


def test_nothing_is_said_where_all_is_there():
    extras.require("A table", "dataframe", "json", "email.message")


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("jupyter_mlgpu.records().to_frame()", "pandas", "dataframe"),
        ("jupyter_mlgpu.TraceView()", "anywidget", "lab"),
        ("import jupyter_mlgpu.mlcompute", "numpy", "lessons"),
        ("from jupyter_mlgpu.lessons import check; check('add', None)", "numpy", "lessons"),
        ("from jupyter_mlgpu.lessons import engines; engines(2)", "ipyparallel", "lessons"),
        ("from jupyter_mlgpu.show.page.rendering import figure_of; figure_of(None, 0)", "plotly", "lab"),
    ],
)
def test_each_thing_that_needs_more_says_so(code, package, extra):
    done = without_extras(code)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("jupyter_mlgpu.record.errors.MissingPackageError: "), done.stderr
    assert f" needs the package {package}, which is not installed in this Python" in last
    assert f'`pip install "jupyter_mlgpu[{extra}]"`' in last


@pytest.mark.parametrize(
    ("words", "package", "extra"),
    [
        ("run {folder}/a.ipynb --out {folder}/results", "nbclient", "report"),
        ("class grade {folder} --lab lab", "nbgrader", "classroom"),
    ],
)
def test_a_command_that_needs_more_says_so_and_does_nothing(tmp_path, words, package, extra):
    (tmp_path / "source" / "lab").mkdir(parents=True)
    (tmp_path / "source" / "lab" / "lab.ipynb").write_text("{}", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    done = command_without_extras(words.format(folder=tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("jupyter mlgpu: ")
    assert len(done.stderr.splitlines()) == 1
    assert f"needs the package {package}," in done.stderr
    assert f"[{extra}]" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", ["--help", "doctor", "bench --help", "explain --help"])
def test_other_commands_need_nothing_else(command):
    done = command_without_extras(command)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


def test_a_block_is_traced_and_shown_with_nothing_else():
    done = without_extras(
        "with jupyter_mlgpu.trace('sum') as record: sum(range(9))\n"
        "from jupyter_mlgpu.record.translation import messages\n"
        "print(record.reading('wall_time').value > 0, len(messages('zh')) > 100)"
    )
    assert done.stdout == "True True\n", done.stderr


def test_ipython_shows_the_sentence_alone():
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    code = (
        "from jupyter_mlgpu.record.extras import require\nrequire('A table', 'dataframe', 'no_such_package')"
    )
    with capture_output() as shown:
        shell.run_cell(code)
    said = "A table needs the package no_such_package, which is not installed in this Python: run"
    line = 'pip install "jupyter_mlgpu[dataframe]"'
    assert shown.stdout.strip() == f"MissingPackageError: {said} `{line}`."
