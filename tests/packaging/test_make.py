"""Make keeps things where it says, finds a Python, and reports how its steps end."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from constraints import FILES, ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
ENVIRONMENTS = ROOT / "scripts" / "environments.sh"
STEP = ROOT / "scripts" / "step.sh"
#: Not as a part of the make that may be running us.
OUTSIDE = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}


def run(
    *command: str | Path, folder: Path = ROOT, variables: dict[str, str] = OUTSIDE
) -> subprocess.CompletedProcess[str]:
    """Run a command with these environment variables."""
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=variables)


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Run make in the checkout."""
    return run("make", *words)


def test_make_help_all_explains_every_target_and_make_alone_is_make_help() -> None:
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", MAKEFILE, flags=re.MULTILINE))
    explained = re.findall(r"^  make ([a-z-]+) +\S", make("help-all").stdout, flags=re.MULTILINE)
    assert set(explained) == targets
    assert make().stdout == make("help").stdout


def test_what_is_kept_is_ignored_by_git_and_make_clean_leaves_the_learners_copies() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/.venv/", "/.venv-frameworks/", "/build/", "/my-lessons/"} <= set(ignored)
    removed = make("-n", "clean").stdout.split()
    assert {".venv", ".venv-frameworks", "build"} <= set(removed)
    assert "my-lessons" not in removed


def test_the_pythons_of_the_package_are_those_that_its_unit_tests_are_for() -> None:
    pythons = re.findall(r"^PYTHONS := (.*)$", MAKEFILE, flags=re.MULTILINE)[0].split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one.rpartition(" ")[2] for one in project["classifiers"] if "Python :: 3." in one]
    (unit,) = (file for file in FILES if file.name == "unit.txt")
    assert pythons == named == list(unit.pythons)


@pytest.mark.parametrize("status", [0, 3])
def test_environments_of_a_part_are_made_for_it_and_removed_however_it_ends(
    tmp_path: Path, status: int
) -> None:
    (tmp_path / "Makefile").write_text("%/.packages:\n\t@mkdir -p $(@D)\n\t@touch $@\n")
    command = f"ls one/.packages two/.packages; exit {status}"
    done = run(ENVIRONMENTS, "with", "one", "two", "--", "sh", "-c", command, folder=tmp_path)
    assert (done.returncode, done.stdout) == (status, "one/.packages\ntwo/.packages\n")
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def test_a_step_of_an_installation_is_one_line_and_its_output_goes_to_a_log(tmp_path: Path) -> None:
    words = (STEP, "--quiet", "installing a thing", "sh", "-c")
    done = run(*words, "echo many; echo words >&2", folder=tmp_path)
    assert re.fullmatch(r"==> installing a thing \.\.\. \d+ s\n", done.stdout)
    assert (tmp_path / "build/logs/installing-a-thing.txt").read_text() == "many\nwords\n"
    assert (tmp_path / "build/installation-seconds").read_text().strip().isdigit()
    failed = run(*words, "seq 100; echo no such package >&2; exit 7", folder=tmp_path)
    assert failed.returncode == 7
    assert "(exit status 7). The end of build/logs/installing-a-thing.txt:" in failed.stdout
    assert "    no such package\n" in failed.stdout


def test_a_step_keeps_its_exit_status() -> None:
    assert re.fullmatch(r"==> it\nhello\n<== it: done in \d+ s\n", run(STEP, "it", "echo", "hello").stdout)
    failed = run(STEP, "it", "sh", "-c", "exit 7")
    assert failed.returncode == 7
    assert re.search(r"<== it: FAILED after \d+ s \(exit status 7\)", failed.stdout)


FAKE = """#!/bin/sh
case "$2" in
    *version_info*) echo "{version}" ;;
    *machine*) echo "{machine}" ;;
    *ensurepip*) exit {ensurepip} ;;
    *abiflags*) echo "{flags}" ;;
esac
"""


