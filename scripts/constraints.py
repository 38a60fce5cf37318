"""Compiles the files of constraints/, and Binder's list, from pyproject.toml; `make constraints` runs it.

Each file names exact versions, for Linux on x86-64 and macOS on Apple silicon, Python 3.11 and
3.12. No file names a package index: pip takes the one its own configuration names, a mirror too.
Versions already chosen stay while they satisfy pyproject.toml; --upgrade takes the newest allowed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import uv

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "constraints"
#: One entry of a list: `name==version`, for some places ` ; marker`, and the lines of its hashes.
ENTRY = re.compile(r"^(?P<pin>[^\s#]\S*)(?: ; (?P<marker>.+?))?(?: \\)?\n(?: .*\n)*", re.MULTILINE)


@dataclass(frozen=True)
class ConstraintFile:
    """One compiled file: which extras and dependency groups of pyproject.toml it covers.

    With `hashes` it is a full list to install from (`pip install --require-hashes -r`); without, it
    is for `pip install -c`. `above` names the lists that are installed before it in the same place:
    it leaves out what they have. Its versions agree with theirs, and with those of the files of
    `agrees_with`. Wheels exist for the Pythons of `pythons` on Linux on x86-64 from `glibc` on and on
    Apple silicon from `macos` on (tests/packaging proves it).
    """

    name: str
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    hashes: bool = True
    above: tuple[str, ...] = ()
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
    # Every extra that can live in one environment. Plain, so that a student can add one extra. `metal` pins
    # what `tensorflow` asks for; for Python 3.13, uv would add a newer one, whose protobuf fits no other.
    ConstraintFile(
        "extras.txt",
        extras=(
            "lab",
            "report",
            "mcp",
            "metal",
            "lessons",
            "test",
            "jax",
            "mlx",
            "classroom",
            "arrow",
            "dataframe",
            "otel",
        ),
        groups=("build", "consoles"),
        hashes=False,
        glibc="2.35",  # for MLX
        macos="14.0",  # for MLX
    ),
    # What `make lab` installs into .venv.
    ConstraintFile(
        "make.txt",
        extras=("lab", "report", "metal", "lessons"),
        groups=("build",),
        agrees_with=("extras.txt",),
    ),
    # What the tests and `make lint` add to .venv.
    ConstraintFile("tests.txt", extras=("test", "teacher"), above=("make.txt",), agrees_with=("extras.txt",)),
    # What `make` installs for the unit tests under each other Python.
    ConstraintFile(
        "unit.txt",
        extras=("lab", "report"),
        groups=("unit",),
        agrees_with=("extras.txt",),
        pythons=("3.11", "3.12", "3.13", "3.14"),
    ),
    # An older JupyterLab, so it agrees with none of the others.
    ConstraintFile("front-ends.txt", extras=("lab", "report"), groups=("front-ends",)),
    # An older JupyterHub, and that JupyterLab.
    ConstraintFile("hub-5.txt", extras=("lab", "report"), groups=("hub-5",)),
    # The user environment of a class on The Littlest JupyterHub; binder/hub/README.md has the steps.
    ConstraintFile(
        "tljh.txt", extras=("lab", "report", "lessons"), groups=("tljh",), agrees_with=("make.txt",)
    ),
    # What binder/hub/gpu.Dockerfile installs above the image of a class.
    ConstraintFile("gpu.txt", groups=("gpu-image",), agrees_with=("extras.txt", "make.txt")),
    # Plain: on Linux a local CPU build (2.13.0+cpu) may stand in for the index's CUDA build.
    ConstraintFile("torch.txt", extras=("torch",), hashes=False, agrees_with=("extras.txt",), macos="14.0"),
    # What `make test` adds in .venv-frameworks to the packages of .venv, beside torch.txt.
    ConstraintFile(
        "frameworks.txt",
        extras=("jax", "mlx"),
        groups=("frameworks",),
        above=("make.txt", "tests.txt"),
        agrees_with=("extras.txt", "torch.txt"),
        glibc="2.35",  # for MLX
        macos="14.0",  # for MLX
    ),
    # What grades labs, builds the documentation and checks binder/, above .venv too.
    ConstraintFile(
        "tools.txt",
        groups=("class", "docs", "binder"),
        above=("make.txt", "tests.txt"),
        agrees_with=("extras.txt",),
    ),
    # What builds the demo, above .venv too.
    ConstraintFile(
        "demo.txt", groups=("demo",), above=("make.txt", "tests.txt"), agrees_with=("extras.txt",)
    ),
    # Above .venv too, and apart from tools.txt: its plugins of pytest would load in other runs.
    ConstraintFile(
        "peers.txt", groups=("peers",), above=("make.txt", "tests.txt"), agrees_with=("extras.txt",)
    ),
    # What Binder installs: the lessons on a processor, and what building the package in postBuild needs.
    ConstraintFile(
        "requirements.txt",
        extras=("lab", "report", "lessons", "dataframe"),
        groups=("build", "binder-image"),
        agrees_with=("extras.txt", "make.txt"),
        place="binder",
    ),
    # The older pair for Apple silicon, which excludes the extras above.
    ConstraintFile("metal-legacy.txt", extras=("metal-legacy",), pythons=("3.11",)),
)
BY_NAME = {file.name: file for file in FILES}


def compile_command(file: ConstraintFile, output: Path, *, upgrade: bool = False) -> list[str]:
    """The uv command that writes `file` to `output`, with what the lists below it have."""
    command = [uv.find_uv_bin(), "pip", "compile", str(ROOT / "pyproject.toml")]
    command += ["--quiet", "--universal", "--python-version", "3.11", "--no-build"]
    command += ["--no-annotate", "--custom-compile-command", "make constraints"]
    for extra in file.extras:
        command += ["--extra", extra]
    for group in file.groups:
        command += ["--group", group]
    if file.hashes:
        command.append("--generate-hashes")
    for other in (*file.above, *file.agrees_with):
        command += ["--constraint", str(BY_NAME[other].path)]
    if upgrade:
        command.append("--upgrade")
    return [*command, "--output-file", str(output)]


def leave_out(text: str, below: Iterable[str]) -> str:
    """A list less the entries that a list below it has, under the same marker or under none."""
    there = {entry.groups() for other in below for entry in ENTRY.finditer(other)}

    def kept(entry: re.Match[str]) -> str:
        return "" if there & {entry.groups(), (entry["pin"], None)} else entry[0]

    return ENTRY.sub(kept, text)


def compile_file(file: ConstraintFile, output: Path, *, upgrade: bool = False) -> int:
    """Write `file` to `output`; the exit status is that of uv."""
    done = subprocess.run(compile_command(file, output, upgrade=upgrade), cwd=ROOT)
    if done.returncode == 0:
        below = [BY_NAME[other].path.read_text(encoding="utf-8") for other in file.above]
        output.write_text(leave_out(output.read_text(encoding="utf-8"), below), encoding="utf-8")
    return done.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile every file; the exit status is that of the first compilation that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions allowed")
    upgrade = parser.parse_args(arguments).upgrade
    FOLDER.mkdir(exist_ok=True)
    for file in FILES:
        print(f"    {file.place}/{file.name}", flush=True)
        status = compile_file(file, file.path, upgrade=upgrade)
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
