"""Writes how the browser reads what Python sends it: types and readers in TypeScript, made of Python's types.

A reader takes nothing on trust. It is put together from those of labextension/src/language/untrusted.ts, as
the field's type and its marks (jupyter_mlgpu/record/bounds.py) say. A field without a default is needed:
without it its table cannot be read. What cannot be read of another is its default.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from msgspec import Meta
from python_types import Absent, fields, is_said, is_tuple, optional, some, tables, unmarked
from typescript import WIDTH, block, camel, comment, is_lost, literal, named, wrapped

from jupyter_mlgpu.record.bounds import Most, Otherwise, Printed, Whole
from jupyter_mlgpu.record.sentence import Sentence


class Here(NamedTuple):
    """What TypeScript reads by hand: its type there, its reader, and the modules of what these name."""

    type: str
    reader: str
    types: Mapping[str, str]
    module: str


@dataclasses.dataclass(frozen=True)
class File:
    """A file of readers of some types and of their parts, and constants that both sides know."""

    name: str
    about: str
    kinds: Sequence[type]
    constants: Mapping[str, str | int] = dataclasses.field(default_factory=dict)


class Told(NamedTuple):
    """A value in TypeScript: its type, and the expression that reads it or answers null; or never does."""

    type: str
    reader: str
    always: bool = False


class Writer:
    """Writes files that know of each other: a type that stands in one of them is imported by the others."""

    def __init__(self, source: Path, files: Sequence[File], by_hand: Mapping[Any, Here]) -> None:
        self.source = source
        self.files = files
        self.by_hand = by_hand

    def written(self) -> Iterator[tuple[Path, str]]:
        """Each file's path and text."""
        for file in self.files:
            yield self.source / file.name, _Text(self, file).text()

    @cached_property
    def home(self) -> Mapping[type, str]:
        """In which file each type stands: the first one that has it, or a part of it that has it."""
        found: dict[type, str] = {}
        for file in self.files:
            for kind in file.kinds:
                for part in self.parts(kind):
                    found.setdefault(part, file.name)
        return found

    def parts(self, kind: type) -> Iterator[type]:
        """A type's own types, those first that others are made of, then itself."""
        for hint in get_type_hints(kind, include_extras=True).values():
            for inner in tables(hint):
                if inner not in self.by_hand:
                    yield from self.parts(inner)
        yield kind


