"""Puts the lessons, their solutions and translations, and the labs into the wheel, when it is built.

They stand in notebooks/, at the top of a checkout. An installation that is editable reads them there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: What people get; notebooks/ may hold besides what they or their tools have made.
PATTERNS = ("*.ipynb", "solutions/*.ipynb", "zh/*.ipynb", "labs/README.md", "labs/*/*/*.ipynb")
#: As in jupyter_mlgpu/teach/lessons/shipped.py.
TARGET = "jupyter_mlgpu/teach/lessons/notebooks"


class LessonsHook(BuildHookInterface[Any]):
    """Named in pyproject.toml; hatchling finds it by its base class."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is made; `version` is "editable" where it only points to the checkout."""
        if version == "editable":
            return
        folder = Path(self.root) / "notebooks"
        for path in sorted(found for pattern in PATTERNS for found in folder.glob(pattern)):
            build_data["force_include"][str(path)] = f"{TARGET}/{path.relative_to(folder).as_posix()}"
