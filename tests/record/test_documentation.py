"""Messages cite pages that people with only the installed package can read."""

from __future__ import annotations

import importlib.metadata
import re
from email.message import Message
from pathlib import Path

import pytest

from jupyter_mlgpu.record import documentation

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[2]


def installed_with(monkeypatch: pytest.MonkeyPatch, *urls: str) -> None:
    entries = Message()
    for url in urls:
        entries["Project-URL"] = url
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: entries)


@pytest.mark.parametrize(
    ("index", "page"),
    [
        (
            "https://git.example.org/a/b/blob/HEAD/docs/index.md",
            "https://git.example.org/a/b/blob/HEAD/docs/how-to/labs.md",
        ),
        ("https://docs.example.org/en/index.html", "https://docs.example.org/en/how-to/labs.html"),
    ],
)
def test_a_page_is_named_by_its_address(monkeypatch: pytest.MonkeyPatch, index: str, page: str) -> None:
    installed_with(monkeypatch, "Homepage, https://example.org", f"Documentation, {index}")
    assert documentation.page("how-to/labs") == page


def test_in_a_checkout_that_is_not_installed_it_is_named_by_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> Message:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "metadata", none)
    assert documentation.page("teacher") == "docs/teacher.md"


def test_the_pages_that_messages_cite_are_there() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "jupyter_mlgpu").rglob("*.py"))
    cited = set(re.findall(r"""\bpage\(["']([\w/-]+)["']\)""", sources))
    assert "teacher" in cited
    assert [name for name in cited if not (ROOT / "docs" / f"{name}.md").is_file()] == []
