"""Checks for the optional packages of an extra, with one sentence for a missing one.

The package itself requires only what a kernel needs. Code that needs more checks here first, before it starts
work that would be lost, and then imports the packages.
"""

from __future__ import annotations

import importlib.util
import sys

from jupyter_mlgpu.record.errors import MissingPackageError
from jupyter_mlgpu.record.sentence import say


def installed(name: str) -> bool:
    """Return True if `import name` would find a module."""
    if name in sys.modules:  # find_spec would read more attributes of the module
        return sys.modules[name] is not None
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:  # the first part of a dotted name is missing or is not a package
        return False


def require(what: str, extra: str, *packages: str) -> None:
    """Raise MissingPackageError unless all `packages` are installed.

    The error's sentence begins with `what` and gives the command that installs the `extra`. Call this before
    the packages are imported.
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


def too_new_a_python(extra: str, newest: tuple[int, int] | None) -> str:
    """Return why an extra installs nothing for this Python; empty if it installs its packages.

    `newest` is the newest Python for which they were built, None if there is no such limit.
    """
    if newest is None or sys.version_info[:2] <= newest:
        return ""
    return say(
        "[{extra}] needs Python {newest} or older, and this is Python {found}",
        extra=extra,
        newest=".".join(map(str, newest)),
        found=".".join(map(str, sys.version_info[:2])),
    )


def install_line(extra: str) -> str:
    """Return the shell command that installs an extra. With a `%` before it, it works in a cell."""
    return f'pip install "jupyter_mlgpu[{extra}]"'
