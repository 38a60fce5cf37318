"""Two values side by side: whether they are the same, what to say if not, and what to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.lessons.heatmaps import MOST, Panel, draw, flat
from jupyter_mlgpu.lessons.showing import Shown, number
from jupyter_mlgpu.lessons.values import Numbers, Open, Parts, Unreadable, Value

if TYPE_CHECKING:
    import numpy as np

#: Numbers that a table shows; more of them are a picture.
SMALL = 16

#: Columns of inputs that stand in a table beside the results: their names, and as many numbers each.
Inputs = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Difference:
    """`same` is None while a value is open; `what` ends a sentence that begins with what is compared."""

    same: bool | None
    what: str
    shown: tuple[Shown, ...]


def compare(yours: Value, wanted: Value, tolerance: float, inputs: Inputs) -> Difference:
    """Your value beside the one it should be; numbers may differ by rounding (`close`)."""
    if isinstance(yours, Open):
        return Difference(None, "gives nothing back so far", still_open(wanted, inputs))
    if isinstance(wanted, Parts) and isinstance(yours, Parts):
        one_by_one = _singles if _are_single(wanted) else _parts
        return one_by_one(yours, wanted, tolerance)
    if isinstance(yours, Unreadable) or type(yours) is not type(wanted):
        what = f"gives {described(yours)}; it should be {described(wanted)}"
        return Difference(False, what, still_open(wanted, inputs, mark=""))
    if isinstance(wanted, str):
        rows = (("yours", "should be"), (repr(yours), repr(wanted)))
        return Difference(
            yours == wanted, f"gives another text than it should{_from(yours, wanted)}", (Shown(rows=rows),)
        )
    assert isinstance(yours, Numbers)
    assert isinstance(wanted, Numbers)
    if yours.shape != wanted.shape:
        what = f"gives shape {yours.shape}; it should be {wanted.shape}"
        return Difference(False, what, still_open(wanted, inputs, mark=""))
    shown = (beside(yours.array, wanted.array, inputs),)
    same = bool(close(yours.array, wanted.array, tolerance).all())
    return Difference(same, "gives other numbers than it should", shown)


def close(
    yours: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], tolerance: float
) -> np.ndarray[Any, Any]:
    """Which numbers agree: whole numbers exactly, others to `tolerance` of the number itself, or to a tenth
    of that of the array's largest. Not-a-number agrees with nothing, an infinity with its like."""
    import numpy as np

    if wanted.dtype.kind in "biu":
        return np.asarray(yours == wanted)
    sizes = np.abs(wanted[np.isfinite(wanted)])
    # float32 keeps about seven digits; a sum that should be 0 keeps rounding of its summands.
    least = max(tolerance * float(sizes.max(initial=0)) / 10, 1e-9)
    return np.asarray(np.isclose(yours, wanted, rtol=tolerance, atol=least))


def described(value: Value) -> str:
    """What sort of thing a value is."""
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Parts):
        return f"{len(value.values)} values"
    if isinstance(value, Numbers):
        return f"numbers of shape {value.shape}" if value.array.ndim else "a number"
    return value.what if isinstance(value, Unreadable) else "nothing"


def still_open(wanted: Value, inputs: Inputs, *, mark: str = "?") -> tuple[Shown, ...]:
    """What should come, beside a question mark; without `mark`, what should come alone."""
    if isinstance(wanted, Numbers):
        if wanted.array.size <= SMALL:
            marks = [mark] * wanted.array.size if mark else []
            return (Shown(rows=_table(wanted.array, inputs, yours=marks)),)
        words = f"It should be {described(wanted)}, {_span(wanted.array)}."
        panels = [
            *([Panel("yours", None)] if mark else []),
            Panel(f"should be, {wanted.shape}", wanted.array),
        ]
        return (Shown(drawing=draw(panels, words), words=words),)
    if isinstance(wanted, str):
        return (Shown(rows=(("yours", "should be"), (mark, repr(wanted)))),)
    assert isinstance(wanted, Parts)
    if _are_single(wanted):
        pairs = zip(wanted.labels, map(_single, wanted.values), strict=True)
        return (_listed([(label, mark, one) for label, one in pairs]),)
    found = zip(wanted.labels, wanted.values, strict=True)
    return tuple(
        Shown(
            f"Part {label}:" if not shown.caption else f"Part {label}, {shown.caption}",
            shown.rows,
            shown.drawing,
            shown.words,
        )
        for label, one in list(found)[:SMALL]
        for shown in still_open(one, {}, mark=mark)
    )


