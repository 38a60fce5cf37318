"""The modules that the user's code has imported, and a callback after it imports a framework.

Nothing is imported here. A cell often imports the framework and uses it at once; tracing and device selection
must begin in between. A finder placed first on `sys.meta_path` lets the other finders do their work and adds
one call after the module's code has run. No trace of it stays: the loader gets its own method back after the
import, and `stop` removes the finder.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Container, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from jupyter_mlgpu.measure import user_objects
from jupyter_mlgpu.record.stderr import say_on_stderr


def module(name: str) -> Any:
    """Return the module in `sys.modules`; None if the entry is missing or is not a module.

    The user's program may put any object there. No attribute of it is read, because that could run user code.
    """
    found = sys.modules.get(name)
    return found if user_objects.is_module(found) else None


def imported(name: str) -> bool:
    """Return True if a module has been imported completely; one that is still importing does not count."""
    found = module(name)
    if found is None:
        return False
    spec = user_objects.module_namespace(found).get("__spec__")
    # A spec of another type was put there by the user's code.
    return type(spec) is ModuleSpec and not getattr(spec, "_initializing", False)


def version(name: str) -> str | None:
    """Return the version that a module in `sys.modules` names (`__version__`), None if it names none yet."""
    found = module(name)
    if found is None:
        return None
    text = user_objects.module_namespace(found).get("__version__")
    # PyTorch's is a str with comparisons of its own.
    return str.__str__(text) if user_objects.is_a(text, str) else None


def numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version: (2, 13) for `2.13.0+cpu`."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


class ImportHook:
    """A finder that calls `on_import(name)` after each import of one of `names`."""

    def __init__(self, names: Container[str], on_import: Callable[[str], None]) -> None:
        self._names = names
        self._on_import = on_import
        self._searching: set[str] = set()

    def start(self) -> None:
        """Begin to call `on_import`."""
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Remove the finder; a second call has no effect."""
        # By identity: a finder of the user may define its own comparison.
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find one of the modules as Python would, with our call added after its code."""
        if fullname not in self._names or fullname in self._searching:
            return None
        self._searching.add(fullname)
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._searching.discard(fullname)
        loader = spec.loader if spec is not None else None
        if loader is None or not hasattr(loader, "exec_module"):
            return spec
        original = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the class's own method is visible again
            original(module)
            try:
                self._on_import(fullname)
            except Exception as error:
                # The user's import has succeeded; our part must not make it fail.
                say_on_stderr(f"jupyter_mlgpu could not start tracing {fullname}: {error}")

        try:
            loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:  # a loader with slots: leave it alone, tracing starts with the next cell
            return spec
        return spec
