"""Builds the documentation; `make docs` runs it.

    python scripts/docs_site.py [--out build/docs]

The sources are put together in OUT/source: the texts of docs/, the lessons as they were saved, and the pages
of docs_reference.py. docs/ is the site's own folder, so its files keep their places. Lessons and other texts
come from where they are, with their links turned to the new places, and a file that a page links to, and that
is no page, comes along to be downloaded. Sphinx makes OUT/html of them, every warning an error, and then the
links are checked, without a network.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import docs_reference
from docs_markdown import plain_markdown
from docs_reference import page, toctree
from tracked import tracked

from constraints import ROOT
from jupyter_mlgpu.teach.lessons.assembly import assembled

CONFIGURATION = ROOT / "docs"
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
        """Return a notebook's JSON, assembled where the repository holds only its catalogue."""
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


def sources() -> dict[str, bytes]:
    """Every file of the site before Sphinx, by its place."""
    files = Places().files()
    made = {**docs_reference.pages(), **_lists(files)}
    if twice := made.keys() & files.keys():
        raise ValueError(f"Both written and made: {', '.join(sorted(twice))}.")
    return {**files, **{place: text.encode() for place, text in made.items()}}


def _lists(files: Mapping[str, bytes]) -> dict[str, str]:
    """Lists of what there is, which written pages include."""
    online = [place for place in files if place == "teacher.md" or place.startswith("how-to/binder/")]
    entries = [posixpath.relpath(posixpath.splitext(place)[0], "how-to") for place in online]
    said = "" if online else "This checkout has no pages about them."
    return {"how-to/_online.txt": page(said, toctree(*entries) if entries else "")}


class Page(HTMLParser):
    """The addresses on a page, and the places on it to which an address can lead."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.addresses: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")
            elif name in ("href", "src") and value is not None:
                self.addresses.append(value.strip())


def broken_links(folder: Path) -> list[str]:
    """Return a sentence for each address on a page of a built site that leads nowhere within it."""
    root = folder.resolve()
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    found = []
    for path, read in pages.items():
        for address in dict.fromkeys(read.addresses):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_relative_to(root) or not target.is_file():
                found.append(f"{path.relative_to(root)}: {address} leads to no file of the site")
            elif target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{path.relative_to(root)}: {address} leads to no place on that page")
    return found


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Make `folder` hold these files and no others; one that is the same is not written again."""
    wanted = {folder / place: content for place, content in files.items()}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in wanted:
            path.unlink()
    for path, content in wanted.items():
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def build(files: Mapping[str, bytes], out: Path) -> int:
    """Build the site of these files into `out`/html; 0 where no warning and no broken link was found."""
    put(files, out / "source")
    html = out / "html"
    command = [sys.executable, "-m", "sphinx", "-b", "html", "--conf-dir", str(CONFIGURATION)]
    command += ["--doctree-dir", str(out / "doctrees"), "--fail-on-warning", "--keep-going"]
    command += ["--quiet", "--jobs", "auto"]
    status = subprocess.run([*command, str(out / "source"), str(html)]).returncode
    for place, content in files.items():
        # The frame of these pages links to them (docs/conf.py).
        if place.startswith("reference/") and html.is_dir():
            (html / place).write_text(plain_markdown(content.decode()), encoding="utf-8")
    broken = broken_links(html) if html.is_dir() else []
    for one in broken:
        print(one, file=sys.stderr)
    return 1 if status or broken else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the whole site; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs", help="the folder to build in")
    out = parser.parse_args(arguments).out.resolve()
    status = build(sources(), out)
    if status == 0:
        print(f"    open {out / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
