"""Two groups of records compared: medians over the runs of each quantity, and how far to trust them.

Light runs are compared with light ones alone, and only those that ended well: a profiler makes a cell slower.
Times per operation are compared between profiled runs. A cell is its code: records with the same digest are
runs of one cell. First runs count like the others, for nothing in a record says that a run was the first, but
for the run that warms up in a cell that repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

#: The newest runs of a cell that count, at most: an exact interval of more takes long.
MOST = 50

#: Operations compared, those with the largest self time.
OPERATIONS = 15

#: A difference that is not worth a word, where the whole interval lies within it.
SAME = 0.01


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of some runs, in one unit; empty where the quantity was not measured."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value; there is at least one."""
        return median(self.values)


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity, or one operation's self time, of two groups of runs; `what` is its name for people.

    `ratio` is how many times as large the second is as the first, None where `why_not` says why it cannot be
    judged.
    """

    what: str
    unit: str
    first: Sample
    second: Sample
    ratio: Estimate | None
    why_not: str | None

    @property
    def times(self) -> float | None:
        """How many times as large the second is, however few runs say so; None where nothing divides."""
        if self.ratio is not None:
            return self.ratio.value
        both = (self.first.values, self.second.values)
        if not all(both) or min(map(min, both)) <= 0:
            return None
        return self.second.median / self.first.median

    @property
    def verdict(self) -> Sentence:
        """What can be said of it, in a few words."""
        if self.ratio is None and self.times is not None:
            return say("○ approximate: {why}", why=self.why_not or "")
        if self.ratio is None:
            return say("○ cannot judge: {why}", why=self.why_not or "")
        if self.ratio.low >= 1 - SAME and self.ratio.high <= 1 + SAME:
            return say("= the same within {share} %", share=f"{SAME * 100:.0f}")
        if self.ratio.low > 1:
            return say("▲ more")
        return say("▼ less") if self.ratio.high < 1 else say("≈ no difference shown")


@dataclass(frozen=True, slots=True)
class Pair:
    """A cell on both sides: what changed of it, and of its operations; `notes` say what else differs.

    `timing` is that of the changes which says how long the cell took; None where neither side has a timing.
    """

    name: str
    timing: Change | None
    changes: tuple[Change, ...]
    operations: tuple[Change, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class RecordComparison(Charted):
    """What a comparison says; shown as a chart and tables in a notebook and as text elsewhere."""

    first: str
    second: str
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]


def compare(
    first: Runs | Iterable[Record], second: Runs | Iterable[Record], *, names: tuple[str, str] = ("A", "B")
) -> RecordComparison:
    """What differs between two groups of records, such as `load_records` or `records()` give.

    A cell's number, the one in its brackets, stands for the runs of its code, a text for the `trace` blocks
    of that name, or as "10.2" for one run of a cell and as "#12" for one record.

    Where each group holds runs of one cell alone, these two are compared; else each cell with the runs of the
    same code in the other group. Raises UsageError where no cell can be compared.
    """
    cells_of = (_by_code(_records(first)), _by_code(_records(second)))
    if any(not cells for cells in cells_of):
        empty = listed([name for name, cells in zip(names, cells_of, strict=True) if not cells])
        raise UsageError(say("Nothing to compare: no records in {names}.", names=empty))
    one, other = cells_of
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
    return RecordComparison(*names, tuple(_pair(a, b) for a, b in both), tuple(notes))


def _records(which: Runs | Iterable[Record]) -> Iterable[Record]:
    if not isinstance(which, int | str | CellNumber | Record):
        return which
    from jupyter_mlgpu.measure.tracing import runs_of

    return runs_of(which)


def _by_code(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Runs by their cell: by code, or by name for a block of a script, which has no code."""
    cells: dict[str, list[Record]] = {}
    for record in records:
        cells.setdefault(record.cell.source_digest or f"block {record.cell.name}", []).append(record)
    return cells


def _pair(first: Sequence[Record], second: Sequence[Record]) -> Pair:
    light = _counted(first, "light"), _counted(second, "light")
    profiled = _counted(first, "profiled"), _counted(second, "profiled")
    names = dict.fromkeys(side[-1].cell.name for side in (first, second))
    found = {
        quantity: _quantity(quantity, Sentence(units.title(quantity)), *light) for quantity in QUANTITIES
    }
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


def _counted(records: Sequence[Record], mode: str) -> list[Record]:
    good = [one for one in records if one.mode == mode and one.outcome == "ok"]
    return [one for one in good if one.repeat is None or one.repeat.number > 0][-MOST:]


def _quantity(
    quantity: str, title: Sentence, first: Sequence[Record], second: Sequence[Record]
) -> list[Change]:
    """A change for each instrument that measured it; none where neither side did."""
    instruments = Instruments((*first, *second), quantity)
    sides = [_by_instrument(records, instruments) for records in (first, second)]
    if not any(sides):
        return []
    unit = QUANTITIES[quantity].unit
    # Wall times of two kinds differ by what they are of, and not by what read them.
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
    """How long the code and its GPU work took, where nobody waited for the GPUs on either side."""
    if not all(one.asynchronous for one in (*first, *second)):
        return []
    sides = ([took for one in side if (took := one.duration) is not None] for side in (first, second))
    return [_change(say("Wall time until the GPU was done"), "s", *sides)] if first or second else []


def _gpu_work(first: Sequence[Record], second: Sequence[Record]) -> list[Change]:
    """Launches, and bytes copied in each direction, of each GPU that worked on either side."""
    sides = [_amounts(records) for records in (first, second)]
    names = dict.fromkeys(name for side in sides for name in side)
    return [_change(*name, *(side.get(name, []) for side in sides)) for name in names]


def _amounts(records: Sequence[Record]) -> dict[tuple[str, str], list[float]]:
    """Values by what they are called and their unit, one of each record."""
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
    """Values by instrument, one of each record that it measured."""
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
    """Why numbers of runs give no interval."""
    if first == second == 1:
        return say("one run each")
    return say(
        "{first} and {second} runs are too few (4 and 4 are enough)", first=str(first), second=str(second)
    )


def _operations(first: Sequence[Record], second: Sequence[Record]) -> list[Change]:
    sides = [_self_times(records) for records in (first, second)]
    keys = dict.fromkeys(key for side in sides for key in side)
    changes = [_change(_titled(key), "s", *(side.get(key, []) for side in sides)) for key in keys]
    return sorted(changes, key=_largest, reverse=True)[:OPERATIONS]


def _self_times(records: Sequence[Record]) -> Mapping[tuple[str, str], list[float]]:
    """Self time by plane and name, a value for each record: what ran on several devices is added up."""
    found: dict[tuple[str, str], list[float]] = {}
    for record in records:
        sums: dict[tuple[str, str], float] = {}
        for row in record.ops:
            key: tuple[str, str] = (row.plane or "", row.name)
            sums[key] = sums.get(key, 0) + row.self_time
        for key, value in sums.items():
            found.setdefault(key, []).append(value)
    return found


def _titled(key: tuple[str, str]) -> str:
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
    for what, told in _DIFFERENCES:
        here, there = (list(dict.fromkeys(map(told, side))) for side in (first, second))
        if here != there:
            notes.append(say("{name}: {one} and {other}.", name=what, one=_list(here), other=_list(there)))
    return [*notes, *_versions(first[-1], second[-1])]


def _list(names: Sequence[str]) -> str:
    # A single one stays a sentence, which is translated.
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
