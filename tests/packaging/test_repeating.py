"""A test that fails is run once more, alone in a fresh process, and nothing else is ever repeated."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import run_tests
import tests_summary
from run_tests import NodeRunner, PytestRunner

from constraints import ROOT

#: Passes from its second process on, as a test does that a busy machine has failed.
FLAKY = """
import os
from pathlib import Path

def test_{name}():
    print("process", os.getpid())
    seen = Path({seen!r}, "{name}")
    again = seen.exists()
    seen.touch()
    assert again, "the machine was busy"
"""
RIGHT = "def test_right(): pass\n"
WRONG = "def test_wrong(): raise AssertionError('never right')\n"

Report = dict[str, Any]
Run = Callable[..., tuple[int, Report]]


def settings(folder: Path) -> list[str]:
    """Options of pytest with which it treats a folder as it does the checkout."""
    return ["-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]


@pytest.fixture(autouse=True)
def checkout_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets pytest find tests.conftest from another folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(autouse=True)
def repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where outputs of repeated tests are kept."""
    monkeypatch.setattr(run_tests, "REPEATED", tmp_path / "repeated")
    return tmp_path / "repeated"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a part whose tests are those of a file with this text; its exit status and its report."""

    def run(text: str, *words: str) -> tuple[int, Report]:
        (tmp_path / "test_some.py").write_text(text, encoding="utf-8")
        options = [*settings(tmp_path), *words]
        return ran(PytestRunner(sys.executable, options, ["test_some.py"], tmp_path), tmp_path)

    return run


def ran(runner: run_tests.Runner, folder: Path) -> tuple[int, Report]:
    """Run a part; its exit status and its report."""
    status = run_tests.run(runner, "test-some", folder / "reports")
    report: Report = json.loads((folder / "reports" / f"test-some.{os.getpid()}.json").read_text())
    return status, report


def flaky(folder: Path, *names: str) -> str:
    """Tests that fail in their first process and pass in their second."""
    return "".join(FLAKY.format(name=name, seen=str(folder)) for name in names)


def test_a_test_that_passes_alone_in_a_fresh_process_is_flaky_and_the_run_passes(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, report = run(RIGHT + flaky(tmp_path, "busy"), "--numprocesses", "2")
    assert (status, report["passed"], report["failed"]) == (0, 2, [])
    ((name, outputs),) = report["flaky"].items()
    assert name == "test_some.py::test_busy"
    first, second = (Path(one).read_text(encoding="utf-8") for one in outputs)
    assert "the machine was busy" in first
    assert "1 passed" in second
    assert "passed: it is flaky" in capfd.readouterr().out


def test_a_test_that_fails_both_times_fails_the_run_and_keeps_both_outputs(
    run: Run, tmp_path: Path, repeated: Path
) -> None:
    status, report = run(RIGHT + WRONG + flaky(tmp_path, "busy"))
    assert status == pytest.ExitCode.TESTS_FAILED
    assert [name.rpartition("::")[2] for name in report["failed"]] == ["test_wrong"]
    assert [name.rpartition("::")[2] for name in report["flaky"]] == ["test_busy"]
    kept = [path.read_text(encoding="utf-8") for path in repeated.iterdir() if "test_wrong" in path.name]
    assert ["never right" in text for text in kept] == [True, True]


def test_six_failures_fail_the_run_and_none_of_them_is_repeated(
    run: Run, tmp_path: Path, repeated: Path
) -> None:
    status, report = run(flaky(tmp_path, *"abcdef"))
    assert (status, len(report["failed"]), report["flaky"]) == (pytest.ExitCode.TESTS_FAILED, 6, {})
    assert not repeated.exists()


@pytest.mark.parametrize("workers", [[], ["--numprocesses", "2"]], ids=["one process", "two workers"])
def test_a_file_that_cannot_be_read_is_not_repeated(run: Run, repeated: Path, workers: list[str]) -> None:
    status, report = run(RIGHT + "import no_such_module\n", *workers)
    assert status == pytest.ExitCode.INTERRUPTED
    assert report["flaky"] == {}
    assert not repeated.exists()


def test_an_error_of_a_fixture_is_repeated_with_its_test(run: Run, tmp_path: Path) -> None:
    fixture = flaky(tmp_path, "set_up").replace("def test_set_up", "@pytest.fixture\ndef set_up")
    status, report = run(f"import pytest\n{fixture}\ndef test_with_it(set_up): pass\n")
    assert (status, [name.rpartition("::")[2] for name in report["flaky"]]) == (0, ["test_with_it"])


def test_the_cells_of_a_notebook_are_repeated_together(tmp_path: Path) -> None:
    cells = [
        f"from pathlib import Path\nseen = Path({str(tmp_path)!r}, 'seen')",
        "again = seen.exists()\nseen.touch()",
        "assert again",
    ]
    notebook = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": 1,
                "id": f"cell{n}",
                "metadata": {},
                "outputs": [],
                "source": one,
            }
            for n, one in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "some.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    options = [
        *settings(tmp_path),
        "-p",
        "nbval.plugin",
        "--nbval-lax",
        "--nbval-current-env",
        "--timeout",
        "0",
    ]
    status, report = ran(PytestRunner(sys.executable, options, ["some.ipynb"], tmp_path), tmp_path)
    assert (status, report["failed"]) == (0, [])
    assert list(report["flaky"]) == ["some.ipynb"]


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Node of this environment, also where no make has put it on PATH."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


NODE_TEST = """
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
test('{name}', () => {{
  const again = fs.existsSync('seen-{name}') && {second};
  fs.writeFileSync('seen-{name}', '');
  assert.ok(again, 'the machine was busy');
}});
test('right', () => {{}});
"""


@pytest.mark.usefixtures("node")
def test_a_file_of_node_is_repeated_whole(tmp_path: Path) -> None:
    (tmp_path / "busy.test.js").write_text(NODE_TEST.format(name="busy", second="true"))
    runner = NodeRunner(tmp_path, "*.test.js")
    status, report = ran(runner, tmp_path)
    assert (status, report["failed"], [Path(name).name for name in report["flaky"]]) == (
        0,
        [],
        ["busy.test.js"],
    )
    (tmp_path / "wrong.test.js").write_text(NODE_TEST.format(name="wrong", second="false"))
    status, report = ran(runner, tmp_path)
    assert (status, [Path(name).name for name in report["failed"]]) == (1, ["wrong.test.js"])


def kept(folder: Path, number: int, *names: str) -> None:
    """A report of a part with these flaky tests."""
    told = {
        "seconds": 1.0,
        "passed": 10,
        "failed": [],
        "flaky": {name: ["a", "b"] for name in names},
        "skipped": {},
    }
    (folder / f"test-ui.{number}.json").write_text(json.dumps(told), encoding="utf-8")


def test_a_run_passes_with_five_flaky_tests_in_all_its_parts_and_not_with_six(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(tmp_path, 1, "one", "two", "three")
    kept(tmp_path, 2, "four", "five")
    assert tests_summary.main([str(tmp_path), "make test"]) == 0
    assert "flaky, failed and then passed alone: 5, of which a run may have 5" in capsys.readouterr().out
    kept(tmp_path, 3, "six")
    assert tests_summary.main([str(tmp_path), "make test"]) == 1
    assert "6 flaky tests in make test; 5 are the most that pass." in capsys.readouterr().err


def test_an_environment_is_made_only_where_a_test_is_selected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "test_some.py"
    file.write_text(f"import pytest\npytestmark = pytest.mark.needs('no_such_framework')\n{RIGHT}")
    selection = ["-p", "tests.conftest", "-c", "pyproject.toml", str(file)]
    assert PytestRunner("", [], [*selection, "-k", "right"]).selects_any(sys.executable)
    assert not PytestRunner("", [], [*selection, "-k", "receipt"]).selects_any(sys.executable)
    words = [
        "test-some",
        "--environment",
        "build/no-such-environment",
        "python",
        "--",
        *selection,
        "-k",
        "receipt",
    ]
    assert run_tests.main(words) == 0
    assert "no test is selected, so build/no-such-environment is not made" in capsys.readouterr().out
