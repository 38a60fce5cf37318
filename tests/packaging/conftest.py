"""What an index would have of this checkout, and fresh environments over it."""

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
def environment(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[..., Environment]:
    """Makes an environment from a list of constraints/, each package by its hash, and the wheel over it."""

    def make(name: str, *, wheel: bool = True) -> Environment:
        made = Environment(tmp_path_factory.mktemp("environment") / name)
        steps = [[sys.executable, "-m", "venv", str(made.folder)]]
        install = [str(made.python), "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:"]
        steps.append([*install, "--require-hashes", "--requirement", str(FOLDER / f"{name}.txt")])
        if wheel:
            (path,) = request.getfixturevalue("built").glob("*.whl")
            steps.append([*install, str(path)])
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        return made

    return make
