"""Writes how the browser reads what Python sends it: readers in TypeScript, made of Python's types.

TypeScript infers the type of what a reader gives.

A reader takes nothing on trust. It is put together from those of labextension/src/language/untrusted.ts, as
the field's type and its marks (jupyter_mlgpu/record/bounds.py) say. A field without a default is needed:
without it its table cannot be read. What cannot be read of another is its default.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec
from msgspec import Meta, Struct

from jupyter_mlgpu.record.bounds import (
    Called,
    InPlace,
    Most,
    Newest,
    Otherwise,
    Printed,
    Unread,
    Whole,
)
from jupyter_mlgpu.record.sentence import Sentence

T = TypeVar("T")

#: Characters of a line.
WIDTH = 100
#: How often an expression is used that is made once.
_OFTEN = 3


class Absent:
    """Stands for the default of a field that has none."""


@dataclasses.dataclass(frozen=True)
class File:
    """A file of readers of some types and of their parts, of words, and constants that both sides know."""

    name: str
    about: str
    kinds: Sequence[type]
    constants: Mapping[str, str | int | Mapping[str, str]] = dataclasses.field(default_factory=dict)
    words: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class Here(NamedTuple):
    """A type that TypeScript reads by hand: its type there, its reader, and the modules of these names."""

    type: str
    reader: str
    types: Mapping[str, str]
    module: str


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
    """Return the line that names the type of what a reader gives."""
    return f"export type {kind} = Read<typeof read{reader}>;"


def _reader(kind: type, values: Values) -> str:
    """Return a reader and its type."""
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
        found_by_name = re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", called) == field
        if word == "shape" and not found_by_name:
            values.use("named")
            reader = f"named('{field}', {reader})"
        is_needed = default is Absent and not optional(base) and not value.always
        if word == "rowOf":
            is_needed = place < needed(told)
        groups[not is_needed].append(wrapped(f"{called}: {reader}"))
    made = [f"export const read{name} = {word}(", block(groups[0]) + ",", block(groups[1]), ");"]
    return "\n".join([comment(kind), *made, "", _type_of(f"I{name}", name)])


def _name(field: str, marks: Sequence[Any]) -> str:
    called = marked(marks, Called)
    camel = re.sub(r"_([a-z])", lambda found: found[1].upper(), field)
    return called.name if called else camel


class Values:
    """The values of one file, and the names that it imports for them.

    `home` tells in which file a type stands, `by_hand` which ones TypeScript reads by hand.
    """

    def __init__(self, file: str, home: Mapping[Any, str], by_hand: Mapping[Any, Here]) -> None:
        self._file = file
        self._home = home
        self._by_hand = by_hand
        #: Expressions that stand for themselves: where one is often used, it is made once.
        self.whole: set[str] = set()
        self.types: dict[str, set[str]] = {}
        self.values: dict[str, set[str]] = {}

    def use(self, *names: str, module: str = "language/untrusted", types: bool = False) -> None:
        """Import names: of values, or of types."""
        folder = self._file.rpartition("/")[0] + "/"
        near = module.startswith(folder)
        path = f"./{module.removeprefix(folder)}" if near else "../" * self._file.count("/") + module
        (self.types if types else self.values).setdefault(path, set()).update(names)

    def field(self, hint: Any, default: Any = Absent) -> Told:
        """Return the value of a field, or of an item in a list."""
        told = self._field(hint, default)
        if "(" in told.reader:
            self.whole.add(told.reader)
        return told

    def _field(self, hint: Any, default: Any) -> Told:
        base, marks = unmarked(hint)
        if otherwise := marked(marks, Otherwise):
            base, default = some(base), otherwise.value
        told = self._told(base, marks, listed=default is Absent or optional(base))
        if optional(base):
            return Told(f"{told.type} | null", told.reader)
        if marked(marks, InPlace):
            self.use("orEmpty")
            return Told(told.type, f"orEmpty({told.reader})", True)
        if default is Absent or told.always:
            return told
        return Told(told.type, self._or(default, told.reader), True)

    def _or(self, default: Any, reader: str) -> str:
        if default == "" and reader == "sentence":
            self.use("said", module="language/sentence")
            return "said"
        self.use("or")
        return f"or({literal(default)}, {reader})"

    def _told(self, hint: Any, marks: Sequence[Any], *, listed: bool) -> Told:
        """A value; `listed`: what is no list is none, not an empty one."""
        kind, more = unmarked(some(hint))
        marks = [*marks, *more]
        limit = marked(marks, Most)
        most = None if limit is None else limit.number
        if kind in self._by_hand:
            here = self._by_hand[kind]
            for part, module in here.types.items():
                self.use(part, module=module, types=True)
            self.use(here.reader, module=here.module)
            return Told(here.type, here.reader)
        if is_said(kind):
            return self._sentence(most, marks)
        if get_origin(kind) in (Union, UnionType):
            return self._either(get_args(kind))
        if kind is bool:
            self.use("flag" if kind is hint else "oneOf")
            return Told("boolean", "flag", True) if kind is hint else Told("boolean", "oneOf(true, false)")
        if kind is str:
            return self._text(marks, most)
        if kind in (int, float):
            least = next((one.ge for one in marks if isinstance(one, Meta) and one.ge is not None), None)
            reader = "count" if kind is int else "amount" if least == 0 else "finite"
            return self._known("number", reader if most is None else "upTo", most)
        if get_origin(kind) is Literal:
            choices = [literal(one) for one in get_args(kind)]
            self.use("oneOf")
            return Told(" | ".join(choices), f"oneOf({', '.join(choices)})")
        if get_origin(kind) in (Mapping, dict):
            self.use("pairsOf")
            inner = self.field(get_args(kind)[1])
            return Told(f"[name: string, value: {inner.type}][]", f"pairsOf({inner.reader})", True)
        if get_origin(kind) is tuple and get_args(kind)[-1] is not ...:
            return self._tuple(get_args(kind))
        if get_origin(kind) in (tuple, list, Sequence):
            return self._list(get_args(kind)[0], marks, most, listed=listed)
        return self._table(kind)

    def _known(self, kind: str, reader: str, limit: int | None = None) -> Told:
        self.use(reader)
        return Told(kind, reader if limit is None else f"{reader}({literal(limit)})")

    def _sentence(self, most: int | None, marks: Sequence[Any] = ()) -> Told:
        name = "sentence" if most is None else "sentenceIn"
        self.use("Sentence", module="language/sentence", types=True)
        self.use(name, module="language/sentence")
        reader = name if most is None else f"sentenceIn({literal(most)})"
        if any(isinstance(one, Meta) and one.min_length for one in marks):
            self.use("notEmpty")
            reader = f"notEmpty({reader})"
        return Told("Sentence", reader)

    def _text(self, marks: Sequence[Any], most: int | None) -> Told:
        if marked(marks, Printed):
            return self._known("string", "printedIn", most or 120)
        if any(isinstance(one, Meta) and (one.min_length or one.pattern) for one in marks):
            return self._known("string", "word")
        return self._known("string", "text" if most is None else "textIn", most)

    def _tuple(self, hints: Sequence[Any]) -> Told:
        told = [self.field(one) for one in hints]
        self.use("tupleOf")
        kind = f"[{', '.join(one.type for one in told)}]"
        inner = ", ".join([str(needed(told)), *(one.reader for one in told)])
        return Told(kind, f"tupleOf<{kind}>({inner})")

    def _list(self, hint: Any, marks: Sequence[Any], most: int | None, *, listed: bool) -> Told:
        inner = self.field(hint)
        newest = marked(marks, Newest)
        most = most if newest is None else newest.number
        if marked(marks, Whole):
            name = "allOf"
        elif optional(hint):
            name = "placesOf"
        else:
            name = "newestOf" if newest else "listOrNullOf" if listed else "listOf"
        self.use(name)
        several = re.search(r" \| ", re.sub(r"\[.*\]", "", inner.type))
        kind = f"({inner.type})[]" if several else f"{inner.type}[]"
        limit = "" if most is None else f", {literal(most)}"
        return Told(kind, f"{name}({inner.reader}{limit})", name == "listOf")

    def _either(self, hints: Sequence[Any]) -> Told:
        numbers = [one for one in hints if unmarked(one)[0] in (int, float)]
        if len(numbers) == len(hints):  # whole numbers among others
            return self._told(*unmarked(numbers[0]), listed=True)
        said = {Sentence, str} <= {*hints}
        others = [one for one in hints if not said or one not in (Sentence, str)]
        told = [*([self._sentence(None)] if said else []), *map(self.field, others)]
        self.use("anyOf")
        kinds = " | ".join(one.type for one in told)
        return Told(kinds, f"anyOf<{kinds}>({', '.join(one.reader for one in told)})")

    def _table(self, kind: type) -> Told:
        assert has_names(kind), f"there is no reader for {kind}"
        name, home = named(kind), self._home[kind]
        if home != self._file:
            self.use(f"I{name}", module=home.removesuffix(".ts"), types=True)
            self.use(f"read{name}", module=home.removesuffix(".ts"))
        return Told(f"I{name}", f"read{name}")


def needed(told: Sequence[Told]) -> int:
    """Return how many of a list's first values have to be there: up to the last that cannot be null."""
    there = [not one.always and not one.type.endswith("| null") for one in told]
    return max((place for place, one in enumerate(there, 1) if one), default=0)