def beside(yours: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], inputs: Inputs) -> Shown:
    """Two arrays of one shape, with their difference: a table where they are small, else a picture."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        off = np.subtract(
            yours, wanted, dtype=complex if "c" in (yours.dtype.kind, wanted.dtype.kind) else float
        )
        # Two infinities alike do not differ.
        off = np.where(yours == wanted, 0, off)
    if wanted.size <= SMALL:
        return Shown(rows=_table(wanted, inputs, yours=_texts(yours), differences=_bars(off.ravel())))
    words = largest(off)
    panels = [Panel("yours", yours), Panel("should be", wanted), Panel("difference", off)]
    return Shown(drawing=draw(panels, words), words=f"{words}{_corner(wanted)}")


def largest(off: np.ndarray[Any, Any]) -> str:
    """How far apart two arrays are, and where, in a sentence."""
    import numpy as np

    sizes = np.where(np.isnan(off), np.inf, np.abs(off))
    place = np.unravel_index(int(sizes.argmax()), sizes.shape)
    differ = int((sizes > 0).sum())
    if not differ:
        return f"All {off.size} numbers are the same."
    where = ", ".join(str(int(one)) for one in place)
    most = number(float(sizes[place]))
    return f"{differ} of {off.size} numbers differ; the largest difference, {most}, is at [{where}]."


def _parts(yours: Parts, wanted: Parts, tolerance: float) -> Difference:
    if len(yours.values) != len(wanted.values):
        what = f"gives {len(yours.values)} values; there should be {len(wanted.values)}"
        return Difference(False, what, still_open(wanted, {}, mark=""))
    if yours.labels != wanted.labels:
        missing = [label for label in wanted.labels if label not in yours.labels]
        return Difference(False, f"gives nothing for {missing[0]!r}", still_open(wanted, {}, mark=""))
    for label, mine, right in zip(wanted.labels, yours.values, wanted.values, strict=True):
        found = compare(mine, right, tolerance, {})
        if not found.same:
            what = f"{found.what}, in part {label} of what it gives back"
            return Difference(found.same, what, found.shown)
    return Difference(True, "", ())


def _singles(yours: Parts, wanted: Parts, tolerance: float) -> Difference:
    """Lists of words or of single numbers: the places at which they differ."""
    if any(isinstance(one, Open) for one in yours.values):
        return Difference(None, "gives nothing back so far in some places", still_open(wanted, {}))
    mine, right = (dict(zip(one.labels, one.values, strict=True)) for one in (yours, wanted))
    lines, same = [], True
    for label in dict.fromkeys([*right, *mine]):
        agree = label in mine and label in right and compare(mine[label], right[label], tolerance, {}).same
        same = same and bool(agree)
        if not agree or max(len(mine), len(right)) <= SMALL:
            lines.append((label, _single(mine.get(label)), _single(right.get(label))))
    count = f"gives {len(mine)} values; there should be {len(right)}"
    what = count if len(mine) != len(right) else "gives other values than it should"
    return Difference(same, what, (_listed(lines),))


def _are_single(value: Parts) -> bool:
    """Whether a table with a row for each part shows all of them."""
    return all(isinstance(one, str) or (isinstance(one, Numbers) and not one.shape) for one in value.values)


def _single(value: Value | None) -> str:
    if isinstance(value, Numbers) and not value.shape:
        return number(value.array.item())
    return "" if value is None else repr(value) if isinstance(value, str) else described(value)


def _listed(lines: Sequence[tuple[str, str, str]]) -> Shown:
    more = len(lines) - SMALL
    rows = (("", "yours", "should be"), *lines[:SMALL])
    return Shown(rows=rows, words=f"The first {SMALL} of {len(lines)}:" if more > 0 else "")


def _from(yours: Value, wanted: str) -> str:
    alike = next(
        (place for place, (a, b) in enumerate(zip(str(yours), wanted, strict=False)) if a != b), None
    )
    place = min(len(str(yours)), len(wanted)) if alike is None else alike
    return f", from character {place + 1} on"


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
        columns["yours"] = list(yours)
    columns["should be"] = _texts(wanted)
    if differences:
        columns["difference"] = list(differences)
    return (tuple(columns), *zip(*columns.values(), strict=True))


def _places(array: np.ndarray[Any, Any]) -> dict[str, list[str]]:
    """Where each number stands, where that is worth saying."""
    import numpy as np

    if array.size < 2:
        return {}
    return {"at": [str([int(one) for one in place]) for place in np.ndindex(array.shape)]}


def _texts(array: np.ndarray[Any, Any]) -> list[str]:
    return [number(one) for one in array.ravel().tolist()]


def _bars(off: np.ndarray[Any, Any]) -> list[str]:
    values = [one if isinstance(one, complex) and one.imag else one.real for one in off.tolist()]
    longest = max((abs(one) for one in values if math.isfinite(abs(one))), default=0) or 1
    bars = ["█" * math.ceil(8 * abs(one) / longest) if math.isfinite(abs(one)) else "" for one in values]
    return [f"{one:+.6g} {bar}".rstrip() for one, bar in zip(values, bars, strict=True)]


def _span(array: np.ndarray[Any, Any]) -> str:
    return f"from {number(float(flat(array).min()))} to {number(float(flat(array).max()))}"


def _corner(array: np.ndarray[Any, Any]) -> str:
    rows, columns = flat(array).shape
    return f" The picture shows the first {MOST} rows and columns." if max(rows, columns) > MOST else ""
