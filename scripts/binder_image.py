"""What stands for Binder's container where there is no Docker; scripts/check_binder.py looks into it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class BinderError(Exception):
    """One sentence on what does not hold."""


class Image:
    """What stands for Binder's container: an environment with the requirements, the repository, a home.

    Nothing of the user's own Jupyter, Python path or checkout is seen from inside.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self.prefix = environment.absolute()
        self.repository = folder / "repository"
        self.home = folder / "home"
        self.home.mkdir()
        copy_of_the_repository(self.repository)

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables inside."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "IPYTHON", "PYTHON", "VIRTUAL_ENV", "MAKE"))
        }
        yarn = kept.get("YARN_GLOBAL_FOLDER") or str(Path.home() / ".yarn" / "berry")
        return {
            **kept,
            "HOME": str(self.home),
            "PATH": f"{self.prefix / 'bin'}{os.pathsep}{kept['PATH']}",
            "YARN_GLOBAL_FOLDER": yarn,
        }

    @property
    def python(self) -> str:
        """The version of Python inside, as 3.11."""
        return self.run("python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the repository, as the image has it, with further environment variables."""
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=self.repository,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
        )


def copy_of_the_repository(target: Path) -> None:
    """All files that git tracks, in a new folder: nothing that was built here, or that is a user's own."""
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=ROOT)
    for name in filter(None, listed.stdout.split("\0")):
        if (source := ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)
