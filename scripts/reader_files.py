"""Writes how the browser reads what Python sends it: readers in TypeScript, made of Python's types.

TypeScript infers the type of what a reader gives.

A reader takes nothing on trust. It is put together from those of labextension/src/language/untrusted.ts, as
the field's type and its marks (jupyter_mlgpu/record/bounds.py) say. A field without a default is needed:
without it its table cannot be read. What cannot be read of another is its default.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

from python_types import Absent, fields, is_tuple, marked, optional, tables, unmarked
from reader_values import Here, Values, needed
from typescript import WIDTH, block, camel, comment, fitted, is_lost, literal, named, wrapped

from jupyter_mlgpu.record.bounds import Called, Unread, Whether

#: How often an expression is used that is made once.
_OFTEN = 3


@dataclasses.dataclass(frozen=True)
class File:
    """A file of readers of some types and of their parts, of words, and constants that both sides know."""

    name: str
    about: str
    kinds: Sequence[type]
    constants: Mapping[str, str | int | Mapping[str, str]] = dataclasses.field(default_factory=dict)
    words: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Writer:
    """Writes files that know of each other: a type that stands in one of them is imported by the others."""

    def __init__(self, source: Path, files: Sequence[File], by_hand: Mapping[Any, Here]) -> None:
        self.source = source
        self.files = files
        self.by_hand = by_hand

    def written(self) -> Iterator[tuple[Path, str]]:
        """Each file's path and text."""
        for file in self.files:
            yield self.source / file.name, self._text(file)

    @cached_property
    def home(self) -> Mapping[Any, str]:
        """In which file each type stands: the first one that has it, or something of which it is a part."""
        found: dict[Any, str] = {}
        for file in self.files:
            for kind in file.kinds:
                for part in self.parts(kind):
                    found.setdefault(part, file.name)
        return found

    def parts(self, kind: type) -> Iterator[type]:
        """A type's own types that are read, those first that others are made of, then itself."""
        for hint in get_type_hints(kind, include_extras=True).values():
            if marked(unmarked(hint)[1], Unread):
                continue
            for inner in tables(hint, self.by_hand):
                yield from self.parts(inner)
        yield kind

    def _text(self, file: File) -> str:
        values = Values(file.name, self.home, self.by_hand)
        values.use("Read", types=True)
        every = dict.fromkeys(part for kind in file.kinds for part in self.parts(kind))
        made = [_reader(kind, values) for kind in every if self.home[kind] == file.name]
        for name, hint in file.words.items():
            told = values.field(hint)
            made.append(f"export const read{name} = {told.reader};\n\n{_type_of(name, name)}")
        known = [f"export const {name} = {_constant(value)};" for name, value in file.constants.items()]
        origin = "Made by scripts/readers.py of Python's types (`make schemas`)."
        head = f"/**\n * {file.about}\n *\n * {origin}\n */"
        body = "\n\n".join([*known, *map(fitted, _once(made, values.whole))])
        imported = "\n".join(_imports(values, body))
        return "\n\n".join(one for one in (head, imported, body) if one) + "\n"


def _constant(value: str | int | Mapping[str, str]) -> str:
    if not isinstance(value, Mapping):
        return literal(value)
    inner = ",\n".join(f"  [{literal(key)}, {literal(one)}]" for key, one in value.items())
    return f"new Map([\n{inner}\n])"


def _once(made: Sequence[str], expressions: Collection[str]) -> Sequence[str]:
    """The same, with those expressions first that are often used, each under a name."""
    shared: list[str] = []
    for one in sorted(expressions, key=lambda one: (-len(one), one)):
        # With what stands before and behind it: `text(…)` is no part of `otherText(…)`.
        place = re.compile(rf"(?<![\w(]){re.escape(one)}(?=[,\s)])|(?<=\(){re.escape(one)}(?=[,)])")
        if sum(len(place.findall(text)) for text in (*made, *shared)) >= _OFTEN:
            first, *others = re.findall(r"[A-Za-z0-9]+", one.replace("_", ""))
            name = first + "".join(word[0].upper() + word[1:] for word in others)
            made, shared = ([place.sub(name, text) for text in texts] for texts in (made, shared))
            shared = [f"const {name} = {one};", *shared]
    return ["\n".join(shared), *made] if shared else made


def _imports(values: Values, body: str) -> Iterator[str]:
    used = {*re.findall(r"\w+", body)}
    for module in sorted({*values.types, *values.values}, key=lambda one: one.rpartition("/")):
        for word, names in (("import", values.values), ("import type", values.types)):
            found = sorted(names.get(module, set()) & used, key=lambda one: (one.upper() != one, one))
            line = f"{word} {{ {', '.join(found)} }} from '{module}';"
            inner = ",\n".join(f"  {one}" for one in found)
            if found:
                yield line if len(line) <= WIDTH else f"{word} {{\n{inner}\n}} from '{module}';"


def _type_of(kind: str, reader: str) -> str:
    """The type of what a reader gives."""
    return f"export type {kind} = Read<typeof read{reader}>;"


def _reader(kind: type, values: Values) -> str:
    """A reader and its type."""
    name = named(kind)
    read = [(one, *unmarked(hint), hint, default) for one, hint, default in fields(kind)]
    read = [one for one in read if not marked(one[2], Unread)]
    names = [_name(field, marks) for field, _, marks, *_ in read]
    told = [values.field(hint, default) for *_, hint, default in read]
    word = "rowOf" if is_tuple(kind) else "shape"
    values.use(word)
    groups: tuple[list[str], list[str]] = ([], [])
    for place, ((field, base, *_, default), called, value) in enumerate(zip(read, names, told, strict=True)):
        reader = value.reader
        if word == "shape" and is_lost(field, called):
            values.use("named")
            reader = f"named('{field}', {reader})"
        is_needed = default is Absent and not optional(base) and not value.always
        if word == "rowOf":
            is_needed = place < needed(told)
        groups[not is_needed].append(wrapped(f"{called}: {reader}"))
    made = [f"export const read{name} = {word}(", block(groups[0]) + ",", block(groups[1]), ");"]
    return "\n".join([comment(kind), *made, "", _type_of(f"I{name}", name)])


def _name(field: str, marks: Sequence[Any]) -> str:
    called, asked = marked(marks, Called), marked(marks, Whether)
    return called.name if called else asked.word if asked else camel(field)
