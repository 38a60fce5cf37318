"""Finds CUDA's shared libraries: those of the loader, in LD_LIBRARY_PATH, and in the nvidia-* wheels.

`ldconfig -p` prints one library per line: `libcudnn.so.9 (libc6,x86-64) => /usr/lib/libcudnn.so.9`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import LibraryFact
from jupyter_mlgpu.explain.doctor.gather.tools import fact, run

_NAMES = (
    "libcuda", "libcudart", "libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse",
    "libcusparseLt", "libnvJitLink", "libnvrtc", "libnccl", "libcupti",
)  # fmt: skip
_FILE = re.compile(rf"({'|'.join(_NAMES)})\.so(?:\.(\d[\d.]*))?")
_LINE = re.compile(r"^\s*(\S+) \(.*\) => (\S+)$")


def read(path: list[str] | None = None) -> tuple[LibraryFact, ...]:
    """Return every CUDA library that is found, with the version in its file's real name."""
    if sys.platform == "darwin":  # CUDA left macOS with 10.14
        return ()
    found = [*_by_the_loader(), *_in_variable(), *_in_wheels(sys.path if path is None else path)]
    return tuple(dict.fromkeys(found))


def _by_the_loader() -> Iterator[LibraryFact]:
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if Path(program).exists():
            output = fact(lambda: run([program, "-p"]))  # noqa: B023 - called here
            for line in output.splitlines() if isinstance(output, str) else ():
                match = _LINE.match(line)
                if match and _FILE.fullmatch(match[1]):
                    yield from _library(Path(match[2]), "loader")
            return


def _in_variable() -> Iterator[LibraryFact]:
    for folder in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        for file in _files(Path(folder)):
            yield from _library(file, "LD_LIBRARY_PATH")


def _in_wheels(path: list[str]) -> Iterator[LibraryFact]:
    for entry in path:
        for folder in sorted(Path(entry or ".").glob("nvidia/*/lib")):
            for file in _files(folder):
                yield from _library(file, "wheel")


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(one for one in folder.iterdir() if _FILE.fullmatch(one.name))
    except OSError:
        return []


def _library(file: Path, source: str) -> Iterator[LibraryFact]:
    match = _FILE.fullmatch(file.name)
    if match:
        real = _FILE.fullmatch(Path(os.path.realpath(file)).name)
        yield LibraryFact(match[1], source, file.name, (real[2] if real else None) or match[2])
