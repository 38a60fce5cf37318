"""Builds the documentation; `make docs` runs it.

    python scripts/docs_site.py [--out build/docs]

The sources are put together in OUT/source: the texts of docs/, the lessons as they were saved, and the pages
made of what the package says of itself. Sphinx makes OUT/html of them, every warning an error, and then the
links are checked.
"""

from __future__ import annotations

import argparse
import posixpath
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import docs_links
import docs_names
import docs_troubles
import docs_words
from docs_markdown import page, toctree
from docs_places import Places

from constraints import ROOT

CONFIGURATION = ROOT / "docs"


def sources() -> dict[str, bytes]:
    """Every file of the site before Sphinx, by its place."""
    files = Places().files()
    made = {**docs_names.pages(), **docs_words.pages(), **docs_troubles.pages(), **_lists(files)}
    if twice := made.keys() & files.keys():
        raise ValueError(f"Both written and made: {', '.join(sorted(twice))}.")
    return {**files, **{place: text.encode() for place, text in made.items()}}


def _lists(files: Mapping[str, bytes]) -> dict[str, str]:
    """Lists of what there is, which written pages include."""
    online = [place for place in files if place == "teacher.md" or place.startswith("how-to/binder/")]
    entries = [posixpath.relpath(posixpath.splitext(place)[0], "how-to") for place in online]
    said = "" if online else "This checkout has no pages about them."
    return {"how-to/_online.txt": page(said, toctree(*entries) if entries else "")}


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
    broken = docs_links.broken(html) if html.is_dir() else []
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
