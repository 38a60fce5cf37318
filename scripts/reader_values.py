"""How the browser reads one value: the expression in TypeScript that a Python type and its marks come to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args, get_origin

from msgspec import Meta
from python_types import Absent, has_names, is_either, is_said, marked, optional, some, unmarked
from typescript import literal, named

from jupyter_mlgpu.record.bounds import InPlace, Most, Newest, Otherwise, Printed, Whether, Whole
from jupyter_mlgpu.record.sentence import Sentence


class Here(NamedTuple):
    """What TypeScript reads by hand: its type there, its reader, and the modules of what these name."""

    type: str
    reader: str
    types: Mapping[str, str]
    module: str


class Told(NamedTuple):
    """A value in TypeScript: its type, and the expression that reads it or answers null; or never does."""

    type: str
    reader: str
    always: bool = False


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
        """What stands in a field, or as an item in a list."""
        told = self._field(hint, default)
        if "(" in told.reader:
            self.whole.add(told.reader)
        return told

    def _field(self, hint: Any, default: Any) -> Told:
        base, marks = unmarked(hint)
        if asked := marked(marks, Whether):
            self.use("is")
            return Told("boolean", f"is({literal(asked.word)})", True)
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
            return self._read_by_hand(self._by_hand[kind])
        if is_said(kind):
            return self._sentence(most, marks)
        if is_either(kind):
            return self._either(get_args(kind))
        if kind is bool:
            return self._flag(optional=kind is not hint)
        if kind is str:
            return self._text(marks, most)
        if kind in (int, float):
            return self._number(kind, marks, most)
        if get_origin(kind) is Literal:
            choices = [literal(one) for one in get_args(kind)]
            self.use("oneOf")
            return Told(" | ".join(choices), f"oneOf({', '.join(choices)})")
        if get_origin(kind) in (Mapping, dict):
            return self._pairs(get_args(kind)[1])
        if get_origin(kind) is tuple and get_args(kind)[-1] is not ...:
            return self._tuple(get_args(kind))
        if get_origin(kind) in (tuple, list, Sequence):
            return self._list(get_args(kind)[0], marks, most, listed=listed)
        return self._table(kind)

    def _known(self, kind: str, reader: str, limit: int | None = None) -> Told:
        self.use(reader)
        return Told(kind, reader if limit is None else f"{reader}({literal(limit)})")

    def _number(self, kind: type, marks: Sequence[Any], most: int | None) -> Told:
        least = next((one.ge for one in marks if isinstance(one, Meta) and one.ge is not None), None)
        reader = "count" if kind is int else "amount" if least == 0 else "finite"
        return self._known("number", reader if most is None else "upTo", most)

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

    def _flag(self, *, optional: bool) -> Told:
        self.use("oneOf" if optional else "flag")
        return Told("boolean", "oneOf(true, false)") if optional else Told("boolean", "flag", True)

    def _pairs(self, hint: Any) -> Told:
        inner = self.field(hint)
        self.use("pairsOf")
        return Told(f"[name: string, value: {inner.type}][]", f"pairsOf({inner.reader})", True)

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

    def _read_by_hand(self, here: Here) -> Told:
        for part, module in here.types.items():
            self.use(part, module=module, types=True)
        self.use(here.reader, module=here.module)
        return Told(here.type, here.reader)

    def _table(self, kind: type) -> Told:
        assert has_names(kind), f"there is no reader for {kind}"
        name, home = named(kind), self._home[kind]
        if home != self._file:
            self.use(f"I{name}", module=home.removesuffix(".ts"), types=True)
            self.use(f"read{name}", module=home.removesuffix(".ts"))
        return Told(f"I{name}", f"read{name}")


def needed(told: Sequence[Told]) -> int:
    """How many of a list's first values have to be there: all up to the last one that cannot be null."""
    there = [not one.always and not one.type.endswith("| null") for one in told]
    return max((place for place, one in enumerate(there, 1) if one), default=0)
