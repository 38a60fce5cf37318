"""The addresses in the package's metadata, made when it is built: its URLs, and its long description's links.

An index shows README.md far from the files that it names. So pictures and links lead into the repository, to
the files of that version.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

#: A Markdown link or picture to a file of the repository.
_RELATIVE = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


def urls(repository: str) -> dict[str, str]:
    """What an index lists beside the description."""
    return {
        "Homepage": repository,
        "Documentation": f"{repository}/blob/HEAD/docs/index.md",
        "Repository": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
    }


def absolute(text: str, repository: str, version: str) -> str:
    """README.md with the addresses of a version's files in place of their paths."""

    def address(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return _RELATIVE.sub(address, text)


class AddressesHook(MetadataHookInterface):
    """Named in pyproject.toml; hatchling finds it by its base class."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called when a distribution is made; `metadata` is pyproject.toml's `project`."""
        root = Path(self.root)
        repository = self.config["repository"]
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["urls"] = urls(repository)
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(text, repository, metadata["version"]),
        }
