"""How TypeScript is written: names, values, comments, and lines as prettier breaks them."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator

#: Characters of a line.
WIDTH = 100


def named(kind: type) -> str:
    """A type's name in TypeScript, without the letter before it."""
    return kind.__name__.removesuffix("Data")


def camel(name: str) -> str:
    """A field's name in TypeScript."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name)


def is_lost(field: str, name: str) -> bool:
    """Whether untrusted.ts does not find the field in JSON by its name in TypeScript."""
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name) != field


def block(lines: Iterable[str]) -> str:
    """An object with its fields below each other, as an argument of a call."""
    inner = ",\n".join("    " + one.replace("\n", "\n    ") for one in lines)
    return f"  {{\n{inner}\n  }}" if inner else "  {}"


def fitted(text: str) -> str:
    """The same with each object, and each call with two of them, on one line where it fits."""
    text = re.sub(r"^  \{\n(?:    \S.*\n)+  \}", _on_one_line, text, flags=re.MULTILINE)
    return re.sub(r"^.* = \w+\(\n  (\{.*\}),\n  (\{.*\})\n\);", _as_one_call, text, flags=re.MULTILINE)


def _on_one_line(found: re.Match[str]) -> str:
    begin, *fields, end = (line.strip() for line in found[0].split("\n"))
    line = f"  {begin} {' '.join(fields)} {end}"
    return line if len(line) < WIDTH else found[0]


def _as_one_call(found: re.Match[str]) -> str:
    line = f"{found[0].partition('(')[0]}({found[1]}, {found[2]});"
    return line if len(line) <= WIDTH else found[0]


def wrapped(line: str, indent: int = 4) -> str:
    """A line, the arguments of a call below each other where it is too long."""
    call = re.fullmatch(r"((?:\w+: )?\w+(?:<.*?>)?\()(.*)\)", line)
    if call is None or indent + len(line) < WIDTH:
        return line
    inner = ",\n".join(wrapped(one, indent + 2) for one in _arguments(call[2]))
    return f"{call[1]}\n  " + inner.replace("\n", "\n  ") + "\n)"


def _arguments(text: str) -> Iterator[str]:
    depth, begin = 0, 0
    for place, character in enumerate(text):
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            yield text[begin:place].strip()
            begin = place + 1
    yield text[begin:].strip()


def comment(kind: type) -> str:
    """The first paragraph of a type's docstring as a comment, in lines."""
    text = re.sub(r"\s+", " ", (kind.__doc__ or "").partition("\n\n")[0].replace("`", "")).strip()
    text = re.sub(r"\bNone\b", "null", text)
    if len(text) <= WIDTH + 10:
        return f"/** {text} */"
    return "\n".join(["/**", *(f" * {line}" for line in textwrap.wrap(text, WIDTH + 7)), " */"])


def literal(value: str | float | tuple[()]) -> str:
    """A value as TypeScript has it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if "'" in value else f"'{value}'"
    if isinstance(value, tuple):
        return "[]"
    return f"{value:_}" if value >= 10_000 else str(value)
