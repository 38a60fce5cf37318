"""Folders of this package that no submission may read, because they hold solutions, hidden tests or answers.

A wheel has the labs, the lessons' solutions and the reference answers inside the package; a checkout has some
of them beside it. A sandbox shows Python's packages to a submission, so it has to hide these folders in each
visible copy of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import jupyter_mlgpu
from jupyter_mlgpu.teach.lessons import exercises, mistakes, shipped

#: The folder of this package.
PACKAGE = Path(jupyter_mlgpu.__file__).parent
#: The folders, relative to the package. Each comes from the code that reads it.
FOLDERS = tuple(
    folder.relative_to(PACKAGE)
    for folder in (shipped.PLACES[0], Path(exercises.__file__).parent, Path(mistakes.__file__).parent)
)
#: The only file in them that stays visible: `import jupyter_mlgpu.lessons` needs it, and it holds no answer.
READABLE = "__init__.py"

#: Patterns of package folders below a Python; the first is for a folder of packages or a checkout.
_PACKAGES = (
    "",
    "lib*/python3*/*-packages",
    "local/lib*/python3*/*-packages",
    "envs/*/lib/python3*/*-packages",
)
#: Folders of a virtual environment, which may be inside the checkout itself.
_OF_PYTHON = ("bin", "etc", "include", "lib", "lib64", "share")


@dataclass(frozen=True)
class Sealed:
    """A folder to hide; `readable` are the files directly in it that have to stay readable."""

    folder: Path
    readable: tuple[str, ...] = ()


def find_sealed(shown: Iterable[Path]) -> list[Sealed]:
    """Return the folders to hide if the folders `shown` are visible, by their visible paths."""
    roots = list(shown)
    found: dict[Path, Sealed] = {}
    for root in roots:
        # conda keeps a second copy of its packages here, also in archives. Python does not need it.
        if (root / "conda-meta").is_dir() and (root / "pkgs").is_dir():
            found[root / "pkgs"] = Sealed(root / "pkgs")
    for package in _packages(roots):
        for folder in FOLDERS:
            kept = (READABLE,) if (package / folder / READABLE).is_file() else ()
            for path in _shown_as(package / folder, roots):
                found[path] = Sealed(path, kept)
        for folder in _checkout_folders(package, roots):
            for path in _shown_as(folder, roots):
                found[path] = Sealed(path)
    # A folder within a hidden one needs no entry of its own.
    outer = [one for one in found.values() if not any(above in found for above in one.folder.parents)]
    return sorted(outer, key=lambda one: one.folder)


def _packages(roots: Iterable[Path]) -> set[Path]:
    """Return every copy of this package: the one in use, others that Python finds, others in `roots`."""
    above = [PACKAGE.parent, *(Path(one) for one in sys.path if one)]
    above += [path for root in roots for pattern in _PACKAGES for path in _matching(root, pattern)]
    return {path.resolve() for path in (one / PACKAGE.name for one in above) if path.is_dir()}


def _matching(root: Path, pattern: str) -> Iterator[Path]:
    yield from root.glob(pattern) if pattern else [root]


def _checkout_folders(package: Path, roots: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of a checkout beside the package, except those that Python needs."""
    checkout = package.parent
    if not (checkout / "pyproject.toml").is_file():
        return
    needed = {package, *(checkout / name for name in _OF_PYTHON)}
    for root in map(Path.resolve, roots):
        if root != checkout and root.is_relative_to(checkout):
            needed.add(checkout / root.relative_to(checkout).parts[0])
    yield from (path for path in checkout.iterdir() if path.is_dir() and path not in needed)


def _shown_as(folder: Path, roots: Iterable[Path]) -> Iterator[Path]:
    """Yield each path by which `roots` show a folder; none if it is outside of them."""
    if not folder.is_dir():
        return
    place = folder.resolve()
    for root in roots:
        top = root.resolve()
        if place.is_relative_to(top):
            yield root / place.relative_to(top)
