"""Which Python `make` takes, and the sentence it says where there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from constraints import FILES, ROOT

FAKE = """#!/bin/sh
case "$2" in
    *version_info*) echo "{version}" ;;
    *machine*) echo "{machine}" ;;
    *ensurepip*) exit {ensurepip} ;;
esac
"""


def fake_python(path: Path, version: str, *, machine: str = "Linux x86_64", venv_works: bool = True) -> Path:
    """A program at `path` that answers as a Python of `version` would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FAKE.format(version=version, machine=machine, ensurepip=0 if venv_works else 1))
    path.chmod(0o755)
    return path


def shim_that_does_not_run(path: Path) -> None:
    """A program at `path` that is there and refuses, as a version manager's shim may."""
    path.write_text("#!/bin/sh\necho 'version not installed' >&2\nexit 127\n")
    path.chmod(0o755)


def find_python(asked: str = "", *, path: Path) -> subprocess.CompletedProcess[str]:
    """Run scripts/find_python.sh with `path` as the only folder on PATH."""
    return subprocess.run(
        [ROOT / "scripts/find_python.sh", asked], capture_output=True, text=True, env={"PATH": str(path)}
    )


@pytest.mark.parametrize("version", ["3.11.2", "3.12.1"])
def test_python3_is_taken_when_it_is_a_supported_version(tmp_path: Path, version: str) -> None:
    fake_python(tmp_path / "python3", version)
    found = find_python(path=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (0, "python3\n", "")


def test_a_shim_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    shim_that_does_not_run(tmp_path / "python3")
    shim_that_does_not_run(tmp_path / "python3.11")
    fake_python(tmp_path / "python3.12", "3.12.4")
    assert find_python(path=tmp_path).stdout == "python3.12\n"


def test_a_newer_python3_is_passed_over_for_an_older_one_that_is_supported(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.13.0")
    fake_python(tmp_path / "python3.11", "3.11.9")
    assert find_python(path=tmp_path).stdout == "python3.11\n"


def test_only_an_unsupported_python_gets_one_sentence_with_the_remedy(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.13.0")
    found = find_python(path=tmp_path)
    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr == (
        "The lessons' TensorFlow needs Python 3.11 or 3.12; found 3.13.0 (python3): install python3.12 and "
        "run `make PYTHON=python3.12` with your target.\n"
    )


def test_no_python_at_all_gets_one_sentence(tmp_path: Path) -> None:
    found = find_python(path=tmp_path)
    assert found.returncode == 1
    assert "needs Python 3.11 or 3.12; found no Python that runs: install python3.12" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_a_python_given_by_hand_is_not_replaced_by_another(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.11.2")
    asked = fake_python(tmp_path / "old" / "python", "3.10.13")
    found = find_python(str(asked), path=tmp_path)
    assert found.returncode == 1
    assert f"found 3.10.13 ({asked}):" in found.stderr


def test_a_python_given_by_hand_that_does_not_run_is_named(tmp_path: Path) -> None:
    found = find_python("python9", path=tmp_path)
    assert found.returncode == 1
    assert "found that python9 does not run: install python3.12" in found.stderr


def test_a_python_without_ensurepip_gets_one_sentence_with_the_package_to_install(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.11.2", venv_works=False)
    found = find_python(path=tmp_path)
    assert found.returncode == 1
    assert len(found.stderr.splitlines()) == 1
    assert "python3 (3.11.2) cannot make a virtual environment" in found.stderr
    assert "apt-get install python3-venv" in found.stderr


def test_an_intel_python_on_a_mac_gets_one_sentence(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3", "3.12.4", machine="Darwin x86_64")
    found = find_python(path=tmp_path)
    assert found.returncode == 1
    assert len(found.stderr.splitlines()) == 1
    assert "an Intel Mac is not supported" in found.stderr


def test_make_stops_at_that_sentence_and_leaves_no_environment(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    made_by_make = shutil.ignore_patterns(".git", ".venv*", ".yarn", "node_modules", "dist", "__pycache__")
    shutil.copytree(ROOT, checkout, ignore=made_by_make)
    fake = fake_python(tmp_path / "python3.13", "3.13.0")
    made = subprocess.run(
        ["make", f"PYTHON={fake}", "lab"],
        capture_output=True,
        text=True,
        cwd=checkout,
        env={key: value for key, value in os.environ.items() if not key.startswith("MAKE")},
    )
    assert made.returncode == 2
    assert f"The lessons' TensorFlow needs Python 3.11 or 3.12; found 3.13.0 ({fake}): install" in made.stderr
    assert not (checkout / ".venv").exists()


def other_python(version: str, *, home: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run scripts/find_other_python.sh for a Python of `version`."""
    return subprocess.run(
        [ROOT / "scripts/find_other_python.sh", version],
        capture_output=True,
        text=True,
        env={"HOME": str(home), "PATH": str(path)},
    )


def test_another_python_is_taken_from_path(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3.13", "3.13.1")
    assert other_python("3.13", home=tmp_path, path=tmp_path).stdout == "python3.13\n"


def test_another_python_is_taken_from_pyenv_where_its_shim_does_not_run(tmp_path: Path) -> None:
    shim_that_does_not_run(tmp_path / "python3.14")
    installed = fake_python(tmp_path / ".pyenv/versions/3.14.2/bin/python", "3.14.2")
    assert other_python("3.14", home=tmp_path, path=tmp_path).stdout == f"{installed}\n"


def test_no_such_python_at_hand_is_told_by_the_exit_status(tmp_path: Path) -> None:
    fake_python(tmp_path / "python3.13", "3.13.1")
    found = other_python("3.14", home=tmp_path, path=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")


def test_the_run_says_which_python_its_unit_tests_did_not_run_under(tmp_path: Path) -> None:
    """A checkout whose environments stand, and whose tests fail under Python 3.13."""
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    for name in ("Makefile", "scripts/find_other_python.sh", "scripts/step.sh"):
        shutil.copy(ROOT / name, checkout / name)
    programs = {
        "scripts/with_environments.sh": 'shift; shift; exec "$@"',
        ".venv/bin/python": 'case "$*" in *python-3.13*) exit 1 ;; esac',
    }
    for name, text in programs.items():
        program = checkout / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    (checkout / ".venv/.python").write_text("3.11.7")
    for version in ("3.12", "3.13"):
        fake_python(tmp_path / "bin" / f"python{version}", f"{version}.1")
    shim_that_does_not_run(tmp_path / "bin/python3.14")
    done = subprocess.run(
        ["make", "test-other-python", "--assume-old=test-tools"],
        capture_output=True,
        text=True,
        cwd=checkout,
        env={"HOME": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"},
    )
    assert "<== unit tests under Python 3.12: done" in done.stdout, done.stdout + done.stderr
    assert "==> unit tests under Python 3.13: FAILED" in done.stdout
    assert "==> unit tests under Python 3.14: not run, for none is at hand" in done.stdout
    assert "under Python 3.11" not in done.stdout
    assert done.returncode == 2


def test_the_pythons_of_the_package_are_those_that_its_unit_tests_are_for() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pythons = re.findall(r"^PYTHONS := (.*)$", makefile, flags=re.MULTILINE)[0].split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one.rpartition(" ")[2] for one in project["classifiers"] if "Python :: 3." in one]
    (unit,) = (file for file in FILES if file.name == "unit.txt")
    assert pythons == named == list(unit.pythons)
