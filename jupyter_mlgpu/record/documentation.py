"""The address of a page of the documentation, for messages to people who have only the installed package."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urljoin


def page(name: str) -> str:
    """Return the address of a page; `name` is its path in docs/ without the suffix, as in "teacher".

    The installed package's metadata has the address of the index. Without metadata, the package is used from
    a checkout, and the page's path there is returned.
    """
    from importlib.metadata import PackageNotFoundError, metadata  # slow to import, and seldom needed

    try:
        entries = metadata("jupyter_mlgpu").get_all("Project-URL") or []
    except PackageNotFoundError:
        entries = []
    addresses = {one.partition(", ")[0]: one.partition(", ")[2] for one in entries}
    index: str = addresses.get("Documentation", "docs/index.md")
    return urljoin(index, f"{name}{PurePosixPath(index).suffix}")
