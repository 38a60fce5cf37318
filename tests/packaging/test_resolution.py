"""The pinned versions can be installed from wheels alone on every platform; asks a package index."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import uv

from constraints import BY_NAME, FILES, ROOT, ConstraintFile, compile_file

pytestmark = pytest.mark.slow


def run_uv(*arguments: str, macos: str = "") -> subprocess.CompletedProcess[str]:
    """Run uv, for the oldest macOS named where one is named."""
    environment = {**os.environ, **({"MACOSX_DEPLOYMENT_TARGET": macos} if macos else {})}
    return subprocess.run(
        [uv.find_uv_bin(), *arguments], capture_output=True, text=True, env=environment, cwd=ROOT
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A package index that answers; without one these tests are reported as skipped."""
    target = tmp_path_factory.mktemp("index")
    asked = run_uv(
        "pip", "install", "--dry-run", "--refresh", "--no-deps", "--target", str(target), "packaging"
    )
    if re.search(r"client error|timed out|network was disabled", asked.stderr):
        pytest.skip("No package index answers, so it is not proven here that constraints/ can be installed.")
    assert asked.returncode == 0, asked.stderr


def dry_install(
    file: ConstraintFile, platform: str, python: str, target: Path
) -> subprocess.CompletedProcess[str]:
    """Choose a wheel for everything that `file` and the lists below it name, without installing it."""
    lists = [BY_NAME[name].path for name in file.above] + [file.path]
    return run_uv(
        *("pip", "install", "--dry-run", "--only-binary", ":all:", "--target", str(target)),
        *("--python-platform", platform, "--python-version", python),
        *(["--require-hashes"] if file.hashes else []),
        *(word for path in lists for word in ("--requirement", str(path))),
        macos=file.macos,
    )


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("system", ["linux", "macos"])
@pytest.mark.parametrize(
    ("file", "python"),
    [pytest.param(file, python, id=f"{file.name}-{python}") for file in FILES for python in file.pythons],
)
def test_every_pinned_version_has_a_wheel(
    file: ConstraintFile, python: str, system: str, tmp_path: Path
) -> None:
    linux = f"x86_64-manylinux_{file.glibc.replace('.', '_')}"
    platform = {"linux": linux, "macos": "aarch64-apple-darwin"}[system]
    done = dry_install(file, platform, python, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Would install" in done.stderr or "Would download" in done.stderr


@pytest.mark.usefixtures("index")
def test_the_older_metal_pair_is_refused_where_it_has_no_wheel(tmp_path: Path) -> None:
    (file,) = [file for file in FILES if file.name == "metal-legacy.txt"]
    done = dry_install(file, "aarch64-apple-darwin", "3.12", tmp_path)
    assert done.returncode != 0
    assert "tensorflow-metal" in done.stderr


def without_hashes(text: str) -> list[str]:
    """The lines that name a version; new builds of a version, and so its hashes, may come later."""
    return [line.removesuffix("\\").strip() for line in text.splitlines() if "==" in line]


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_compiling_again_gives_the_same_versions(file: ConstraintFile, tmp_path: Path) -> None:
    output = tmp_path / file.name
    committed = file.path.read_text(encoding="utf-8")
    output.write_text(committed, encoding="utf-8")
    assert compile_file(file, output) == 0
    compiled = output.read_text(encoding="utf-8")
    assert without_hashes(compiled) == without_hashes(committed), "run `make constraints`"
