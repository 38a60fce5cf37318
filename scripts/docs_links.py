"""Checks the links of a built site without a network: every address within it leads somewhere.

    python scripts/docs_links.py build/docs/html

An address within the site must name a file of it, and what follows # an id on that page. Addresses elsewhere
are looked at by their form alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that hold an address.
_ADDRESSES = ("href", "src", "poster", "data")
_ELSEWHERE = {"http", "https"}
#: Ids that a browser knows without the page naming them.
_ALWAYS = {"", "top"}


class Page(HTMLParser):
    """The addresses on a page, and the places on it to which an address can lead."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.addresses: list[str] = []
        self.places: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)
            elif name in _ADDRESSES and not (name == "data" and tag != "object"):
                self.addresses.append(value.strip())


def broken(folder: Path) -> list[str]:
    """A sentence for each address on a page of the site that leads nowhere, in the order of the pages."""
    root = folder.resolve()
    found = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    return [
        f"{path.relative_to(root)}: {address or '(empty)'} {why}"
        for path, page in found.items()
        for address in dict.fromkeys(page.addresses)
        for why in _wrong(address, path, root, found)
    ]


def _wrong(address: str, path: Path, root: Path, pages: dict[Path, Page]) -> Iterator[str]:
    try:
        parts = urlsplit(address)
    except ValueError as error:
        yield f"is no address ({error})"
        return
    if parts.scheme in _ELSEWHERE:
        if "." not in (parts.hostname or "") or " " in address:
            yield "is no address of a page elsewhere"
    elif parts.scheme == "mailto":
        if "@" not in parts.path:
            yield "is no mail address"
    elif parts.scheme == "data":
        return
    elif parts.scheme or parts.netloc:
        yield "is an address of a kind that this site does not use"
    else:
        yield from _wrong_inside(unquote(parts.path), unquote(parts.fragment), path, root, pages)


def _wrong_inside(name: str, place: str, path: Path, root: Path, pages: dict[Path, Page]) -> Iterator[str]:
    target = (path.parent / name).resolve() if name else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(root):
        yield "leads out of the site"
    elif not target.is_file():
        yield "leads to no file"
    elif target in pages and place not in _ALWAYS and place not in pages[target].places:
        yield f"leads to no place named {place!r} on that page"


def main(arguments: Sequence[str] | None = None) -> int:
    """Say what is broken in a built site; 1 where something is."""
    words = sys.argv[1:] if arguments is None else arguments
    if len(words) != 1 or not Path(words[0]).is_dir():
        print("Name one folder, that of a built site, as in build/docs/html.", file=sys.stderr)
        return 2
    found = broken(Path(words[0]))
    print("\n".join(found) or "Every link within the site leads somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
