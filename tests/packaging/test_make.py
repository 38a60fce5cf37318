"""The Makefile explains itself, and its steps say how they ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from check_lab import first_lesson, lessons_copy
from tracked import tracked

from constraints import ROOT


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout, not as a part of the make that may be running us."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


def explained(text: str) -> list[str]:
    """The targets that a help names."""
    return re.findall(r"^  make ([a-z-]+) +\S", text, flags=re.MULTILINE)


def test_make_help_all_explains_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", makefile, flags=re.MULTILINE))
    assert {"lab", "test", "test-all"} <= targets
    assert set(explained(run("make", "help-all").stdout)) == targets


def test_make_help_has_three_groups_of_at_most_eight_targets() -> None:
    groups = run("make", "help").stdout.split("\n\n")[1:]
    assert [len(explained(group)) <= 8 for group in groups] == [True] * 3
    assert {"lab", "test", "lint", "help-all"} <= {name for group in groups for name in explained(group)}


def test_make_lab_opens_the_lesson_that_comes_first() -> None:
    assert first_lesson() == min(path.name for path in tracked(ROOT / "notebooks", "*.ipynb"))
    planned = run("make", "-n", "lab").stdout
    assert f"jupyter mlgpu lessons {lessons_copy()} " in planned
    (started,) = (line for line in planned.splitlines() if "jupyter lab " in line)
    assert f"--ServerApp.root_dir={ROOT / lessons_copy()}" in started


def test_git_ignores_the_copies_of_the_lessons_and_make_clean_keeps_them() -> None:
    assert f"/{lessons_copy()}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert str(lessons_copy()) not in run("make", "-n", "clean").stdout


def test_make_alone_is_make_help() -> None:
    assert run("make").stdout == run("make", "help").stdout


def test_two_environments_are_kept_and_the_others_lie_where_make_clean_removes_them() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    kept = re.findall(r"^[A-Z_]+ := (\.venv\S*)$", makefile, flags=re.MULTILINE)
    assert kept == [".venv", ".venv-frameworks"]
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    removed = run("make", "-n", "clean").stdout.split()
    assert {"/.venv/", "/.venv-frameworks/", "/build/"} <= set(ignored)
    assert {*kept, "build"} <= set(removed)
    assert "\nENVIRONMENTS := build/environments\n" in makefile


@pytest.mark.parametrize("status", [0, 3])
def test_environments_of_a_part_are_made_for_it_and_removed_however_it_ends(
    tmp_path: Path, status: int
) -> None:
    (tmp_path / "Makefile").write_text("%/.packages:\n\t@mkdir -p $(@D)\n\t@touch $@\n")
    script = ROOT / "scripts" / "with_environments.sh"
    words = [str(script), "one", "two", "--", "sh", "-c", f"ls one/.packages two/.packages; exit {status}"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (status, "one/.packages\ntwo/.packages\n")
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def install_step(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a step of an installation in a folder."""
    words = [str(ROOT / "scripts" / "install_step.sh"), "installing a thing", *command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def test_a_step_of_an_installation_is_one_line_and_its_output_goes_to_a_log(tmp_path: Path) -> None:
    done = install_step(tmp_path, "sh", "-c", "echo many; echo words >&2")
    assert done.returncode == 0
    assert re.fullmatch(r"==> installing a thing \.\.\. \d+ s\n", done.stdout)
    assert (tmp_path / "build/logs/installing-a-thing.txt").read_text() == "many\nwords\n"
    assert (tmp_path / "build/installation-seconds").read_text().strip().isdigit()


def test_a_step_of_an_installation_that_fails_shows_the_end_of_its_log(tmp_path: Path) -> None:
    done = install_step(tmp_path, "sh", "-c", "seq 100; echo no such package >&2; exit 7")
    assert done.returncode == 7
    assert re.search(
        r"FAILED after \d+ s \(exit status 7\)\. The end of build/logs/installing-a-thing\.txt:", done.stdout
    )
    assert "    no such package\n" in done.stdout
    assert "    50\n" not in done.stdout


def test_a_step_says_what_it_does_and_how_long_it_took() -> None:
    done = run("scripts/step.sh", "greeting", "echo", "hello")
    assert done.returncode == 0
    assert re.fullmatch(r"==> greeting\nhello\n<== greeting: done in \d+ s\n", done.stdout)


def test_a_step_that_fails_keeps_its_exit_status() -> None:
    done = run("scripts/step.sh", "failure", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert re.search(r"<== failure: FAILED after \d+ s \(exit status 7\)", done.stdout)


def test_what_make_starts_keeps_compiled_files_also_where_the_machine_says_otherwise(tmp_path: Path) -> None:
    more = tmp_path / "more.mk"
    more.write_text(f"shown:\n\t@{sys.executable} -c 'import sys; print(sys.dont_write_bytecode)'\n")
    done = run("env", "PYTHONDONTWRITEBYTECODE=1", "make", "-f", "Makefile", "-f", str(more), "shown")
    assert done.stdout == "False\n"
