"""The user's values that lie on another device than the selected one, for all backends.

Only values of a framework's own types are examined, also inside plain lists, tuples and dicts. No code of the
user runs: no attribute of an unknown object is read.
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
_DEPTH = 3
_CONTAINERS = (list, tuple, dict)  # exactly these types: subclasses may be the user's
#: Values that a note mentions by name.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class MisplacedValue:
    """A value's name, and the number of its tensors by device (short name).

    `what` says what they are (weights, arrays) if the value holds several; None for a single tensor. `cut` is
    True if only some of them were examined.
    """

    name: str
    parts: Counter[str]
    what: str | None
    cut: bool = False


def contained_values(values: Mapping[str, object]) -> Iterator[tuple[str, list[Any], bool]]:
    """Yield each value's name, its contained values, and True if these were cut.

    A value that is no plain container contains itself.
    The total is limited to `LIMIT`. Containers come last, so a long list of numbers does not hide a model.
    """
    left = LIMIT
    for name in sorted(values, key=lambda name: is_one_of(type(values[name]), _CONTAINERS)):
        contained = list(islice(_contained(values[name], _DEPTH), left + 1))
        yield name, contained[:left], len(contained) > left
        left -= min(len(contained), left)


def _contained(value: Any, depth: int) -> Iterator[Any]:
    """Yield the value itself, or the content of plain containers down to `depth` levels."""
    if not is_one_of(type(value), _CONTAINERS):
        yield value
    elif depth:
        for one in value.values() if type(value) is dict else value:
            yield from _contained(one, depth - 1)


def misplaced(found: Iterable[MisplacedValue], device: str) -> list[MisplacedValue]:
    """Return the values that have a part on another device than `device`."""
    return [one for one in found if any(other != device for other in one.parts)]


def misplaced_values_note(found: list[MisplacedValue], device: str) -> Sentence:
    """Return `The 14 weights of model and x live on cpu:0, not on gpu:0`, with names as code."""
    names = [_description(one, device, first=one is found[0]) for one in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(say("{count} more", count=len(found) - _NAMED))
    devices = sorted({other for one in found for other in one.parts} - {device})
    single = len(found) == 1 and (found[0].what is None or _misplaced_count(found[0], device) == 1)
    what, on = listed(names), ", ".join(devices)
    if single:
        return say("{what} lives on {devices}, not on {asked}", what=what, devices=on, asked=device)
    return say("{what} live on {devices}, not on {asked}", what=what, devices=on, asked=device)


def pronoun(found: list[MisplacedValue]) -> Sentence:
    """Return `it` or `the first`: the object of a remedy that names only the first value."""
    return say("it") if len(found) == 1 else say("the first")


def _description(one: MisplacedValue, device: str, *, first: bool) -> Sentence:
    """Return the words for one value; `first` if they begin the sentence."""
    name = one.name if len(one.name) <= 40 else f"{one.name[:39]}…"
    if one.what is None:
        return say("`{name}`", name=name)
    away, total = _misplaced_count(one, device), one.parts.total()
    what = _noun(one.what, total)
    if not one.cut and away < total:
        return say("{away} of the {count} {what} of `{name}`", away=away, count=total, what=what, name=name)
    match one.cut, first:
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


def _misplaced_count(one: MisplacedValue, device: str) -> int:
    return one.parts.total() - one.parts[device]
