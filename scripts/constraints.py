"""Compiles the files of constraints/, and Binder's list, from pyproject.toml; `make constraints` runs it.

Each file names exact versions, for Linux on x86-64 and macOS on Apple silicon, Python 3.11 and
3.12. No file names a package index: pip takes the one its own configuration names, a mirror too.
Versions already chosen stay while they satisfy pyproject.toml; --upgrade takes the newest allowed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uv

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "constraints"


@dataclass(frozen=True)
class ConstraintFile:
    """One compiled file: which extras and dependency groups of pyproject.toml it covers.

    With `hashes` it is a full list to install from (`pip install --require-hashes -r`); without, it
    is for `pip install -c`. Where versions must agree with those of other files, `agrees_with`
    names them. Wheels exist for the Pythons of `pythons` on Linux on x86-64 from `glibc` on and
    on Apple silicon from `macos` on (tests/packaging proves it).
    """

    name: str
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    hashes: bool = True
    agrees_with: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ("3.11", "3.12")
    glibc: str = "2.28"
    macos: str = "13.0"
    #: Where it lies, seen from the top: Binder's list has to lie where Binder looks.
    place: str = FOLDER.name

    @property
    def path(self) -> Path:
        return ROOT / self.place / self.name


#: In the order in which they are compiled: the widest first, for the others agree with it.
FILES = (
    # Every extra that can live in one environment. Plain, so that a student can add one extra.
    ConstraintFile(
        "extras.txt",
        extras=(
            "lab",
            "report",
            "tensorflow",
            "metal",
            "lessons",
            "test",
            "jax",
            "mlx",
            "classroom",
            "dataframe",
        ),
        groups=("build",),
        hashes=False,
        glibc="2.35",  # for MLX
        macos="14.0",  # for MLX
    ),
    # What `make` installs into .venv.
    ConstraintFile(
        "make.txt",
        extras=("metal", "lessons", "test"),
        groups=("build",),
        agrees_with=("extras.txt",),
    ),
    # What `make` installs into .venv-other/3.13 and the like, for the unit tests under the other Pythons.
    ConstraintFile(
        "unit.txt",
        extras=("lab", "report"),
        groups=("unit",),
        agrees_with=("extras.txt",),
        pythons=("3.11", "3.12", "3.13", "3.14"),
    ),
    # What people have who install the package itself, JupyterLab with it, or the lessons: tests/packaging
    # installs a wheel over each, and uses it.
    ConstraintFile(
        "core.txt",
        groups=("consoles",),
        agrees_with=("extras.txt",),
        pythons=("3.11", "3.12", "3.13", "3.14"),
    ),
    ConstraintFile(
        "lab.txt", extras=("lab",), agrees_with=("extras.txt",), pythons=("3.11", "3.12", "3.13", "3.14")
    ),
    ConstraintFile(
        "lessons.txt", extras=("lab", "lessons"), groups=("consoles",), agrees_with=("extras.txt", "make.txt")
    ),
    # What `make` installs into .venv-front-ends: an older JupyterLab, so it agrees with none of the others.
    ConstraintFile("front-ends.txt", extras=("lab", "report"), groups=("front-ends",)),
    # What `make` installs into .venv-hub-5: an older JupyterHub, and that JupyterLab.
    ConstraintFile("hub-5.txt", extras=("lab", "report"), groups=("hub-5",)),
    # The user environment of a class on The Littlest JupyterHub; binder/hub/README.md has the steps.
    ConstraintFile(
        "tljh.txt", extras=("lab", "report", "lessons"), groups=("tljh",), agrees_with=("make.txt",)
    ),
    # What binder/hub/gpu.Dockerfile installs above the image of a class.
    ConstraintFile("gpu.txt", groups=("gpu-image",), agrees_with=("extras.txt", "make.txt")),
    # Plain: on Linux a local CPU build (2.13.0+cpu) may stand in for the index's CUDA build.
    ConstraintFile("torch.txt", extras=("torch",), hashes=False, agrees_with=("extras.txt",), macos="14.0"),
    # What `make` adds in .venv-frameworks to the packages of .venv, beside torch.txt.
    ConstraintFile(
        "frameworks.txt",
        extras=("jax", "mlx"),
        groups=("frameworks",),
        agrees_with=("extras.txt", "make.txt", "torch.txt"),
        glibc="2.35",  # for MLX
        macos="14.0",  # for MLX
    ),
    # What `make` adds in .venv-class to the packages of .venv.
    ConstraintFile("class.txt", groups=("class",), agrees_with=("extras.txt", "make.txt")),
    # What `make` adds in .venv-peers to the packages of .venv.
    ConstraintFile("peers.txt", groups=("peers",), agrees_with=("extras.txt", "make.txt")),
    # What `make` adds in .venv-teacher to the packages of .venv.
    ConstraintFile("teacher.txt", extras=("teacher",), agrees_with=("extras.txt", "make.txt")),
    # What `make` adds in .venv-docs to the packages of .venv.
    ConstraintFile("docs.txt", groups=("docs",), agrees_with=("extras.txt", "make.txt")),
    # What `make` adds in .venv-benchmark to the packages of .venv, beside torch.txt.
    ConstraintFile(
        "benchmark.txt",
        extras=("jax",),
        groups=("benchmark",),
        agrees_with=("extras.txt", "make.txt", "torch.txt", "frameworks.txt"),
        macos="15.0",  # for scalene
    ),
    # What Binder installs: the lessons on a processor, and what building the package in postBuild needs.
    ConstraintFile(
        "requirements.txt",
        extras=("lab", "report", "lessons", "dataframe"),
        groups=("build", "binder-image"),
        agrees_with=("extras.txt", "make.txt"),
        place="binder",
    ),
    # What `make` adds in .venv-binder to the packages of .venv: the tools that check binder/ and .github/.
    ConstraintFile("binder.txt", groups=("binder",), agrees_with=("extras.txt", "make.txt")),
    # The older pair for Apple silicon, which excludes the extras above.
    ConstraintFile("metal-legacy.txt", extras=("metal-legacy",), pythons=("3.11",)),
)


def compile_command(
    file: ConstraintFile, output: Path, *, folder: Path = FOLDER, upgrade: bool = False
) -> list[str]:
    """The uv command that writes `file` to `output`, agreeing with its neighbours in `folder`."""
    command = [uv.find_uv_bin(), "pip", "compile", str(ROOT / "pyproject.toml")]
    command += ["--quiet", "--universal", "--python-version", "3.11", "--no-build"]
    command += ["--no-annotate", "--custom-compile-command", "make constraints"]
    for extra in file.extras:
        command += ["--extra", extra]
    for group in file.groups:
        command += ["--group", group]
    if file.hashes:
        command.append("--generate-hashes")
    for other in file.agrees_with:
        command += ["--constraint", str(folder / other)]
    if upgrade:
        command.append("--upgrade")
    return [*command, "--output-file", str(output)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile every file; the exit status is that of the first compilation that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions allowed")
    upgrade = parser.parse_args(arguments).upgrade
    FOLDER.mkdir(exist_ok=True)
    for file in FILES:
        print(f"    {file.place}/{file.name}", flush=True)
        done = subprocess.run(compile_command(file, file.path, upgrade=upgrade), cwd=ROOT)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