class _Text:
    def __init__(self, writer: Writer, file: File) -> None:
        self.writer = writer
        self.file = file
        self.types: dict[str, set[str]] = {}
        self.values: dict[str, set[str]] = {}

    def text(self) -> str:
        home = self.writer.home
        every = dict.fromkeys(part for kind in self.file.kinds for part in self.writer.parts(kind))
        tables = [self._table(kind) for kind in every if home[kind] == self.file.name]
        constants = [
            f"export const {name} = {literal(value)};" for name, value in self.file.constants.items()
        ]
        made = "Made by scripts/readers.py of Python's types (`make schemas`)."
        head = f"/**\n * {self.file.about}\n *\n * {made}\n */"
        body = "\n\n".join([*constants, *tables])
        return "\n\n".join([head, "\n".join(self._imports({*re.findall(r"\w+", body)})), body]) + "\n"

    def _imports(self, used: Set[str]) -> Iterator[str]:
        for module in sorted({*self.types, *self.values}, key=lambda one: one.rpartition("/")):
            for word, names in (("import", self.values), ("import type", self.types)):
                if found := sorted(
                    names.get(module, set()) & used, key=lambda one: (one.upper() != one, one)
                ):
                    line = f"{word} {{ {', '.join(found)} }} from '{module}';"
                    inner = ",\n".join(f"  {one}" for one in found)
                    yield line if len(line) <= WIDTH else f"{word} {{\n{inner}\n}} from '{module}';"

    def _use(self, *names: str, module: str = "language/untrusted", types: bool = False) -> None:
        up = self.file.name.count("/")
        folder = self.file.name.rpartition("/")[0] + "/"
        near = module.startswith(folder)
        path = f"./{module.removeprefix(folder)}" if near else "../" * up + module
        (self.types if types else self.values).setdefault(path, set()).update(names)

    # -- tables ---------------------------------------------------------------------------------------------

    def _table(self, kind: type) -> str:
        self._use("Reader", types=True)
        name = named(kind)
        told = [self._field(hint, default) for _, hint, default in fields(kind)]
        if is_tuple(kind):
            return self._tuple(kind, name, told)
        names = [one for one, *_ in fields(kind)]
        lines = [f"  {camel(one)}: {value.type};" for one, value in zip(names, told, strict=True)]
        needed: list[str] = []
        others: list[str] = []
        for (field, hint, default), value in zip(fields(kind), told, strict=True):
            reader = value.reader if not is_lost(field) else f"named('{field}', {value.reader})"
            line = wrapped(f"{camel(field)}: {reader}")
            is_needed = default is Absent and not optional(hint) and not value.always
            (needed if is_needed else others).append(line)
        self._use("shape")
        return "\n".join(
            [
                comment(kind),
                f"export interface I{name} {{",
                *lines,
                "}",
                "",
                f"export const read{name}: Reader<I{name}> = shape(",
                block(needed) + ",",
                block(others),
                ");",
            ]
        )

    def _tuple(self, kind: type, name: str, told: Sequence[Told]) -> str:
        needed = _needed(kind, told)
        self._use("tupleOf")
        names = [one for one, *_ in fields(kind)]
        inner = ", ".join(f"{camel(one)}: {value.type}" for one, value in zip(names, told, strict=True))
        type_line = f"export type I{name} = [{inner}];"
        if len(type_line) > WIDTH:
            type_line = f"export type I{name} = [\n  " + inner.replace(", ", ",\n  ") + "\n];"
        readers = ", ".join(value.reader for value in told)
        line = f"export const read{name}: Reader<I{name}> = tupleOf<I{name}>({needed}, {readers});"
        if len(line) > WIDTH:
            args = ",\n".join(f"  {one}" for one in (str(needed), *(value.reader for value in told)))
            line = f"export const read{name}: Reader<I{name}> = tupleOf<I{name}>(\n{args}\n);"
        return f"{comment(kind)}\n{type_line}\n\n{line}"

    def _field(self, hint: Any, default: Any) -> Told:
        base, marks = unmarked(hint)
        for one in marks:
            default = one.value if isinstance(one, Otherwise) else default
        told = self._told(base, marks, there=default is Absent)
        if optional(base):
            return Told(f"{told.type} | null", told.reader)
        if default is Absent or told.always or default in ((), {}):
            return told
        return Told(told.type, self._or(default, told.reader), True)

    def _or(self, default: str | int, reader: str) -> str:
        if default == "" and reader == "sentence":
            self._use("said", module="language/sentence")
            return "said"
        self._use("or")
        return f"or({literal(default)}, {reader})"

    # -- values ---------------------------------------------------------------------------------------------

    def _told(self, hint: Any, marks: Sequence[Any], *, there: bool) -> Told:
        """A value; `there`: a list has to be one."""
        kind = some(hint)
        kind, more = unmarked(kind)
        marks = [*marks, *more]
        most = next((one.number for one in marks if isinstance(one, Most)), None)
        if kind in self.writer.by_hand:
            return self._by_hand(self.writer.by_hand[kind])
        if is_said(kind):
            return self._sentence(most)
        if get_origin(kind) in (Union, UnionType):
            return self._either(get_args(kind))
        if kind is bool:
            return self._flag(optional=kind is not hint)
        if kind is str:
            return self._text(marks, most)
        if kind in (int, float):
            least = next((one.ge for one in marks if isinstance(one, Meta) and one.ge is not None), None)
            reader = "count" if kind is int else "amount" if least == 0 else "finite"
            return self._known("number", reader if most is None else "upTo", most)
        if get_origin(kind) is Literal:
            choices = [literal(one) for one in get_args(kind)]
            self._use("oneOf")
            return Told(" | ".join(choices), f"oneOf({', '.join(choices)})")
        if get_origin(kind) is Mapping:
            return self._pairs(get_args(kind)[1])
        if get_origin(kind) is tuple or get_origin(kind) is list:
            return self._list(get_args(kind), marks, most, there=there and kind is hint)
        return self._of_a_table(kind)

    def _known(self, kind: str, reader: str, most: int | None = None) -> Told:
        self._use(reader)
        return Told(kind, reader if most is None else f"{reader}({literal(most)})")

    def _sentence(self, most: int | None) -> Told:
        name = "sentence" if most is None else "sentenceIn"
        self._use("Sentence", module="language/sentence", types=True)
        self._use(name, module="language/sentence")
        return Told("Sentence", name if most is None else f"sentenceIn({literal(most)})")

    def _text(self, marks: Sequence[Any], most: int | None) -> Told:
        if any(isinstance(one, Printed) for one in marks):
            self._use("printedIn")
            return Told("string", f"printedIn({literal(most or 120)})")
        if any(isinstance(one, Meta) and (one.min_length or one.pattern) for one in marks):
            return self._known("string", "word")
        return self._known("string", "text" if most is None else "textIn", most)

    def _flag(self, *, optional: bool) -> Told:
        self._use("oneOf" if optional else "flag")
        return Told("boolean", "oneOf(true, false)") if optional else Told("boolean", "flag", True)

    def _pairs(self, hint: Any) -> Told:
        inner = self._item(hint)
        self._use("pairsOf")
        return Told(f"[name: string, value: {inner.type}][]", f"pairsOf({inner.reader})", True)

    def _list(self, args: Sequence[Any], marks: Sequence[Any], most: int | None, *, there: bool) -> Told:
        inner = self._item(args[0])
        whole = any(isinstance(one, Whole) for one in marks)
        name = "allOf" if whole else "listOrNullOf" if there else "listOf"
        self._use(name)
        limit = "" if most is None else f", {literal(most)}"
        several = re.search(r" \| |^\[", inner.type)
        kind = f"({inner.type})[]" if several else f"{inner.type}[]"
        return Told(kind, f"{name}({inner.reader}{limit})", name == "listOf")

    def _item(self, hint: Any) -> Told:
        return self._field(hint, Absent)

    def _either(self, hints: Sequence[Any]) -> Told:
        numbers = [one for one in hints if unmarked(one)[0] in (int, float)]
        if len(numbers) == len(hints):  # whole numbers among them
            return self._told(*unmarked(numbers[0]), there=True)
        said = {Sentence, str} <= {*hints}
        others = [one for one in hints if not said or one not in (Sentence, str)]
        told = [*([self._sentence(None)] if said else []), *map(self._item, others)]
        self._use("anyOf")
        kinds = " | ".join(one.type for one in told)
        return Told(kinds, f"anyOf<{kinds}>({', '.join(one.reader for one in told)})")

    def _by_hand(self, here: Here) -> Told:
        for part, module in here.types.items():
            self._use(part, module=module, types=True)
        self._use(here.reader, module=here.module)
        return Told(here.type, here.reader)

    def _of_a_table(self, kind: type) -> Told:
        name, home = named(kind), self.writer.home[kind]
        if home != self.file.name:
            self._use(f"I{name}", module=home.removesuffix(".ts"), types=True)
            self._use(f"read{name}", module=home.removesuffix(".ts"))
        return Told(f"I{name}", f"read{name}")


def _needed(kind: type, told: Sequence[Told]) -> int:
    """How many of a tuple's values have to be there: all up to the last one that has to."""
    needed = 0
    for place, ((_, hint, default), value) in enumerate(zip(fields(kind), told, strict=True)):
        if default is Absent and not optional(unmarked(hint)[0]) and not value.always:
            needed = place + 1
    return needed
