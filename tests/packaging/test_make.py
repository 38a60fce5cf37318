"""The Makefile explains itself, and its steps say how they ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from check_lab import first_lesson

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
    first = min(path.relative_to(ROOT) for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert first_lesson() == first
    started = [line for line in run("make", "-n", "lab").stdout.splitlines() if "jupyter lab " in line]
    assert [str(first) in line.split() for line in started] == [True]


def test_make_alone_is_make_help() -> None:
    assert run("make").stdout == run("make", "help").stdout


def test_every_environment_is_ignored_by_git_and_removed_by_make_clean() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    environments = re.findall(r"^[A-Z_]+ := (\.venv\S*)$", makefile, flags=re.MULTILINE)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    removed = run("make", "-n", "clean").stdout.split()
    assert {
        ".venv",
        ".venv-other",
        ".venv-frameworks",
        ".venv-front-ends",
        ".venv-hub-5",
        ".venv-benchmark",
        ".venv-class",
        ".venv-teacher",
        ".venv-peers",
        ".venv-binder",
        ".venv-binder-image",
        ".venv-docs",
    } <= set(environments)
    assert {f"/{folder}/" for folder in environments} <= set(ignored)
    assert set(environments) <= set(removed)


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
