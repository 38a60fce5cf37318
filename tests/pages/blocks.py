"""Reads the code blocks of a page, in order, each with its language and its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

#: What is typed into a terminal, and into a notebook's cell or a script.
TYPED = ("shell", "python")
#: What is only read: output, and the text of files.
READ = ("text", "toml", "yaml")
#: How Sphinx's own directives begin.
DIRECTIVE = "{"

_MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A code block. `sections` are the anchors of the headings that it stands under, the outermost first."""

    page: str
    line: int
    language: str
    code: str
    sections: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        """The line by whose beginning pages.toml names the block."""
        return self.code.partition("\n")[0].strip()

    @property
    def place(self) -> str:
        """Where it stands, for a message."""
        return f"{self.page}:{self.line}"


def blocks(page: str, text: str) -> list[Block]:
    """Return the code blocks of a page; the language of a block that is only indented is empty."""
    found: list[Block] = []
    open_sections: list[tuple[int, str]] = []
    tokens = _MARKDOWN.parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and following is not None:
            level = int(token.tag[1:])
            open_sections = [one for one in open_sections if one[0] < level]
            open_sections.append((level, anchor(following.content)))
        elif token.type in ("fence", "code_block") and token.map is not None:
            language = token.info.strip()
            sections = tuple(name for _, name in open_sections)
            found.append(Block(page, token.map[0] + 1, language, token.content, sections))
    return found


def code_spans(text: str) -> set[str]:
    """Return what a page's sentences and tables have as code."""
    inline = [child for token in _MARKDOWN.parse(text) for child in token.children or ()]
    return {child.content for child in inline if child.type == "code_inline"}


def anchor(heading: str) -> str:
    """Return the name of a heading in an address, as GitHub and the site have it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def read(root: Path, page: str) -> list[Block]:
    """Return the blocks of a page of this checkout."""
    return blocks(page, (root / page).read_text(encoding="utf-8"))
