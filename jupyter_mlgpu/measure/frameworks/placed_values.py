"""Finds the devices of the user's values, and names those that are on another device than the selected one.

Only values of a framework's own types are examined, also inside plain lists, tuples and dicts. No code of the
user runs, because no attribute of an unknown object is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jupyter_mlgpu.measure.user_objects import is_one_of
from jupyter_mlgpu.record.sentence import Sentence, listed, say, say_count

#: The largest number of values that are examined; a large model or list then takes about a millisecond.
LIMIT = 400
#: Levels of nested containers that are examined.
_DEPTH = 3
_CONTAINERS = (list, tuple, dict)  # exactly these types: subclasses may be the user's
#: The largest number of values that a note mentions by name.
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value of the user, with the devices of its tensors.

    Attributes:
        name: the variable's name.
        parts: the number of its tensors by the device's short name (`gpu:0`).
        what: what its tensors are if it holds several: `weights`, `arrays` or `tensors`. None if the value
            itself is a tensor.
        cut: True if only some of its tensors were examined.
    """

    name: str
    parts: Counter[str]
    what: str | None
    cut: bool = False


def contained_values(values: Mapping[str, object]) -> Iterator[tuple[str, list[Any], bool]]:
    """Yield each value's name, the values that it contains, and True if some of these were left out.

    A value that is no plain container is yielded as its only content. At most `LIMIT` contained values are
    yielded in all. Containers come last, so that a long list of numbers does not use up the limit before a
    model.
    """
    remaining = LIMIT
    for name in sorted(values, key=lambda name: is_one_of(type(values[name]), _CONTAINERS)):
        contained = list(islice(_contained(values[name], _DEPTH), remaining + 1))
        yield name, contained[:remaining], len(contained) > remaining
        remaining -= min(len(contained), remaining)


def _contained(value: Any, depth: int) -> Iterator[Any]:
    """Yield the value itself, or the content of plain containers down to `depth` levels."""
    if not is_one_of(type(value), _CONTAINERS):
        yield value
    elif depth:
        for item in value.values() if type(value) is dict else value:
            yield from _contained(item, depth - 1)


def misplaced_among(values: Iterable[PlacedValue], device: str) -> list[PlacedValue]:
    """Return the values that have a tensor on another device than `device`."""
    return [value for value in values if any(other != device for other in value.parts)]


def misplaced_note_of(values: list[PlacedValue], device: str) -> Sentence:
    """Return a sentence like "The 14 weights of `model` and `x` live on cpu:0, not on gpu:0"."""
    names = [_description(value, device, first=value is values[0]) for value in values[:_MOST_NAMES]]
    if len(values) > _MOST_NAMES:
        names.append(say("{count} more", count=len(values) - _MOST_NAMES))
    devices = sorted({other for value in values for other in value.parts} - {device})
    single = len(values) == 1 and (values[0].what is None or _misplaced_count(values[0], device) == 1)
    what, on = listed(names), ", ".join(devices)
    if single:
        return say("{what} lives on {devices}, not on {asked}", what=what, devices=on, asked=device)
    return say("{what} live on {devices}, not on {asked}", what=what, devices=on, asked=device)


def pronoun(values: list[PlacedValue]) -> Sentence:
    """Return the words with which a remedy for the first value names it: `it` or, of several, `the first`."""
    return say("it") if len(values) == 1 else say("the first")


def _description(value: PlacedValue, device: str, *, first: bool) -> Sentence:
    """Return the words for one value; `first` if they begin the sentence."""
    name = value.name if len(value.name) <= 40 else f"{value.name[:39]}…"
    if value.what is None:
        return say("`{name}`", name=name)
    away, total = _misplaced_count(value, device), value.parts.total()
    what = _noun(value.what, total)
    if not value.cut and away < total:
        return say("{away} of the {count} {what} of `{name}`", away=away, count=total, what=what, name=name)
    match value.cut, first:
        case True, True:
            return say("At least {count} {what} of `{name}`", count=away, what=what, name=name)
        case True, False:
            return say("at least {count} {what} of `{name}`", count=away, what=what, name=name)
        case False, True:
            return say("The {count} {what} of `{name}`", count=total, what=what, name=name)
    return say("the {count} {what} of `{name}`", count=total, what=what, name=name)


def _noun(what: str, count: int) -> Sentence:
    match what:
        case "weights":
            return say_count("weight", "weights", count)
        case "arrays":
            return say_count("array", "arrays", count)
    return say_count("tensor", "tensors", count)


def _misplaced_count(value: PlacedValue, device: str) -> int:
    return value.parts.total() - value.parts[device]
