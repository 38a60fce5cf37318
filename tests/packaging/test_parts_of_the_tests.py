"""What `make test` tells at its end, and what continuous integration chooses of the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import changed_files
import pytest
import run_tests
import tests_summary
from changed_files import BaseError, base, changed_since
from other_tests import PARTS, Part, chosen
from run_tests import PytestRunner

from constraints import ROOT
from tests.packaging.test_make import run

QUICK = Part("test-quick", 60, ("docs/",), "quick")
LONG = Part("test-long", 600, ("labextension/", "tests/jupyter/lab/"), "long")
MODULES = {"tests/show/test_a.py": 1, "tests/show/test_b.py": 3, "tests/measure/test_c.py": 6}
IN_MODULES = Part(
    "test-in-modules",
    100,
    ("jupyter_mlgpu/",),
    "in modules",
    modules=lambda: MODULES,
    concerns=lambda module, changed: module.startswith("tests/show/"),
)

TESTS = """
import pytest

def test_right(): pass

def test_wrong(): raise AssertionError

@pytest.mark.skip(reason="there is no moon")
def test_at_night(): pass

@pytest.mark.needs("no_such_framework")
def test_of_what_is_missing(): pass
"""


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="one process"),
        pytest.param(("--numprocesses", "2"), id="two workers", marks=pytest.mark.slow),
    ],
)
def test_a_run_tells_what_passed_what_failed_and_why_tests_were_not_run(
    tmp_path: Path,
    workers: tuple[str, ...],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUPYTER_MLGPU_REQUIRE", "")
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    options = ["-p", "tests.conftest", "-c", "pyproject.toml", *workers]
    outcome = PytestRunner(sys.executable, options, [str(tmp_path / "test_some.py")]).run()
    assert (outcome.status, outcome.passed) == (pytest.ExitCode.TESTS_FAILED, 1)
    assert [name.rpartition("::")[2] for name in outcome.failed] == ["test_wrong"]
    assert outcome.skipped == {"there is no moon": 1}
    said = capfd.readouterr().out
    assert "Left out, for what they need is not installed here: 1 for want of no_such_framework." in said


def test_a_part_without_a_test_that_is_asked_for_is_no_failure_but_no_test_at_all_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_some.py").write_text("def test_right(): pass\n", encoding="utf-8")
    options = ["-p", "tests.conftest", "-c", "pyproject.toml"]
    for name, status in (("nothing_of_this_name", 1), ("right", 0)):
        runner = PytestRunner(sys.executable, options, [str(tmp_path / "test_some.py"), "-k", name])
        assert run_tests.run(runner, "test-some", tmp_path / "reports") == 0
        assert tests_summary.main([str(tmp_path / "reports"), "make test"]) == status
    assert "No test ran in make test" in capsys.readouterr().err


def test_the_summary_names_what_failed_what_was_flaky_and_why_tests_were_skipped(tmp_path: Path) -> None:
    told = {"seconds": 61.4, "passed": 1200, "failed": ["tests/a.py::b"]}
    for number, skipped in enumerate([{"no GPU": 3}, {"no GPU": 1}]):
        flaky = {f"tests/a.py::c{number}": ["c.first.txt", "c.second.txt"]}
        (tmp_path / f"test-ui.{number}.json").write_text(
            json.dumps({**told, "flaky": flaky, "skipped": skipped})
        )
    said = tests_summary.as_text("make test", tests_summary.read(tmp_path))
    assert "test-ui                    2,400       2      2        4      123" in said
    assert "failed: tests/a.py::b" in said
    assert "tests/a.py::c1\n        c.first.txt\n        c.second.txt" in said.replace("    " * 2, "        ")
    assert "skipped, 4 test(s): no GPU" in said


def test_a_part_runs_where_the_change_touches_it_and_the_others_are_named() -> None:
    taken, left = chosen([QUICK, LONG], ["docs/index.md"], 700)
    assert taken == [QUICK]
    assert left == ["not touched: make test-long MARKS=slow (about 600 s): long"]


def test_a_change_of_what_all_parts_share_touches_them_all_and_the_shortest_come_first() -> None:
    assert chosen([LONG, QUICK], ["tests/conftest.py"], 660) == ([QUICK, LONG], [])


def test_what_would_not_end_in_time_is_left_out_and_named() -> None:
    taken, left = chosen([LONG, QUICK], ["Makefile"], 659)
    assert taken == [QUICK]
    assert left == ["no time for: make test-long MARKS=slow (about 600 s): long"]


def test_of_a_part_that_does_not_fit_those_modules_run_that_the_change_concerns() -> None:
    (part,), (line,) = chosen([IN_MODULES], ["jupyter_mlgpu/show/markup.py"], 99)
    assert (part.only, part.seconds) == (("tests/show/test_a.py", "tests/show/test_b.py"), 40)
    assert line.startswith(
        "no time for all of: make test-in-modules MARKS=slow (about 100 s): in modules; of it ran "
    )


def test_of_these_modules_the_changed_ones_come_first_as_far_as_they_fit() -> None:
    (part,), _ = chosen([IN_MODULES], ["jupyter_mlgpu/show/markup.py", "tests/show/test_b.py"], 35)
    assert part.only == ("tests/show/test_b.py",)
    assert chosen([IN_MODULES], ["jupyter_mlgpu/show/markup.py"], 5)[0] == []


def test_the_modules_of_a_part_are_there_and_belong_to_rooms_and_lessons() -> None:
    by_target = {part.target: part for part in PARTS}
    for part in by_target.values():
        assert [module for module in part.modules() if not (ROOT / module).is_file()] == []
    kernel = by_target["test-integration"]
    concerned = {
        module for module in kernel.modules() if kernel.concerns(module, ["jupyter_mlgpu/graphs/x.py"])
    }
    assert concerned
    assert all(module.startswith("tests/graphs/") for module in concerned)
    lessons = by_target["test-lessons"]
    changed = ["notebooks/zh/03_reading_the_machine.ipynb"]
    assert [module for module in lessons.modules() if lessons.concerns(module, changed)] == [
        "notebooks/03_reading_the_machine.ipynb",
        "notebooks/solutions/03_reading_the_machine.ipynb",
    ]


def test_every_part_is_a_target_of_make_and_no_target_is_forgotten() -> None:
    asked = run("make", "-n", "test")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {line.split()[1] for line in makefile.splitlines() if line.startswith(".PHONY: test-")}
    assert asked.returncode == 0, asked.stderr
    everyday = {name for name in targets if f"scripts/run_tests.py {name} " in asked.stdout}
    assert everyday | {part.target for part in PARTS} == targets - {
        "test-all",
        "test-limits",  # an exam that times programs, and no test
        "test-summary",
        "test-tools",
    }


def test_the_paths_that_touch_a_part_are_there() -> None:
    for part in PARTS:
        for path in part.touched_by:
            folder, _, name = path.rpartition("/")
            assert list((ROOT / folder).glob(f"{name}*")), (part.target, path)


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
    monkeypatch.setattr(changed_files, "ROOT", tmp_path)
    return History(tmp_path)


def passed(history: History, *commits: str) -> None:
    """Name these commits in .ci/passed."""
    (history.folder / ".ci").mkdir(exist_ok=True)
    (history.folder / ".ci" / "passed").write_text("\n".join(commits))


def test_the_base_is_the_newest_ancestor_that_passed(history: History) -> None:
    first, second = history.commit(a="1"), history.commit(a="2")
    history.git("checkout", "--quiet", "-b", "side")
    elsewhere = history.commit(a="side")
    history.git("checkout", "--quiet", "-")
    history.commit(a="3")
    passed(history, elsewhere, second, first, "0" * 40)
    assert base() == second


def test_ci_base_comes_before_what_passed(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = history.commit(a="1"), history.commit(a="2")
    passed(history, second)
    monkeypatch.setenv("CI_BASE", "HEAD~1")
    assert base() == first


def test_a_ci_base_that_is_no_commit_gets_one_sentence(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.commit(a="1")
    monkeypatch.setenv("CI_BASE", "nowhere")
    with pytest.raises(BaseError, match=r"^CI_BASE is 'nowhere', which is no commit of this clone: fetch it"):
        base()


def test_without_a_history_or_a_commit_that_passed_there_is_no_base(history: History) -> None:
    assert base() is None
    history.commit(a="1")
    assert base() is None


def test_the_whole_difference_counts_with_what_is_not_committed_yet(history: History) -> None:
    first = history.commit(a="1", gone="1")
    (history.folder / "gone").unlink()
    history.commit(b="1")
    history.commit(a="2")
    for name in ("new file", "somebody's own.ipynb"):
        (history.folder / name).write_text("")
    history.git("add", "new file")
    assert changed_since(first) == ("a", "b", "gone", "new file")
