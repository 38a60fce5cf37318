"""Tests look at the files that git tracks, and a user may keep others beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tracked import tracked

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three notebooks, of which one lies deeper, and a folder that is called as a notebook."""
    # A hook of git, which may have started the tests, names its own repository.
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    # What lies around the temporary folder is not asked.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = tmp_path / "notebooks"
    (folder / "zh").mkdir(parents=True)
    (folder / "folder.ipynb").mkdir()
    for name in ("b.ipynb", "a.ipynb", "zh/\u7b2c 1 \u8bfe.ipynb"):
        (folder / name).write_text("{}", encoding="utf-8")
    return folder


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@needs_git
def test_what_was_added_to_git_is_listed_and_nothing_else(folder: Path) -> None:
    git(folder.parent, "init")
    git(folder, "add", "b.ipynb", "zh")
    assert tracked(folder, "*.ipynb") == [folder / "b.ipynb"]
    assert tracked(folder, "**/*") == [folder / "b.ipynb", folder / "zh" / "\u7b2c 1 \u8bfe.ipynb"]


@needs_git
def test_a_tracked_file_that_was_removed_is_not_listed(folder: Path) -> None:
    git(folder.parent, "init")
    git(folder, "add", ".")
    (folder / "a.ipynb").unlink()
    assert tracked(folder, "*.ipynb") == [folder / "b.ipynb"]


def test_outside_of_a_checkout_every_file_is_listed(folder: Path) -> None:
    assert tracked(folder, "*.ipynb") == [folder / "a.ipynb", folder / "b.ipynb"]


@needs_git
def test_in_a_checkout_of_another_project_every_file_is_listed(folder: Path) -> None:
    git(folder.parent, "init")
    assert tracked(folder, "*.ipynb") == [folder / "a.ipynb", folder / "b.ipynb"]


def test_without_git_every_file_is_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert tracked(folder, "*.ipynb") == [folder / "a.ipynb", folder / "b.ipynb"]
