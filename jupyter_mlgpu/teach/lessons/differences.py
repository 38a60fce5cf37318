"""Comparison of two values: whether they agree, a sentence if not, and a table or picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, joined, say, say_count
from jupyter_mlgpu.teach.lessons.display import ShownValue, number
from jupyter_mlgpu.teach.lessons.heatmaps import MOST, Panel, draw, flat
from jupyter_mlgpu.teach.lessons.values import Numbers, Open, SeveralValues, Unreadable, Value

if TYPE_CHECKING:
    import numpy as np

#: Maximum number of values that are shown as a table. Larger arrays become a picture.
SMALL = 16

#: Titles of a table's columns, or of pictures.
YOURS, SHOULD_BE, DIFFERENCE = say("yours"), say("should be"), say("difference")

#: Columns of inputs, by name, shown beside the results. Each has as many numbers as the result.
Inputs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Difference:
    """The result of a comparison.

    `same` is None while a value is still open. `what` completes a sentence that begins with the name of the
    value.
    """

    same: bool | None
    what: Sentence
    shown: tuple[ShownValue, ...]


def compare(yours: Value, wanted: Value, tolerance: float, inputs: Inputs) -> Difference:
    """Compare your value with the one it should be; numbers may differ by rounding (see `close`)."""
    if isinstance(yours, Open):
        return Difference(None, say("returns nothing yet"), still_open(wanted, inputs))
    if isinstance(wanted, SeveralValues) and isinstance(yours, SeveralValues):
        one_by_one = _singles if _are_single(wanted) else _parts
        return one_by_one(yours, wanted, tolerance)
    if isinstance(yours, Unreadable) or _kind(yours) is not _kind(wanted):
        what = say("gives {what}; it should be {wanted}", what=describe(yours), wanted=describe(wanted))
        # A list with three dots in it is unfinished, not wrong.
        unfinished = isinstance(yours, SeveralValues) and Open() in yours.values
        return Difference(False, what, still_open(wanted, inputs, mark="?" if unfinished else ""))
    if isinstance(wanted, str):
        rows = ((YOURS, SHOULD_BE), (_single(yours), _single(wanted)))
        what = say("gives the wrong text, from character {place} on", place=_first_other(yours, wanted))
        return Difference(yours == wanted, what, (ShownValue(rows=rows),))
    assert isinstance(yours, Numbers)
    assert isinstance(wanted, Numbers)
    if yours.shape != wanted.shape:
        what = say(
            "gives shape {shape}; it should be {wanted}", shape=str(yours.shape), wanted=str(wanted.shape)
        )
        return Difference(False, what, still_open(wanted, inputs, mark=""))
    shown = (side_by_side(yours.array, wanted.array, inputs),)
    same = bool(close(yours.array, wanted.array, tolerance).all())
    return Difference(same, say("gives the wrong numbers"), shown)


def close(
    yours: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], tolerance: float
) -> np.ndarray[Any, Any]:
    """Return a boolean array: True for each pair of numbers that agree.

    Integers and booleans have to be equal. Other numbers may differ by `tolerance` of the number itself, or
    by a tenth of `tolerance` of the largest finite number. NaN agrees with nothing, an infinity only with the
    same infinity.
    """
    import numpy as np

    if wanted.dtype.kind in "biu":
        return np.asarray(yours == wanted)
    sizes = np.abs(wanted[np.isfinite(wanted)])
    # float32 has about seven digits, and a sum that should be 0 keeps the rounding errors of its terms.
    least = max(tolerance * float(sizes.max(initial=0)) / 10, 1e-9)
    return np.asarray(np.isclose(yours, wanted, rtol=tolerance, atol=least))


def describe(value: Value) -> Sentence:
    """Return the kind of a value in words, for example "numbers of shape [2, 3]"."""
    if isinstance(value, str):
        return say("a text")
    if isinstance(value, SeveralValues):
        return say_count("{count} value", "{count} values", len(value.values))
    if isinstance(value, Numbers):
        if not value.array.ndim:
            return say("a number")
        return say("numbers of shape {shape}", shape=str(value.shape))
    return value.what if isinstance(value, Unreadable) else say("nothing")


def still_open(wanted: Value, inputs: Inputs, *, mark: str = "?") -> tuple[ShownValue, ...]:
    """Return the value that should come, next to `mark` in the place of yours.

    If `mark` is empty, the value is shown alone.
    """
    if isinstance(wanted, Numbers):
        if wanted.array.size <= SMALL:
            marks = [mark] * wanted.array.size if mark else []
            return (ShownValue(rows=_table(wanted.array, inputs, yours=marks)),)
        numbers = flat(wanted.array)
        words = say(
            "It should be {what}, from {low} to {high}.",
            what=describe(wanted),
            low=number(float(numbers.min())),
            high=number(float(numbers.max())),
        )
        panels = [
            *([Panel(YOURS, None)] if mark else []),
            Panel(say("should be, {shape}", shape=str(wanted.shape)), wanted.array),
        ]
        return (ShownValue(drawing=draw(panels, words), words=words),)
    if isinstance(wanted, str):
        return (ShownValue(rows=((YOURS, SHOULD_BE), (mark, _single(wanted)))),)
    assert isinstance(wanted, SeveralValues)
    if _are_single(wanted):
        pairs = zip(wanted.labels, map(_single, wanted.values), strict=True)
        return (_list_table([(label, mark, one) for label, one in pairs]),)
    found = zip(wanted.labels, wanted.values, strict=True)
    return tuple(
        ShownValue(
            say("Part {label}, {caption}", label=label, caption=shown.caption)
            if shown.caption
            else say("Part {label}:", label=label),
            shown.rows,
            shown.drawing,
            shown.words,
        )
        for label, one in list(found)[:SMALL]
        for shown in still_open(one, {}, mark=mark)
    )


def side_by_side(yours: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], inputs: Inputs) -> ShownValue:
    """Return two arrays of the same shape and their difference, as a table if small, else a picture."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        off = np.subtract(
            yours, wanted, dtype=complex if "c" in (yours.dtype.kind, wanted.dtype.kind) else float
        )
        # Equal infinities do not differ.
        off = np.where(yours == wanted, 0, off)
    if wanted.size <= SMALL:
        return ShownValue(rows=_table(wanted, inputs, yours=_texts(yours), differences=_bars(off.ravel())))
    words = largest(off)
    panels = [Panel(YOURS, yours), Panel(SHOULD_BE, wanted), Panel(DIFFERENCE, off)]
    return ShownValue(drawing=draw(panels, words), words=joined(words, *_corner(wanted)))