def fields(kind: Any) -> Iterator[tuple[str, Any, Any]]:
    """A type's fields: as JSON names them, with their types and marks, and their defaults."""
    hints = get_type_hints(kind, include_extras=True)
    if is_tuple(kind):
        for name in kind._fields:
            yield name, hints[name], kind._field_defaults.get(name, Absent)
    elif issubclass(kind, Struct):
        for one in msgspec.structs.fields(kind):
            default = one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory()
            yield one.encode_name, hints[one.name], Absent if default is msgspec.NODEFAULT else default
    elif is_typeddict(kind):
        for name, hint in hints.items():
            yield name, hint, Absent
    else:
        for field in dataclasses.fields(kind):
            made = field.default_factory
            default = Absent if field.default is dataclasses.MISSING else field.default
            yield field.name, hints[field.name], default if made is dataclasses.MISSING else made()


def tables(hint: Any, besides: Container[Any] = ()) -> Iterator[type]:
    """The types of ours that a type is made of, without what is in `besides`."""
    if get_origin(hint) is Annotated:
        yield from tables(get_args(hint)[0], besides)
    elif hint in besides or get_origin(hint) is Literal:
        return
    elif inspect.isclass(hint) and get_origin(hint) is None:
        if has_names(hint):
            yield hint
    else:
        for one in get_args(hint):
            yield from tables(one, besides)


