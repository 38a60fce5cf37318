"""Packages that an extra of ours brings: whether they are here, and one sentence where they are not.

The package itself asks only for what a kernel needs. Whatever needs more asks here first, before anything is
begun that would be lost, and imports it then.
"""

from __future__ import annotations

import importlib.util
import sys

from jupyter_mlgpu.record.errors import MissingPackageError
from jupyter_mlgpu.record.sentence import say


def installed(name: str) -> bool:
    """Whether `import name` would find something."""
    if name in sys.modules:  # of what stands there, find_spec would ask more
        return sys.modules[name] is not None
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:  # of a dotted name, the first part is not there, or is no package
        return False


def require(what: str, extra: str, *packages: str) -> None:
    """Before `packages` are imported for `what`, which begins the sentence where one of them is missing.

    Raises MissingPackageError, which says how the `extra` that brings them is installed.
    """
    for package in packages:
        if not installed(package):
            raise MissingPackageError(
                say(
                    "{what} needs the package {package}, which is not installed in this Python: "
                    "run `{line}`.",
                    what=what,
                    package=package,
                    line=install_line(extra),
                )
            )


def install_line(extra: str) -> str:
    """What installs an extra, for a shell; after a `%`, for a cell."""
    return f'pip install "jupyter_mlgpu[{extra}]"'
