"""Build the emulated MPS device against the PyTorch at hand.

    python tests/mps_emulator/building.py    # prints the library

It is made of the sources in `plugin/`. The library is kept in build/mps_emulator, under a name made from
these and from PyTorch's version, so it is built once.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = sorted((HERE / "plugin").glob("*.cc"))

#: The folder of the package that loads the device when PyTorch is imported, and the variable of the library.
AUTOLOAD = HERE / "autoload"
VARIABLE = "MPS_EMULATOR_LIBRARY"

#: The versions with which it was tried: what an operation's code for all devices calls differs by version.
VERSIONS = ("2.13",)

_FLAGS = ("-std=c++20", "-O1", "-fPIC", "-w", "-D_GLIBCXX_USE_CXX11_ABI=1")
_LIBRARIES = ("torch_cpu", "c10")


class CannotBuildError(Exception):
    """The reason why the emulator was not built, in one sentence."""


def why_not() -> str | None:
    """Return why the emulator cannot be built here; None where it can."""
    if sys.platform != "linux":
        return "the emulated MPS device is built on Linux"
    if shutil.which("g++") is None:
        return "the emulated MPS device is built by g++, which is not here"
    if importlib.util.find_spec("torch") is None:
        return "the emulated MPS device is a device of PyTorch, which is not installed"
    version = importlib.metadata.version("torch")
    if not version.startswith(tuple(f"{one}." for one in VERSIONS)):
        return f"the emulated MPS device knows PyTorch {' and '.join(VERSIONS)}; found {version}"
    return None


def library() -> Path:
    """Return the library, built if it was not. Raises CannotBuildError."""
    reason = why_not()
    if reason is not None:
        raise CannotBuildError(reason)
    made_from = [*SOURCES, *sorted((HERE / "plugin").glob("*.h")), Path(__file__)]
    digest = hashlib.sha256(importlib.metadata.version("torch").encode())
    for path in made_from:
        digest.update(path.read_bytes())
    target = ROOT / "build" / "mps_emulator" / f"libmps_emulator-{digest.hexdigest()[:12]}.so"
    if not target.exists():
        _build(target)
    return target


def environment(library: Path) -> dict[str, str]:
    """Return the variables with which a Python's PyTorch has the device."""
    paths = [str(AUTOLOAD), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {VARIABLE: str(library), "PYTHONPATH": os.pathsep.join(paths)}


def _build(target: Path) -> None:
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise CannotBuildError("PyTorch's folder was not found")
    torch = Path(found.origin).parent
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)

        def compiled(source: Path) -> str:
            made = folder / f"{source.stem}.o"
            _run("g++", *_FLAGS, f"-I{torch / 'include'}", "-c", str(source), "-o", str(made))
            return str(made)

        with ThreadPoolExecutor(2) as workers:
            parts = list(workers.map(compiled, SOURCES))
        linked = folder / "linked.so"
        where = (f"-L{torch / 'lib'}", *(f"-l{one}" for one in _LIBRARIES), "-Wl,--no-undefined")
        _run("g++", "-shared", *parts, "-o", str(linked), *where)
        linked.replace(target)  # whole, or not there: several may build at once


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotBuildError(f"g++ refused the emulated MPS device: {done.stderr.strip()[-2000:]}")


if __name__ == "__main__":
    try:
        print(library())
    except CannotBuildError as error:
        sys.exit(f"{error}.")
