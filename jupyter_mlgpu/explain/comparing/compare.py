"""Compare two groups of records: the median of each quantity over the runs, with a confidence interval.

Light runs are compared with light runs only, and only successful ones, because a profiler slows down a cell.
Times per operation are compared between profiled runs. A cell is identified by its code: records with the
same digest are runs of one cell. First runs count like the others, because no record says that its run was
the first. The exception is the warm-up run of a cell that repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jupyter_mlgpu.explain.statistics import Estimate, median, ratio_interval
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.cellnumbers import CellNumber
from jupyter_mlgpu.record.displayable import Charted
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.instruments import Instrument, Instruments, display_names
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, listed, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.tracing import Runs

#: The most recent runs of a cell that count, at most: an exact interval of more takes long.
MOST = 50

#: The number of operations that are compared: those with the largest self time.
OPERATIONS = 15

#: A relative difference that is not worth mentioning if the whole interval lies within it.
SAME = 0.01


#: `unclear`: the interval contains 1. `approximate`: too few runs for an interval. `unknown`: no ratio.
Finding = Literal["more", "less", "same", "unclear", "approximate", "unknown"]
_VERDICTS: Mapping[Finding, Sentence] = {
    "more": say("▲ more"),
    "less": say("▼ less"),
    "same": say("= same"),
    "unclear": say("○ unclear"),
    "approximate": say("≈ approximate"),
    "unknown": say("○ unknown"),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of some runs, in one unit; empty if the quantity was not measured."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median. There must be at least one value."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity, or the self time of one operation, of two groups of runs. `what` is its displayed name.

    `ratio` is the second divided by the first. It is None if this cannot be judged, and `why_not` then says
    why.
    """

    what: str
    unit: str
    first: Sample
    second: Sample
    ratio: Estimate | None
    why_not: str | None

    @property
    def times(self) -> float | None:
        """The second median divided by the first, however few the runs; None if there is no ratio."""
        if self.ratio is not None:
            return self.ratio.value
        both = (self.first.values, self.second.values)
        if not all(both) or min(map(min, both)) <= 0:
            return None
        return self.second.median / self.first.median

    @property
    def finding(self) -> Finding:
        """The kind of the result. A comparison's headline and tables follow it."""
        if self.ratio is None:
            return "unknown" if self.times is None else "approximate"
        if self.ratio.low >= 1 - SAME and self.ratio.high <= 1 + SAME:
            return "same"
        if self.ratio.low > 1:
            return "more"
        return "less" if self.ratio.high < 1 else "unclear"

    @property
    def verdict(self) -> Sentence:
        """The result in a word."""
        return _VERDICTS[self.finding]


