"""What this package and its extras add to an environment with ipykernel: installed_sizes.py lab report.

Run by the Python of an environment that pip has filled. Bytes are those of the files that pip has written,
compiled ones too; what ipykernel brings is not counted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def brought(name: str, extras: Sequence[str] = ()) -> dict[str, Distribution]:
    """The distributions that are here because `name` with its extras asks for them, itself among them."""
    found: dict[str, Distribution] = {}
    asked, seen = [(name, frozenset(extras))], set()
    while asked:
        one = asked.pop()
        if one in seen:
            continue
        seen.add(one)
        try:
            here = distribution(one[0])
        except PackageNotFoundError:  # on another system it would be here
            continue
        found[canonicalize_name(one[0])] = here
        for requirement in map(Requirement, here.requires or ()):
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *one[1])):
                asked.append((requirement.name, frozenset(requirement.extras)))
    return found


def added(extras: Sequence[str] = ()) -> dict[str, int]:
    """Bytes of each distribution that this package brings, and ipykernel does not."""
    ours = brought("jupyter_mlgpu", extras)
    return {name: _size(ours[name]) for name in sorted(ours.keys() - brought("ipykernel").keys())}


def _size(one: Distribution) -> int:
    paths = (one.locate_file(file) for file in one.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())  # type: ignore[attr-defined]


if __name__ == "__main__":
    sizes = added(sys.argv[1:])
    for name, size in sorted(sizes.items(), key=lambda one: -one[1]):
        print(f"{size / 1e6:8.1f} MB  {name}")
    print(f"{sum(sizes.values()) / 1e6:8.1f} MB  {len(sizes)} packages")
