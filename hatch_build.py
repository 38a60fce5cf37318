"""What a build adds to pyproject.toml: addresses in the metadata, and the lessons in the wheel."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A Markdown link or picture to a file of the repository.
_RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")
#: Lists the lessons and labs; notebooks/ may also hold what people or their tools have made.
LISTS = "jupyter_mlgpu/teach/packaged.py"
#: As in jupyter_mlgpu/teach/lessons/shipped.py.
TARGET = "jupyter_mlgpu/teach/lessons/notebooks"


def urls(repository: str) -> dict[str, str]:
    """Return the addresses that a package index lists beside the description."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/HEAD/docs/index.md",
        "Repository": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
    }


def absolute(text: str, repository: str, version: str) -> str:
    """Return README.md with addresses of a version's files in place of their paths.

    A package index shows the text far from the files that it names.
    """

    def address(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return _RELATIVE.sub(address, text)


class AddressesHook(MetadataHookInterface):
    """Makes the URLs and the long description of the repository's address in pyproject.toml."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to pyproject.toml's `project`."""
        repository = self.config["repository"]
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["urls"] = urls(repository)
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(text, repository, metadata["version"]),
        }


class LessonsHook(BuildHookInterface[Any]):
    """Puts the lessons, their solutions, the labs and the catalogues of both into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless the wheel is an editable one, which points to the checkout."""
        if version != "editable":
            folder = Path(self.root, "notebooks")
            files = {str(folder / name): f"{TARGET}/{name}" for name in packaged(Path(self.root))}
            build_data["force_include"] |= files


def packaged(root: Path) -> list[str]:
    """Return what the wheel of a checkout gets, as paths within its folder notebooks/."""
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
