"""A stand-in for Binder's container: an environment with its requirements, the repository, and a home."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tracked import tracked

from constraints import ROOT

LABEXTENSION = "jupyter-mlgpu"
SERVER_EXTENSION = "jupyter_mlgpu.serverextension"


class Image:
    """Runs commands as Binder's container does; they see nothing of the user's Jupyter or checkout.

    Not covered: the image itself, with what repo2docker and Ubuntu bring along, and Binder's limits of
    memory, processor and network.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self.prefix = environment.absolute()
        self.repository = folder / "repository"
        self.home = folder / "home"
        self.home.mkdir()
        for path in tracked(ROOT, "**/*"):
            target = self.repository / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables inside."""
        hidden = ("JUPYTER", "IPYTHON", "PYTHON", "VIRTUAL_ENV", "MAKE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        yarn = kept.get("YARN_GLOBAL_FOLDER") or str(Path.home() / ".yarn" / "berry")
        path = f"{self.prefix / 'bin'}{os.pathsep}{kept['PATH']}"
        return {**kept, "HOME": str(self.home), "PATH": path, "YARN_GLOBAL_FOLDER": yarn}

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the repository, with further environment variables."""
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=self.repository,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The container before binder/postBuild has run."""
    environment = os.environ.get("JUPYTER_MLGPU_BINDER_IMAGE")
    if environment is None:
        pytest.skip("needs an environment of its own: run `make test-binder`")
    return Image(Path(environment), tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="session")
def built(image: Image) -> Image:
    """The container after binder/postBuild, which installs the package where there was none."""
    image.run("python", "-m", "pip", "uninstall", "--yes", "--quiet", "jupyter_mlgpu")
    done = image.run("./binder/postBuild")
    assert done.returncode == 0, done.stdout + done.stderr
    return image
