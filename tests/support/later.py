"""Modules that take a second to import, and that most runs do not need: `nbformat = Later("nbformat")`."""

from importlib import import_module
from typing import Any


class Later:
    """Stands for a module, which is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") or attribute == "pytestmark":  # pytest asks what each name is
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)
