"""A part's failed tests are run once more, alone; continuous integration chooses parts by what changed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import other_tests
import pytest
import run_tests
from other_tests import PARTS, BaseError, Part, base, changed_since, choose
from run_tests import NodeRunner, PytestRunner

from constraints import ROOT
from tests.packaging.test_make import make

#: Passes from its second process on, as a test does that a busy machine has failed.
FLAKY = """
from pathlib import Path
import pytest

def test_{name}():
    seen = Path({seen!r}, "{name}")
    again = seen.exists()
    seen.touch()
    assert again, "the machine was busy"
"""
OTHERS = """
import pytest

def test_right(): pass

@pytest.mark.skip(reason="there is no moon")
def test_at_night(): pass

@pytest.mark.needs("no_such_framework")
def test_of_what_is_missing(): raise AssertionError
"""
WRONG = "def test_wrong(): raise AssertionError('never right')\n"

Report = dict[str, Any]
Run = Callable[..., tuple[int, Report]]


def options(folder: Path) -> list[str]:
    """Options with which pytest treats a folder as it does the checkout."""
    return ["-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]


@pytest.fixture(autouse=True)
def build_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps reports and outputs apart from those of the run that this test is in."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUPYTER_MLGPU_REQUIRE", "")
    monkeypatch.setattr(run_tests, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(run_tests, "REPEATED", tmp_path / "repeated")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a part whose tests are those of a file with this text; its exit status and its report."""

    def run(text: str, *words: str) -> tuple[int, Report]:
        (tmp_path / "test_some.py").write_text(text, encoding="utf-8")
        return ran(PytestRunner(sys.executable, [*options(tmp_path), *words], ["test_some.py"], tmp_path))

    return run


def ran(runner: run_tests.Runner) -> tuple[int, Report]:
    """Run a part; its exit status and its report."""
    status = run_tests.run(runner, "test-some")
    report: Report = json.loads((run_tests.REPORTS / f"test-some.{os.getpid()}.json").read_text())
    return status, report


def flaky(folder: Path, *names: str) -> str:
    """Tests that fail in their first process and pass in their second."""
    return "".join(FLAKY.format(name=name, seen=str(folder)) for name in names)


def short(names: list[str]) -> list[str]:
    return [name.rpartition("::")[2] for name in names]


def test_a_test_that_passes_alone_in_a_fresh_process_is_flaky_and_the_run_passes(
    run: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, report = run(OTHERS + flaky(tmp_path, "busy"), "--numprocesses", "2")
    assert (status, report["passed"], report["failed"]) == (0, 2, [])
    assert report["skipped"] == {"there is no moon": 1}
    ((name, outputs),) = report["flaky"].items()
    assert name == "test_some.py::test_busy"
    first, second = (Path(one).read_text(encoding="utf-8") for one in outputs)
    assert "the machine was busy" in first
    assert "1 passed" in second
    said = capfd.readouterr().out
    assert "Left out, for what they need is not installed here: 1 for want of no_such_framework." in said


def test_a_test_that_fails_both_times_fails_the_run(run: Run, tmp_path: Path) -> None:
    status, report = run(WRONG + flaky(tmp_path, "busy"))
    assert status == pytest.ExitCode.TESTS_FAILED
    assert (short(report["failed"]), short([*report["flaky"]])) == (["test_wrong"], ["test_busy"])


def test_six_failures_fail_the_run_and_none_of_them_is_repeated(run: Run, tmp_path: Path) -> None:
    status, report = run(flaky(tmp_path, *"abcdef"))
    assert (status, len(report["failed"]), report["flaky"]) == (pytest.ExitCode.TESTS_FAILED, 6, {})
    assert not run_tests.REPEATED.exists()


@pytest.mark.parametrize("workers", [[], ["--numprocesses", "2"]], ids=["one process", "two workers"])
def test_a_file_that_cannot_be_read_is_not_repeated(run: Run, workers: list[str]) -> None:
    status, report = run("import no_such_module\n", *workers)
    assert (status, report["flaky"]) == (pytest.ExitCode.INTERRUPTED, {})


def test_an_environment_is_made_only_where_a_test_is_selected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_some.py").write_text(
        f"import pytest\npytestmark = pytest.mark.needs('nothing')\n{WRONG}"
    )
    selection = [*options(tmp_path), str(tmp_path / "test_some.py")]
    assert PytestRunner("", [], [*selection, "-k", "wrong"]).selects_any(sys.executable)
    words = ["test-some", "--environment", "build/none", "python", "--", *selection, "-k", "receipt"]
    assert run_tests.main(words) == 0
    assert "no test is selected, so build/none is not made" in capsys.readouterr().out


NODE_TEST = """
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
test('busy', () => {
  const again = fs.existsSync('seen');
  fs.writeFileSync('seen', '');
  assert.ok(again, 'the machine was busy');
});
test('right', () => {});
"""


def test_the_tests_of_node_are_repeated_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "busy.test.js").write_text(NODE_TEST)
    status, report = ran(NodeRunner(tmp_path, "*.test.js"))
    assert (status, report["passed"], [*report["flaky"]]) == (0, 2, ["*.test.js"])


def test_the_summary_names_what_failed_what_was_flaky_and_why_tests_were_skipped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flaky = {f"tests/a.py::c{number}": ["c.first.txt", "c.second.txt"] for number in range(5)}
    run_tests.keep_report("test-ui", 61.4, 1200, ["tests/a.py::b"], flaky, {"no GPU": 3})
    assert run_tests.summarize("make test") == 0
    said = capsys.readouterr().out
    assert "test-ui                    1,200       1      5        3       61" in said
    assert "failed: tests/a.py::b" in said
    assert re.search(r"tests/a\.py::c1\n +c\.first\.txt\n +c\.second\.txt", said)
    assert "skipped, 3 test(s): no GPU" in said
    run_tests.keep_report("test-fuzz", 1, 1, [], {"d": ["d.first.txt", "d.second.txt"]}, {})
    assert run_tests.summarize("make test") == 1
    assert "6 flaky tests in make test; 5 are the most that pass." in capsys.readouterr().err


