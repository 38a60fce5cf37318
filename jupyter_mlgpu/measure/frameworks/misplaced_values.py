"""Which of the user's values stay on another device than the one asked for: found and said by every backend.

Only values of a framework's own types are looked at, inside plain lists, tuples and dicts too. No code of
the user's runs: no attribute of an unknown object is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jupyter_mlgpu.measure.user_objects import attributes, is_one_of
from jupyter_mlgpu.record.sentence import Sentence, listed, say, say_count

#: Values looked at in all, so that a large model or list costs no more than about a millisecond.
LIMIT = 400
_DEPTH = 3
_CONTAINERS = (list, tuple, dict)  # of exactly these types: others may be the user's
_NAMED = 3


@dataclass(frozen=True, slots=True)
class MisplacedValue:
    """A value by its name, and how many tensors of it lie where, by short name of device.

    `what` says what these are (weights, arrays) in a value that holds several; None for a tensor by
    itself. `cut` is true where not all of them were looked at.
    """

    name: str
    parts: Counter[str]
    what: str | None
    cut: bool = False


def each(values: Mapping[str, object]) -> Iterator[tuple[str, list[Any], bool]]:
    """Each value's name, what it holds (itself, if it is no plain container), and whether that was cut.

    At most `LIMIT` in all; containers come last, so that a long list of numbers hides no model.
    """
    left = LIMIT
    for name in sorted(values, key=lambda name: is_one_of(type(values[name]), _CONTAINERS)):
        held = list(islice(_held(values[name], _DEPTH), left + 1))
        yield name, held[:left], len(held) > left
        left -= min(len(held), left)


def _held(value: Any, depth: int) -> Iterator[Any]:
    """A value, or what plain containers hold, a few levels deep."""
    if not is_one_of(type(value), _CONTAINERS):
        yield value
    elif depth:
        for one in value.values() if type(value) is dict else value:
            yield from _held(one, depth - 1)


def own(value: object) -> Mapping[str, Any]:
    """The attributes that an object itself has, read past whatever its class does about attributes."""
    return attributes(value)


def elsewhere(found: Iterable[MisplacedValue], asked: str) -> list[MisplacedValue]:
    """Those of which something lies on another device than `asked`."""
    return [one for one in found if any(device != asked for device in one.parts)]


def misplaced_values_note(found: list[MisplacedValue], asked: str) -> Sentence:
    """`The 14 weights of model and x live on cpu:0, not on gpu:0`, with names as code."""
    names = [_what(one, asked, first=one is found[0]) for one in found[:_NAMED]]
    if len(found) > _NAMED:
        names.append(say("{count} more", count=len(found) - _NAMED))
    devices = sorted({device for one in found for device in one.parts} - {asked})
    single = len(found) == 1 and (found[0].what is None or _away(found[0], asked) == 1)
    what, on = listed(names), ", ".join(devices)
    if single:
        return say("{what} lives on {devices}, not on {asked}", what=what, devices=on, asked=asked)
    return say("{what} live on {devices}, not on {asked}", what=what, devices=on, asked=asked)


def it(found: list[MisplacedValue]) -> Sentence:
    """What a remedy that names the first of them moves: `it`, or `the first`."""
    return say("it") if len(found) == 1 else say("the first")


def _what(one: MisplacedValue, asked: str, *, first: bool) -> Sentence:
    """`first`: it begins the sentence."""
    name = one.name if len(one.name) <= 40 else f"{one.name[:39]}…"
    if one.what is None:
        return say("`{name}`", name=name)
    away, total = _away(one, asked), one.parts.total()
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


def _away(one: MisplacedValue, asked: str) -> int:
    return one.parts.total() - one.parts[asked]
