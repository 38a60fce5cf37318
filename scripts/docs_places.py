"""Where the files of the repository stand in the site, with their links turned to the new places.

docs/ is the site's own folder, so its files keep their places. Lessons and other texts come from where they
are, and a file that a page links to, and that is no page, comes along to be downloaded.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from tracked import tracked

from constraints import ROOT
from jupyter_mlgpu.teach.lessons.assembly import assembled

RECORD = "application/vnd.jupyter-mlgpu.record+json"
#: What a receipt is called on a page.
RECEIPT = {"en": "Receipt", "zh": "回执"}
#: Files of docs/ that are none of the site's texts.
_MACHINERY = {"docs/conf.py"}
_LINK = re.compile(r"(\]\()([^()\s]+)(\))")
_TITLE = re.compile(r"^# ", re.MULTILINE)
_ADDRESS = re.compile(r"[a-z]+:", re.IGNORECASE)
#: A kind of output that every browser shows, the best first.
_SHOWN = (
    "text/html",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/markdown",
    "text/latex",
    "text/plain",
)


class Places:
    """The files of a checkout that are in the site: `files()` has their texts as the site needs them."""

    def __init__(self, root: Path = ROOT) -> None:
        self._root = root
        self._places = dict(_placed(root))
        self._brought: dict[str, str] = {}

    def files(self) -> dict[str, bytes]:
        """Each file's content by its place in the site."""
        found = {place: self._content(name, place) for name, place in self._places.items()}
        for name, place in self._brought.items():
            found[place] = (self._root / name).read_bytes()
        return found

    def _content(self, name: str, place: str) -> bytes:
        path = self._root / name
        if path.suffix == ".md":
            text = self._text(path.read_text(encoding="utf-8"), name, place)
            # A page without a title could not be listed: it is called as its file.
            return (text if _TITLE.search(text) else f"# {path.stem}\n\n{text}").encode()
        if path.suffix == ".ipynb":
            notebook = json.loads(self._notebook(path))
            for cell in notebook["cells"]:
                if cell["cell_type"] == "markdown":
                    cell["source"] = self._text("".join(cell["source"]), name, place)
                else:
                    cell["outputs"] = [shown(one, language_of(place)) for one in cell.get("outputs", ())]
            return json.dumps(notebook, ensure_ascii=False).encode()
        return path.read_bytes()

    def _notebook(self, path: Path) -> bytes:
        catalogue = path.with_suffix(".po")
        if catalogue.is_file():
            english = self._root / "notebooks" / path.name
            return assembled(english.read_bytes(), catalogue, catalogue.parent.name)
        return path.read_bytes()

    def _text(self, text: str, name: str, place: str) -> str:
        return _LINK.sub(lambda link: f"{link[1]}{self._turned(link[2], name, place)}{link[3]}", text)

    def _turned(self, address: str, name: str, place: str) -> str:
        """A relative address in the file `name` as it must be at its place; all others stay as they are."""
        file, mark, anchor = address.partition("#")
        if not file or file.startswith("/") or _ADDRESS.match(file):
            return address
        target = os.path.normpath(PurePosixPath(name).parent / file)
        for one in (target, f"{target}/index.md", f"{target}/README.md"):
            if one in self._places:
                return f"{_relative(self._places[one], place)}{mark}{anchor}"
        if target.startswith("..") or not (self._root / target).is_file():
            return address  # to a page that is made, or to nothing, which Sphinx finds
        self._brought[target] = f"files/{target}"
        return _relative(self._brought[target], place)


def language_of(place: str) -> str:
    """The language of a page, by its place."""
    return "zh" if place.startswith("zh/") else "en"


def shown(output: dict[str, Any], language: str) -> dict[str, Any]:
    """A saved output with what a page shows of it alone; a receipt says that it is one."""
    data = output.get("data")
    if data is None:
        return output
    kind = next((kind for kind in _SHOWN if kind in data), None)
    if kind is None:
        return {**output, "data": {"text/plain": "(shown in JupyterLab only)"}}
    if RECORD in data:
        return {**output, "data": {"text/html": _receipt(data, language)}, "metadata": {}}
    return {**output, "data": {kind: data[kind]}, "metadata": {}}


def _receipt(data: dict[str, Any], language: str) -> str:
    """A receipt with its label; one that was too large to be saved as HTML has its text."""
    label = RECEIPT[language]
    plain = f"<pre>{escape(''.join(data.get('text/plain', '')))}</pre>"
    inside = "".join(data.get("text/html", plain))
    head = f'<div class="receipt" role="group" aria-label="{label}"><span class="label">{label}</span>'
    return f"{head}{inside}</div>"


def _placed(root: Path) -> Iterator[tuple[str, str]]:
    """Files of the repository, and their places in the site; a new one has to be added to git."""
    for path in tracked(root / "docs", "**/*"):
        name = path.relative_to(root).as_posix()
        kept = name not in _MACHINERY and not name.startswith("docs/_")
        if kept and "__pycache__" not in name and ".ipynb_checkpoints" not in name:
            yield name, name.removeprefix("docs/")
    for path in tracked(root / "notebooks", "*.ipynb"):
        yield f"notebooks/{path.name}", f"lessons/{path.name}"
    for path in tracked(root / "notebooks" / "zh", "*.po"):  # the notebooks are assembled
        yield f"notebooks/zh/{path.stem}.ipynb", f"zh/lessons/{path.stem}.ipynb"
    yield "CHANGELOG.md", "changelog.md"
    yield "CONTRIBUTING.md", "contributing.md"
    for path in tracked(root / "binder", "**/*"):
        name = path.relative_to(root).as_posix()
        if path.suffix in {".md", ".ipynb"} and ".ipynb_checkpoints" not in name:
            yield name, f"how-to/{name}"
    if (root / "notebooks" / "labs" / "README.md").is_file():
        yield "notebooks/labs/README.md", "lessons/labs.md"


def _relative(target: str, place: str) -> str:
    return PurePosixPath(os.path.relpath(target, PurePosixPath(place).parent)).as_posix()