@dataclass(frozen=True, slots=True)
class Pair:
    """A cell in both groups: its changes and those of its operations; `notes` list other differences.

    `timing` is the change of the cell's time; None if neither side has a timing.
    """

    name: str
    timing: Change | None
    changes: tuple[Change, ...]
    operations: tuple[Change, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class RecordComparison(Charted):
    """The result of a comparison; displayed as a chart and tables in a notebook and as text elsewhere."""

    first: str
    second: str
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def compare(
    first: Runs | Iterable[Record], second: Runs | Iterable[Record], *, names: tuple[str, str] = ("A", "B")
) -> RecordComparison:
    """Compare two groups of records, such as `load_records` or `records()` return.

    A cell's number, the one in its brackets, selects the runs of its code. A text selects the `trace` blocks
    of that name, "10.2" one run of a cell, and "#12" one record.

    If each group holds runs of one cell only, these two are compared. Otherwise each cell is compared with
    the runs of the same code in the other group. A comparison of one cell begins with the quicker side,
    whichever was given first. Raises UsageError if no cell can be compared, or if both groups are the same.
    """
    sides = (list(_records(first)), list(_records(second)))
    if not all(sides):
        empty = listed([name for name, side in zip(names, sides, strict=True) if not side])
        raise UsageError(say("Nothing to compare: no records in {names}.", names=empty))
    if sides[0] == sides[1]:
        raise UsageError(
            say(
                "Nothing to compare: {first} and {second} are the same records.",
                first=names[0],
                second=names[1],
            )
        )
    one, other = map(_by_code, sides)
    if len(one) == len(other) == 1:
        both = [(next(iter(one.values())), next(iter(other.values())))]
    else:
        both = [(one[code], other[code]) for code in one if code in other]
    if not both:
        raise UsageError(
            say(
                "{first} and {second} have no cell with the same code, so nothing can be compared.",
                first=names[0],
                second=names[1],
            )
        )
    alone = len(one) + len(other) - 2 * len(both)
    notes = [say("{count} cells are on one side only and left out.", count=alone)] if alone > 0 else []
    pairs = [_pair(a, b) for a, b in both]
    if len(pairs) == 1 and (timing := pairs[0].timing) is not None and (timing.times or 1) < 1:
        pairs, names = [_pair(b, a) for a, b in both], (names[1], names[0])
    return RecordComparison(*names, tuple(pairs), tuple(notes))


def side_names(first: str, second: str) -> tuple[str, str]:
    """Return the names of two sides, with a letter each if they are equal."""
    return (first, second) if first != second else (f"{first} (A)", f"{second} (B)")


def _records(which: Runs | Iterable[Record]) -> Iterable[Record]:
    if not isinstance(which, int | str | CellNumber | Record):
        return which
    from jupyter_mlgpu.measure.tracing import runs_of

    return runs_of(which)


#: Growth is often 0, which has no ratio; the peaks are compared.
_COMPARED = tuple(quantity for quantity in QUANTITIES if quantity != "memory_growth")


def _by_code(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group records by the code of their cell, or by name for a block of a script, which has no code."""
    cells: dict[str, list[Record]] = {}
    for record in records:
        cells.setdefault(record.cell.source_digest or f"block {record.cell.name}", []).append(record)
    return cells


def _pair(first: Sequence[Record], second: Sequence[Record]) -> Pair:
    light = _successful(first, "light"), _successful(second, "light")
    profiled = _successful(first, "profiled"), _successful(second, "profiled")
    names = dict.fromkeys(side[-1].cell.name for side in (first, second))
    found = {quantity: _quantity(quantity, Sentence(units.title(quantity)), *light) for quantity in _COMPARED}
    until_done = _until_done(*light)
    found["wall_time"] += until_done
    timing = next(iter((*until_done, *found["wall_time"])), None)
    changes = [change for one in found.values() for change in one] + _gpu_work(*light)
    operations: list[Change] = []
    if all(profiled):
        title = say("{quantity} (profiled)", quantity=Sentence(units.title("device_time")))
        changes += _quantity("device_time", title, *profiled)
        operations = _operations(*profiled)
    notes = tuple(_notes(first, second, light))
    return Pair(" / ".join(names), timing, tuple(changes), tuple(operations), notes)


def _successful(records: Sequence[Record], mode: str) -> list[Record]:
    good = [one for one in records if one.mode == mode and one.outcome == "ok"]
    return [one for one in good if one.repeat is None or one.repeat.number > 0][-MOST:]


def _quantity(
    quantity: str, title: Sentence, first: Sequence[Record], second: Sequence[Record]
) -> list[Change]:
    """Return a change for each instrument that measured the quantity; none if neither side did."""
    instruments = Instruments((*first, *second), quantity)
    sides = [_by_instrument(records, instruments) for records in (first, second)]
    if not any(sides):
        return []
    unit = QUANTITIES[quantity].unit
    # Two kinds of wall time measure different things, so they are not comparable.
    comparable = quantity != "wall_time" or sides[0].keys() == sides[1].keys()
    if comparable and all(len(side) == 1 for side in sides):
        values = (next(iter(side.values())) for side in sides)
        return [_change(title, unit, *values)]
    names = display_names(dict.fromkeys(one for side in sides for one in side))
    return [
        _change(
            say("{quantity}, {instrument}", quantity=title, instrument=name) if len(names) > 1 else title,
            unit,
            *(side.get(instrument, []) for side in sides),
        )
        for instrument, name in names.items()
    ]


def _until_done(first: Sequence[Record], second: Sequence[Record]) -> list[Change]:
    """Return the change of the time until the GPU work was done, if no cell of either side waited for it."""
    if not all(one.asynchronous for one in (*first, *second)):
        return []
    sides = ([duration for one in side if (duration := one.duration) is not None] for side in (first, second))
    return [_change(say("Wall time until the GPU was done"), "s", *sides)] if first or second else []


def _gpu_work(first: Sequence[Record], second: Sequence[Record]) -> list[Change]:
    """Return the changes of launches and copied bytes in each direction, for each GPU that worked."""
    sides = [_amounts(records) for records in (first, second)]
    names = dict.fromkeys(name for side in sides for name in side)
    return [_change(*name, *(side.get(name, []) for side in sides)) for name in names]


def _amounts(records: Sequence[Record]) -> dict[tuple[str, str], list[float]]:
    """Return values by name and unit, one for each record."""
    found: dict[tuple[str, str], list[float]] = {}
    for record in records:
        for work in record.gpu_work:
            launches = say("Launches, {device}", device=work.device)
            found.setdefault((launches, "launches"), []).append(work.launches)
            for one in work.copies:
                copied = say("Copied {direction}, {device}", direction=one.direction, device=work.device)
                found.setdefault((copied, "bytes"), []).append(one.bytes)
    return found


def _by_instrument(records: Sequence[Record], instruments: Instruments) -> dict[Instrument, list[float]]:
    """Return values by instrument, one for each record that it measured."""
    values: dict[Instrument, list[float]] = {}
    for record in records:
        for instrument, value in instruments.values(record).items():
            values.setdefault(instrument, []).append(value)
    return values


def _change(what: str, unit: str, first: Sequence[float], second: Sequence[float]) -> Change:
    found, why = None, None
    if not first or not second:
        why = say("measured on one side only")
    elif min(*first, *second) <= 0:
        why = say("a value is 0, so there is no ratio")
    else:
        found = ratio_interval(first, second)
        if found is None:
            why = too_few(len(first), len(second))
    return Change(what, unit, Sample(tuple(first)), Sample(tuple(second)), found, why)


def too_few(first: int, second: int) -> Sentence:
    """Return a sentence on numbers of runs that are too small for an interval."""
    if first == second == 1:
        return say("one run each")
    return say(
        "{first} and {second} runs are too few (4 and 4 are enough)", first=str(first), second=str(second)
    )


def _operations(first: Sequence[Record], second: Sequence[Record]) -> list[Change]:
    sides = [_self_times(records) for records in (first, second)]
    keys = dict.fromkeys(key for side in sides for key in side)
    changes = [_change(_operation_title(key), "s", *(side.get(key, []) for side in sides)) for key in keys]
    return sorted(changes, key=_largest, reverse=True)[:OPERATIONS]


def _self_times(records: Sequence[Record]) -> Mapping[tuple[str, str], list[float]]:
    """Return self times by plane and name, a value for each record: several devices are added up."""
    found: dict[tuple[str, str], list[float]] = {}
    for record in records:
        sums: dict[tuple[str, str], float] = {}
        for row in record.ops:
            key: tuple[str, str] = (row.plane or "", row.name)
            sums[key] = sums.get(key, 0) + row.self_time
        for key, value in sums.items():
            found.setdefault(key, []).append(value)
    return found


def _operation_title(key: tuple[str, str]) -> str:
    plane, name = key
    return f"{name} ({plane})" if plane else name


def _largest(change: Change) -> float:
    return max(side.median for side in (change.first, change.second) if side.values)


def _notes(
    first: Sequence[Record], second: Sequence[Record], light: tuple[Sequence[Record], ...]
) -> list[str]:
    notes = []
    left = sum(1 for one in (*first, *second) if one.outcome != "ok")
    if left:
        notes.append(say("{count} failed or interrupted runs are left out.", count=left))
    if not all(light):
        notes.append(say("One side has no successful light run, so it has no timing."))
    if len({one.asynchronous for side in light for one in side}) > 1:
        notes.append(
            say(
                "Some runs waited for the GPU at their ends and others did not: "
                "wall times of the two kinds are not compared."
            )
        )
    for what, describe in _DIFFERENCES:
        here, there = (list(dict.fromkeys(map(describe, side))) for side in (first, second))
        if here != there:
            notes.append(say("{name}: {one} and {other}.", name=what, one=_list(here), other=_list(there)))
    return [*notes, *_versions(first[-1], second[-1])]


def _list(names: Sequence[str]) -> str:
    # A single name stays a sentence, so that it is translated.
    return names[0] if len(names) == 1 else ", ".join(names)


def _ran_on(record: Record) -> str:
    return ", ".join(one.device for one in record.device.ran_on or ()) or say("not known")


_DIFFERENCES: tuple[tuple[Sentence, Callable[[Record], str]], ...] = (
    (say("Ran on"), _ran_on),
    (say("Requested"), lambda record: record.device.asked_for or say("no device")),
    (say("Machines"), lambda record: record.run.host_digest or say("not known")),
)


def _versions(first: Record, second: Record) -> list[str]:
    return [
        say("{name}: {one} and {other}.", name=registry.title(name), one=version, other=second.versions[name])
        for name, version in first.versions.items()
        if second.versions.get(name, version) != version
    ]