def is_tuple(kind: Any) -> bool:
    """Return whether a type is a NamedTuple, which is a list in JSON."""
    return inspect.isclass(kind) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def unmarked(hint: Any) -> tuple[Any, list[Any]]:
    """A type without its marks, and the marks."""
    if get_origin(hint) is NotRequired:
        kind, marks = unmarked(get_args(hint)[0])
        return kind | None, marks
    if get_origin(hint) is Annotated:
        kind, *marks = get_args(hint)
        return kind, marks
    return hint, []


def optional(hint: Any) -> bool:
    """Return whether a type allows None."""
    hint, _ = unmarked(hint)
    return get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)


def some(hint: Any) -> Any:
    """A type without None."""
    if not optional(hint):
        return hint
    left = [one for one in get_args(hint) if one is not NoneType]
    return left[0] if len(left) == 1 else Union[tuple(left)]  # noqa: UP007


def is_said(hint: Any) -> bool:
    """Return whether a type is a sentence, or a text in its place."""
    return hint is Sentence or (
        get_origin(hint) in (Union, UnionType) and {*get_args(hint)} == {Sentence, str}
    )


def has_names(kind: Any) -> bool:
    """Return whether a type is one of ours, whose values have names."""
    return is_tuple(kind) or dataclasses.is_dataclass(kind) or is_typeddict(kind) or issubclass(kind, Struct)


def marked(marks: Iterable[Any], kind: type[T]) -> T | None:
    """The mark of a kind; None where there is none."""
    return next((one for one in marks if isinstance(one, kind)), None)


def named(kind: type) -> str:
    """A type's name in TypeScript, without the letter before it."""
    return kind.__name__.removesuffix("Data")


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
