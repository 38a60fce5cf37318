"""Turns a page of the reference into plain Markdown, which is readable in any editor."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BEGIN = re.compile(r"^:{3,}\{py:(\w+)\} (.+)$")
_END = re.compile(r"^:{3,}$")
_TYPE = re.compile(r"^:type: (.+)$")
_FENCE = re.compile(r"^(`{3,})(\S*)")
#: A target of links, or an option of a directive.
_MACHINERY = re.compile(r"^(\([\w-]+\)=|:no-index:)$")


def plain_markdown(text: str) -> str:
    """Return a page in MyST without its directives: what one describes has a heading."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_lines(text))).strip("\n") + "\n"


def _lines(text: str) -> Iterator[str]:
    depth, fence, kept = 0, "", True
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, kept = mark[1], not mark[2].startswith("{")
            if kept:
                yield line
        elif fence:
            if kept:
                yield line
            if line.rstrip() == fence:
                fence = ""
        elif begin := _BEGIN.match(line):
            depth += 1
            yield f"{'#' * (depth + 1)} {begin[1]} `{begin[2]}`"
        elif _END.match(line):
            depth -= 1
        elif stated := _TYPE.match(line):
            yield f"\nType: `{stated[1]}`"
        elif not _MACHINERY.match(line):
            yield line