def fake_python(
    path: Path, version: str, *, machine: str = "Linux x86_64", ensurepip: int = 0, flags: str = ""
) -> Path:
    """Write a program that answers as a Python of `version` would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FAKE.format(version=version, machine=machine, ensurepip=ensurepip, flags=flags))
    path.chmod(0o755)
    return path


def shim_that_does_not_run(path: Path) -> None:
    """Write a program that is there and refuses, as a version manager's shim may."""
    path.write_text("#!/bin/sh\necho 'version not installed' >&2\nexit 127\n")
    path.chmod(0o755)


def find_python(folder: Path, asked: str = "") -> subprocess.CompletedProcess[str]:
    """Look for the Python of .venv where only a folder, and what a shell script needs, is on PATH."""
    if not (folder / "dirname").exists():
        (folder / "dirname").symlink_to(shutil.which("dirname") or "")
    return run(ENVIRONMENTS, "python", asked, variables={"PATH": str(folder)})


def test_the_first_supported_python_that_runs_is_taken(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.13.0")
    shim_that_does_not_run(tmp_path / "python3.11")
    fake_python(tmp_path / "python3.12", "3.12.4")
    assert find_python(tmp_path).stdout == "python3.12\n"
    fake_python(tmp_path / "python3", "3.11.2")
    assert find_python(tmp_path).stdout == "python3\n"


def test_without_a_supported_python_one_sentence_has_the_remedy(tmp_path: Path) -> None:
    none = find_python(tmp_path)
    assert "found no Python that runs: install python3.12" in none.stderr
    fake_python(tmp_path / "python3", "3.13.0")
    found = find_python(tmp_path)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == (
        "The lessons' TensorFlow needs Python 3.11 or 3.12; found 3.13.0 (python3): install python3.12 and "
        "run `make PYTHON=python3.12` with your target.\n"
    )


def test_a_python_given_by_hand_is_not_replaced_by_another(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.11.2")
    asked = fake_python(tmp_path / "old" / "python", "3.10.13")
    assert f"found 3.10.13 ({asked}):" in find_python(tmp_path, str(asked)).stderr
    assert "found that python9 does not run" in find_python(tmp_path, "python9").stderr


def test_a_python_that_cannot_be_used_gets_one_sentence(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.11.2", ensurepip=1)
    assert "apt-get install python3-venv" in find_python(tmp_path).stderr
    fake_python(tmp_path / "python3", "3.12.4", machine="Darwin x86_64")
    assert "an Intel Mac is not supported" in find_python(tmp_path).stderr


def test_make_stops_at_that_sentence_and_leaves_no_environment(tmp_path: Path) -> None:
    for name in ("Makefile", "scripts/environments.sh", "scripts/step.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    fake = fake_python(tmp_path / "python3.13", "3.13.0")
    made = run("make", f"PYTHON={fake}", ".venv/.python", folder=tmp_path)
    assert made.returncode == 2
    assert f"needs Python 3.11 or 3.12; found 3.13.0 ({fake}): install" in made.stderr
    assert not (tmp_path / ".venv").exists()


def test_a_python_without_a_gil_is_taken_only_where_it_is_asked_for(tmp_path: Path) -> None:
    for version, flags in (("3.14.0", ""), ("3.14.0t", "t")):
        fake_python(tmp_path / ".pyenv/versions" / version / "bin/python", "3.14.0", flags=flags)
    where = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    for asked, version in (("3.14", "3.14.0"), ("3.14t", "3.14.0t")):
        found = run(ENVIRONMENTS, "other", asked, variables=where).stdout
        assert found == f"{tmp_path}/.pyenv/versions/{version}/bin/python\n"


def test_another_python_is_taken_from_path_or_from_pyenv(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3.13", "3.13.1")
    shim_that_does_not_run(tmp_path / "python3.14")
    installed = fake_python(tmp_path / ".pyenv/versions/3.14.2/bin/python", "3.14.2")
    where = {"HOME": str(tmp_path), "PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert run(ENVIRONMENTS, "other", "3.13", variables=where).stdout == "python3.13\n"
    assert run(ENVIRONMENTS, "other", "3.14", variables=where).stdout == f"{installed}\n"
    missing = run(ENVIRONMENTS, "other", "3.99", variables=where)
    assert (missing.returncode, missing.stdout, missing.stderr) == (1, "", "")
