"""Markdown made of what the package says of itself: plain texts, docstrings, help, tables.

Everything written here is MyST's Markdown, as Sphinx reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|!~$&@^%])")
#: What begins a list or a heading where it begins a line.
_BEGINS = re.compile(r"^(\d*)([-+=:]|(?<=\d)[.)])")
_LISTED = re.compile(r"^(\s*)[*-] (.*)$")


def plain(text: str) -> str:
    """A text in which nothing is markup but `code` between backticks; one paragraph of it."""
    text = " ".join(text.split())
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_escaped(text[end : code.start()]), code.group()]
        end = code.end()
    return _BEGINS.sub(r"\1\\\2", "".join([*parts, _escaped(text[end:])]))


def code(text: str) -> str:
    """A short text as code within a line, whatever it holds."""
    text = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def fence(text: str, language: str = "text") -> str:
    """A block of code, whatever it holds."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown of one line."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_celled(cell) for cell in line)} |" for line in lines)


def page(*blocks: str) -> str:
    """Blocks as the text of a page, those that are empty left out."""
    return "\n\n".join(block for block in blocks if block) + "\n"


def toctree(*entries: str, hidden: bool = False) -> str:
    """The pages below this one, in order."""
    lines = ["```{toctree}", ":maxdepth: 1", *([":hidden:"] if hidden else []), "", *entries, "```"]
    return "\n".join(lines)


def docstring(text: str) -> str:
    """A docstring of this project as Markdown: prose, lists, examples, indented code."""
    return "\n\n".join(map(_block, blocks(text)))


def magic_help(text: str) -> str:
    """A magic's help: lines that show what to type, and prose between them."""
    return "\n\n".join(fence(one) if one.lstrip().startswith("%") else _block(one) for one in blocks(text))


def blocks(text: str) -> Iterator[str]:
    """The paragraphs of a cleaned docstring; indented ones that follow each other are one."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if found and _indented(paragraph) and _indented(found[-1]):
            found[-1] += "\n\n" + paragraph
        elif paragraph.strip():
            found.append(paragraph)
    return iter(found)


def _block(paragraph: str) -> str:
    lines = paragraph.splitlines()
    if lines[0].lstrip().startswith(">>>"):
        return fence(_dedented(lines), "pycon")
    if _indented(paragraph):
        body = _dedented(lines)
        return fence(body, "text" if body.startswith("%") else "python")
    if any(_LISTED.match(line) for line in lines):
        return "\n".join(_listed(lines))
    return plain(paragraph)


def _listed(lines: Sequence[str]) -> Iterator[str]:
    items: list[str] = []
    for line in lines:
        match = _LISTED.match(line)
        if match or not items:
            items.append(match[2] if match else line)
            if not match:  # what stands before the first item
                yield plain(items.pop())
                yield ""
        else:
            items[-1] += " " + line.strip()
    yield from (f"* {plain(item)}" for item in items)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _celled(cell: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(cell.split()))


def _indented(paragraph: str) -> bool:
    return all(line.startswith("    ") for line in paragraph.splitlines() if line.strip())


def _dedented(lines: Sequence[str]) -> str:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:].rstrip() for line in lines)
