"""Puts the lessons, their solutions, the labs and the catalogues of both into the wheel, when it is built.

They stand in notebooks/, at the top of a checkout. An installation that is editable reads them there.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Lists what people get; notebooks/ may hold besides what they or their tools have made.
LISTS = "jupyter_mlgpu/teach/packaged.py"
#: As in jupyter_mlgpu/teach/lessons/shipped.py.
TARGET = "jupyter_mlgpu/teach/lessons/notebooks"


class LessonsHook(BuildHookInterface[Any]):
    """Named in pyproject.toml; hatchling finds it by its base class."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is made; `version` is "editable" where it only points to the checkout."""
        if version == "editable":
            return
        folder = Path(self.root) / "notebooks"
        for name in packaged(Path(self.root)):
            build_data["force_include"][str(folder / name)] = f"{TARGET}/{name}"


def packaged(root: Path) -> list[str]:
    """What the wheel of a checkout gets, as paths within its folder notebooks/."""
    lists = runpy.run_path(str(root / LISTS))
    names = [
        "labs/README.md",
        *(f"{folder}{lesson}.ipynb" for folder in ("", "solutions/") for lesson in lists["LESSONS"]),
        *(f"zh/{lesson}.po" for lesson in lists["LESSONS"]),
        *(f"labs/source/{lab}/{lab}.ipynb" for lab in lists["LABS"]),
        *(f"labs/zh/{lab}/{lab}.po" for lab in lists["LABS"]),
    ]
    # The first lesson has no solutions.
    return sorted(name for name in names if (root / "notebooks" / name).is_file())
