"""What `make test` tells at its end, and what continuous integration chooses of the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import other_tests
import pytest
import tests_summary
from other_tests import PARTS, Part, chosen, in_order

from constraints import ROOT
from tests.packaging.test_make import run

#: Targets that are no parts with pytest.
NO_PARTS = {"test-all", "test-labextension", "test-summary"}

QUICK = Part("test-quick", 60, ("docs/",), "quick")
LONG = Part("test-long", 600, ("labextension/", "tests/jupyter/lab/"), "long")

TESTS = """
import pytest

def test_right(): pass

def test_wrong(): raise AssertionError

@pytest.mark.skip(reason="there is no moon")
def test_at_night(): pass

@pytest.mark.needs("no_such_framework")
def test_of_what_is_missing(): pass
"""


def ran(folder: Path, *words: str) -> tuple[int, Path, str]:
    """Run the tests above as a part of make does; status, folder of what was kept, and what was printed."""
    file = folder / "test_some.py"
    file.write_text(TESTS, encoding="utf-8")
    kept = folder / "kept"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", "pyproject.toml", *words, str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "JUPYTER_MLGPU_TEST_REPORT": str(kept / "test-some"), "JUPYTER_MLGPU_REQUIRE": ""},
    )
    return done.returncode, kept, done.stdout


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="one process"),
        pytest.param(("--numprocesses", "2"), id="two workers", marks=pytest.mark.slow),
    ],
)
def test_a_run_keeps_what_passed_what_failed_and_why_tests_were_not_run(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    status, kept, said = ran(tmp_path, *workers)
    assert status == pytest.ExitCode.TESTS_FAILED
    ((part, (run,)),) = tests_summary.read(kept).items()
    assert (part, run["passed"], run["repeated"]) == ("test-some", 1, {})
    assert [name.rpartition("::")[2] for name in run["failed"]] == ["test_wrong"]
    assert run["skipped"] == {"there is no moon": 1}
    assert run["seconds"] > 0
    assert "Left out, for what they need is not installed here: 1 for want of no_such_framework." in said


def test_a_part_without_a_test_that_is_asked_for_is_no_failure_but_no_test_at_all_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, kept, _ = ran(tmp_path, "-k", "nothing_of_this_name")
    assert status == 0
    assert tests_summary.main([str(kept), "make test"]) == 1
    assert "No test ran in make test" in capsys.readouterr().err
    ran(tmp_path, "-k", "right")
    assert tests_summary.main([str(kept), "make test"]) == 0


def test_the_summary_names_what_failed_what_was_repeated_and_why_tests_were_skipped(tmp_path: Path) -> None:
    told = {"seconds": 61.4, "passed": 1200, "failed": ["tests/a.py::b"], "repeated": {"tests/a.py::c": 2}}
    for number, skipped in enumerate([{"no GPU": 3}, {"no GPU": 1}]):
        (tmp_path / f"test-ui.{number}.json").write_text(json.dumps({**told, "skipped": skipped}))
    said = tests_summary.as_text("make test", tests_summary.read(tmp_path))
    assert "test-ui                    2,400       2        4      123" in said
    assert "failed: tests/a.py::b" in said
    assert "repeated after it had failed, 4 time(s): tests/a.py::c" in said
    assert "skipped, 4 test(s): no GPU" in said


def test_what_the_last_commits_touch_comes_first() -> None:
    assert in_order([QUICK, LONG], ["README.md"]) == [QUICK, LONG]
    assert in_order([QUICK, LONG], ["tests/jupyter/lab/test_now.py"]) == [LONG, QUICK]


def test_what_would_not_end_in_time_is_left_out_also_on_a_machine_that_is_slower() -> None:
    assert chosen([LONG, QUICK], 660, 1.0) == ([LONG, QUICK], [])
    assert chosen([LONG, QUICK], 660, 1.2) == ([QUICK], [LONG])
    assert chosen([LONG, QUICK], 30, 1.0) == ([], [LONG, QUICK])


def test_every_part_is_a_target_of_make_and_no_target_is_forgotten() -> None:
    asked = run("make", "-n", "test")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {line.split()[1] for line in makefile.splitlines() if line.startswith(".PHONY: test-")}
    assert asked.returncode == 0
    everyday = {name for name in targets if f"build/test-reports/{name} " in asked.stdout}
    assert everyday | {part.target for part in PARTS} == targets - {
        "test-all",
        "test-labextension",
        "test-limits",  # an exam that times programs, and no test
        "test-summary",
    }


def test_the_paths_that_touch_a_part_are_there() -> None:
    for part in PARTS:
        for path in part.touched_by:
            folder, _, name = path.rpartition("/")
            assert list((ROOT / folder).glob(f"{name}*")), (part.target, path)


def test_without_a_history_every_part_counts_as_touched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(other_tests, "ROOT", tmp_path)
    changed = other_tests.changed_files()
    assert all(part.is_touched(changed) for part in PARTS)