def test_a_run_in_which_no_test_ran_fails(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(WRONG, "-k", "nothing_of_this_name")[0] == 0  # another part may have it
    assert run_tests.summarize("make test") == 1
    assert "No test ran in make test" in capsys.readouterr().err


QUICK = Part("test-quick", 60, "quick", "docs/")
LONG = Part("test-long", 600, "long", "labextension/")
IN_MODULES = Part(
    "test-in-modules",
    100,
    "in modules",
    "jupyter_mlgpu/",
    modules=lambda: {"tests/show/test_a.py": 1, "tests/show/test_b.py": 3, "tests/measure/test_c.py": 6},
)


def test_parts_run_that_the_change_touches_and_that_end_in_time_and_the_others_are_named() -> None:
    taken, left = choose([QUICK, LONG], ["docs/index.md"], 700)
    assert (taken, left) == ([QUICK], ["not touched: make test-long MARKS=slow (about 600 s): long"])
    taken, left = choose([LONG, QUICK], ["tests/conftest.py"], 659)
    assert (taken, left) == ([QUICK], ["no time for: make test-long MARKS=slow (about 600 s): long"])
    assert choose([LONG, QUICK], ["tests/conftest.py"], 660) == ([QUICK, LONG], [])


def test_of_a_part_that_does_not_fit_those_modules_run_that_the_change_concerns() -> None:
    (part,), (line,) = choose([IN_MODULES], ["jupyter_mlgpu/show/markup.py"], 99)
    assert (part.only, part.seconds) == (("tests/show/test_a.py", "tests/show/test_b.py"), 40)
    assert line.startswith("no time for all of: make test-in-modules MARKS=slow (about 100 s): in modules;")
    (part,), _ = choose([IN_MODULES], ["jupyter_mlgpu/show/markup.py", "tests/show/test_b.py"], 35)
    assert part.only == ("tests/show/test_b.py",)
    assert choose([IN_MODULES], ["jupyter_mlgpu/show/markup.py"], 5)[0] == []


def test_every_part_is_a_target_of_make_and_what_it_names_is_there() -> None:
    asked = make("-n", "test")
    assert asked.returncode == 0, asked.stderr
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: (test-[a-z-]+)$", makefile, re.MULTILINE))
    everyday = {name for name in targets if f"scripts/run_tests.py {name} " in asked.stdout}
    no_tests = {"test-all", "test-limits", "test-summary", "test-tools"}
    of_their_own = {"test-versions"}  # several GB of downloads: a job of its own each night
    assert everyday | {part.target for part in PARTS} == targets - no_tests - of_their_own
    nightly = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert all(f"make {target} " in nightly for target in of_their_own)
    for part in PARTS:
        assert [module for module in part.modules() if not (ROOT / module).is_file()] == []
        for path in part.touched_by.split():
            folder, _, name = path.rpartition("/")
            assert list((ROOT / folder).glob(f"{name}*")), (part.target, path)


def test_the_modules_of_a_change_are_those_of_its_rooms_and_its_lessons() -> None:
    by_target = {part.target: part for part in PARTS}
    kernel, lessons = by_target["test-integration"], by_target["test-lessons"]
    found = kernel.modules_of(["jupyter_mlgpu/graphs/x.py"])
    assert found
    assert all(module.startswith("tests/graphs/") for module in found)
    assert lessons.modules_of(["notebooks/zh/01_reading_a_sick_machine.ipynb"]) == [
        "notebooks/01_reading_a_sick_machine.ipynb",
        "notebooks/solutions/01_reading_a_sick_machine.ipynb",
    ]


class History:
    """A repository whose commits are made here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet")

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(
            ["git", *who, *words], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        """Write these files and commit them; the commit's hash."""
        for name, text in files.items():
            (self.folder / name).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> History:
    monkeypatch.delenv("CI_BASE", raising=False)
    monkeypatch.setattr(other_tests, "ROOT", tmp_path)
    return History(tmp_path)


def test_the_base_is_the_newest_ancestor_that_passed_unless_ci_base_names_another(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert base() is None
    first, second = history.commit(a="1"), history.commit(a="2")
    history.git("checkout", "--quiet", "-b", "side")
    elsewhere = history.commit(a="side")
    history.git("checkout", "--quiet", "-")
    history.commit(a="3")
    assert base() is None
    (history.folder / ".ci").mkdir()
    (history.folder / ".ci" / "passed").write_text("\n".join([elsewhere, second, first, "0" * 40]))
    assert base() == second
    monkeypatch.setenv("CI_BASE", "HEAD~2")
    assert base() == first
    monkeypatch.setenv("CI_BASE", "nowhere")
    with pytest.raises(BaseError, match=r"^CI_BASE is 'nowhere', which is no commit of this clone: fetch it"):
        base()


def test_the_whole_difference_counts_with_what_is_not_committed_yet(history: History) -> None:
    first = history.commit(a="1", gone="1")
    (history.folder / "gone").unlink()
    history.commit(b="1")
    history.commit(a="2")
    for name in ("new file", "somebody's own.ipynb"):
        (history.folder / name).write_text("")
    history.git("add", "new file")
    assert changed_since(first) == ("a", "b", "gone", "new file")
