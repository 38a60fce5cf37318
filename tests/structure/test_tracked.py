"""Tests look at the files that git tracks, and a user may keep others beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tracked import tracked


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
def test_what_was_added_to_git_is_listed_and_outside_of_a_checkout_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A hook of git, which may have started the tests, names its own repository.
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        (folder / "zh").mkdir(parents=True)
        for name in ("b.ipynb", "a.ipynb", "gone.ipynb", "zh/\u7b2c 1 \u8bfe.ipynb"):
            (folder / name).write_text("{}", encoding="utf-8")
    for words in (["init"], ["add", "b.ipynb", "gone.ipynb", "zh"]):
        subprocess.run(["git", *words], cwd=first, check=True, capture_output=True)
    (first / "gone.ipynb").unlink()
    assert tracked(first, "*.ipynb") == [first / "b.ipynb"]
    assert tracked(first, "**/*") == [first / "b.ipynb", first / "zh" / "\u7b2c 1 \u8bfe.ipynb"]
    assert tracked(second, "*.ipynb") == [second / name for name in ("a.ipynb", "b.ipynb", "gone.ipynb")]
