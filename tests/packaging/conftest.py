"""Distributions of this checkout, and fresh environments with them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from constraints import FOLDER, ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel made from it, as an index would have them."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@dataclass(frozen=True)
class Environment:
    """A virtual environment; what is run in it sees nothing of this checkout, or of the user's home."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def variables(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER"))
        }
        return {
            **kept,
            "HOME": str(self.folder),
            "IPYTHONDIR": str(self.folder / "ipython"),
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        }

    def run(self, *words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run its Python."""
        return subprocess.run(
            [self.python, *words],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**self.variables, **more},
        )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Callable[..., Environment]:
    """Makes an environment as a user does: pip installs the wheel with extras, and what it is used with."""
    (wheel,) = built.glob("*.whl")

    def make(extras: str = "", *others: str) -> Environment:
        made = Environment(tmp_path_factory.mktemp("environment") / "venv")
        asked = f"{wheel}[{extras}]" if extras else str(wheel)
        install = [str(made.python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        install += ["--constraint", str(FOLDER / "extras.txt"), asked, *others]
        for step in ([sys.executable, "-m", "venv", str(made.folder)], install):
            done = subprocess.run(step, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        return made

    return make