def largest(off: np.ndarray[Any, Any]) -> Sentence:
    """Return a sentence with the largest difference and its index."""
    import numpy as np

    sizes = np.where(np.isnan(off), np.inf, np.abs(off))
    place = np.unravel_index(int(sizes.argmax()), sizes.shape)
    differ = int((sizes > 0).sum())
    if not differ:
        return say("All {count} numbers are the same.", count=str(off.size))
    where = ", ".join(str(int(one)) for one in place)
    most = number(float(sizes[place]))
    return say(
        "{differ} of {count} numbers differ; the largest difference, {most}, is at [{where}].",
        differ=str(differ),
        count=str(off.size),
        most=most,
        where=where,
    )


def _parts(yours: SeveralValues, wanted: SeveralValues, tolerance: float) -> Difference:
    if len(yours.values) != len(wanted.values):
        return Difference(
            False, _counts(len(yours.values), len(wanted.values)), still_open(wanted, {}, mark="")
        )
    if yours.labels != wanted.labels:
        missing = [label for label in wanted.labels if label not in yours.labels]
        return Difference(
            False, say("gives nothing for {label}", label=repr(missing[0])), still_open(wanted, {}, mark="")
        )
    for label, mine, right in zip(wanted.labels, yours.values, wanted.values, strict=True):
        found = compare(mine, right, tolerance, {})
        if not found.same:
            what = say("{what}, in part {label} of what it returns", what=found.what, label=label)
            return Difference(found.same, what, found.shown)
    return Difference(True, say("gives the right result"), ())


