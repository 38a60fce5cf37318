"""Doors: names that notebooks and servers import, for packages that stand in a room.

`open_door(__name__, "jupyter_mlgpu.teach.lessons")` at the end of lessons.py makes `jupyter_mlgpu.lessons`
that package itself, and `jupyter_mlgpu.lessons.images` its module, not a second copy with classes of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _AliasFinder(MetaPathFinder, Loader):
    """Finds the modules behind doors, by the names of the doors."""

    def __init__(self) -> None:
        self.rooms: dict[str, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        door = ".".join(fullname.split(".")[:2])
        return ModuleSpec(fullname, self) if door in self.rooms and door != fullname else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        door = ".".join(spec.name.split(".")[:2])
        module = import_module(f"{self.rooms[door]}{spec.name[len(door) :]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module has run; what importing it by the door's name has changed is put back."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


_ALIASES = _AliasFinder()


def alias_package(name: str, room: str) -> None:
    """From now on `name` is the package `room`."""
    if _ALIASES not in sys.meta_path:
        sys.meta_path.insert(0, _ALIASES)
    _ALIASES.rooms[name] = room
    sys.modules[name] = import_module(room)
