"""Reads the versions that each framework was built for from its wheel's files, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import Build
from jupyter_mlgpu.measure.frameworks import registry


def read(path: list[str] | None = None) -> Mapping[str, Build]:
    """Return the builds of the frameworks on the path, by name."""
    folders = [Path(entry or ".") for entry in (sys.path if path is None else path)]
    readers = {name: registry.framework(name).build for name in registry.FRAMEWORKS}
    built = {name: _first(registry.part(where), folders) for name, where in readers.items() if where}
    return {name: build for name, build in built.items() if build is not None}


def _first(read: Callable[[Path], tuple[str | None, str | None]], folders: list[Path]) -> Build | None:
    for folder in folders:
        try:
            return Build(*read(folder))
        except OSError:  # it is not in this folder
            continue
    return None