def _singles(yours: SeveralValues, wanted: SeveralValues, tolerance: float) -> Difference:
    """Compare lists of words or single numbers, and list the places that differ."""
    if any(isinstance(one, Open) for one in yours.values):
        return Difference(None, say("returns nothing yet in some places"), still_open(wanted, {}))
    mine, right = (dict(zip(one.labels, one.values, strict=True)) for one in (yours, wanted))
    lines, same = [], True
    for label in dict.fromkeys([*right, *mine]):
        agree = label in mine and label in right and compare(mine[label], right[label], tolerance, {}).same
        same = same and bool(agree)
        if not agree or max(len(mine), len(right)) <= SMALL:
            lines.append((label, _single(mine.get(label)), _single(right.get(label))))
    what = say("gives the wrong values")
    if len(mine) != len(right):
        what = _counts(len(mine), len(right))
    return Difference(same, what, (_list_table(lines),))


def _counts(mine: int, right: int) -> Sentence:
    return say_count(
        "gives {count} value; there should be {wanted}",
        "gives {count} values; there should be {wanted}",
        mine,
        wanted=right,
    )


def _kind(value: Value) -> type:
    return str if isinstance(value, str) else type(value)


def _are_single(value: SeveralValues) -> bool:
    """Return True if all parts are texts or single numbers, so that one table can show them."""
    return all(isinstance(one, str) or (isinstance(one, Numbers) and not one.shape) for one in value.values)


def _single(value: Value | None) -> str:
    if isinstance(value, Numbers) and not value.shape:
        return number(value.array.item())
    if isinstance(value, str):
        return repr(translate(value))
    return "" if value is None else describe(value)


def _list_table(lines: Sequence[tuple[str, str, str]]) -> ShownValue:
    more = len(lines) - SMALL
    first = say("The first {shown} of {count}:", shown=SMALL, count=len(lines))
    rows = (("", YOURS, SHOULD_BE), *lines[:SMALL])
    return ShownValue(rows=rows, words=first if more > 0 else "")


def _first_other(yours: Value, wanted: str) -> int:
    """Return the position of the first character that differs, counted from 1."""
    other = next(
        (place for place, (a, b) in enumerate(zip(str(yours), wanted, strict=False)) if a != b), None
    )
    return 1 + (min(len(str(yours)), len(wanted)) if other is None else other)


def _table(
    wanted: np.ndarray[Any, Any],
    inputs: Inputs,
    *,
    yours: Sequence[str] = (),
    differences: Sequence[str] = (),
) -> tuple[tuple[str, ...], ...]:
    fits = inputs and all(len(one) == wanted.size for one in inputs.values())
    columns = {name: list(one) for name, one in inputs.items()} if fits else _places(wanted)
    if yours:
        columns[YOURS] = list(yours)
    columns[SHOULD_BE] = _texts(wanted)
    if differences:
        columns[DIFFERENCE] = list(differences)
    return (tuple(columns), *zip(*columns.values(), strict=True))


def _places(array: np.ndarray[Any, Any]) -> dict[str, list[str]]:
    """Return a column with the index of each number; nothing for a single number."""
    import numpy as np

    if array.size < 2:
        return {}
    return {say("at"): [str([int(one) for one in place]) for place in np.ndindex(array.shape)]}


def _texts(array: np.ndarray[Any, Any]) -> list[str]:
    return [number(one) for one in array.ravel().tolist()]


def _bars(off: np.ndarray[Any, Any]) -> list[str]:
    values = [one if isinstance(one, complex) and one.imag else one.real for one in off.tolist()]
    longest = max((abs(one) for one in values if math.isfinite(abs(one))), default=0) or 1
    bars = ["█" * math.ceil(8 * abs(one) / longest) if math.isfinite(abs(one)) else "" for one in values]
    return [f"{one:+.6g} {bar}".rstrip() for one, bar in zip(values, bars, strict=True)]


def _corner(array: np.ndarray[Any, Any]) -> list[Sentence]:
    rows, columns = flat(array).shape
    if max(rows, columns) <= MOST:
        return []
    return [say("The picture shows the first {count} rows and columns.", count=MOST)]
