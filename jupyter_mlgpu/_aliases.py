"""Aliases of packages: top-level names that notebooks and servers import for packages in subfolders.

`alias_package(__name__, "jupyter_mlgpu.teach.lessons")` at the end of lessons.py makes
`jupyter_mlgpu.lessons` that package itself, and `jupyter_mlgpu.lessons.images` its module, not a second copy
with its own classes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _AliasFinder(MetaPathFinder, Loader):
    """Finds the modules of aliased packages by their alias names."""

    def __init__(self) -> None:
        self.packages: dict[str, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        alias = ".".join(fullname.split(".")[:2])
        return ModuleSpec(fullname, self) if alias in self.packages and alias != fullname else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        alias = ".".join(spec.name.split(".")[:2])
        module = import_module(f"{self.packages[alias]}{spec.name[len(alias) :]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec, which the import by the alias replaced.

        The module has already run.
        """
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


_ALIASES = _AliasFinder()


def alias_package(name: str, package: str) -> None:
    """Make `name` an alias of `package`."""
    if _ALIASES not in sys.meta_path:
        sys.meta_path.insert(0, _ALIASES)
    _ALIASES.packages[name] = package
    sys.modules[name] = import_module(package)
