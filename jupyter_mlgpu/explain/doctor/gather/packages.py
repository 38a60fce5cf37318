"""Reads installed packages of interest from their metadata, without importing them."""

from __future__ import annotations

import csv
import re
import site
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PathDistribution
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.explain.doctor.gather.tools import fact, text_of
from jupyter_mlgpu.measure.frameworks import registry

#: Names of packages of interest, besides those of the frameworks; a * at the end matches any suffix.
NAMES = frozenset({
    "absl-py", "anywidget", "h5py", "ipykernel", "ipython", "ipywidgets", "jupyter-client", "jupyter-core",
    "jupyter-mlgpu", "jupyter-server", "jupyterlab", "keras", "keras-core", "keras-cv", "keras-hub",
    "keras-nlp", "ml-dtypes", "nbformat", "notebook", "numpy", "opencv-python", "packaging", "pandas", "pip",
    "plotly", "protobuf", "psutil", "scikit-learn", "scipy", "setuptools", "tb-nightly", "tensorboard",
    "tensorstore", "tokenizers", "transformers", "typing-extensions", "wheel", "wrapt",
    "intel-extension-for-*", "nvidia-*",
})  # fmt: skip
#: Most code files of a package's record whose existence is checked.
_FILES = 400
_FOLDER = re.compile(r"(?P<name>[A-Za-z0-9_.+-]+?)-(?P<version>\d[^-]*?)(?:-py[\d.]+)?\.(?:dist|egg)-info")


def read(path: Iterable[str] | None = None) -> Mapping[str, Package]:
    """Return packages of interest on the path: the one that would be imported, others as its `copies`."""
    named = NAMES.union(*(registry.framework(name).packages for name in registry.FRAMEWORKS))
    starts = tuple(one.removesuffix("*") for one in named if one.endswith("*"))
    found: dict[str, list[tuple[Path, str]]] = {}
    for entry in dict.fromkeys(sys.path if path is None else path):
        for folder, name, version in _distributions(Path(entry or ".")):
            if name in named or name.startswith(starts):
                found.setdefault(name, []).append((folder, version))
    return {name: _package(places) for name, places in sorted(found.items())}


def _distributions(folder: Path) -> list[tuple[Path, str, str]]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    matches = [
        (one, _FOLDER.fullmatch(one.name)) for one in entries if one.suffix in (".dist-info", ".egg-info")
    ]
    return [(one, normal(match["name"]), match["version"]) for one, match in matches if match]


def normal(name: str) -> str:
    """Return a name in PyPI's normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _package(places: list[tuple[Path, str]]) -> Package:
    folder, version = places[0]
    metadata = PathDistribution(folder)
    return Package(
        version=version,
        installer=fact(lambda: (metadata.read_text("INSTALLER") or "").strip() or None),
        tags=fact(lambda: tags(metadata.read_text("WHEEL") or "")),
        requires=fact(lambda: requirements(metadata.requires or [])),
        missing=fact(lambda: _missing(folder)),
        copies=tuple(version for _, version in places[1:]),
        place=fact(lambda: _place(folder)),
    )


def tags(wheel: str) -> tuple[str, ...]:
    """Return the tags in a wheel's WHEEL file (PEP 427)."""
    lines = (line.partition(":") for line in wheel.splitlines())
    return tuple(value.strip() for name, _, value in lines if name.strip() == "Tag")


def requirements(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the requirements that apply here, without extras, such as `numpy<2.2.0,>=1.26.0`."""
    from packaging.requirements import Requirement

    parsed = map(Requirement, lines)
    return tuple(
        f"{normal(one.name)}{one.specifier}"
        for one in parsed
        if one.marker is None or one.marker.evaluate({"extra": ""})
    )


def _missing(folder: Path) -> int:
    """Return the number of a package's compiled files and top-level `__init__.py` that do not exist."""
    record = text_of(folder / "RECORD", 5_000_000)
    if record is None:
        return 0
    names = [row[0] for row in csv.reader(record.splitlines()) if row and _is_code(row[0])]
    return sum(not (folder.parent / name).exists() for name in names[:_FILES])


def _is_code(name: str) -> bool:
    if name.startswith(".."):
        return False
    return name.endswith((".so", ".dylib", ".pyd")) or (
        name.endswith("/__init__.py") and name.count("/") == 1
    )


def _place(folder: Path) -> str:
    if folder.is_relative_to(site.getusersitepackages()):
        return "user"
    return "environment" if folder.is_relative_to(sys.prefix) else "other"
