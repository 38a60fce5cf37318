"""Two benchmarks side by side, or one beside published figures; what differs between them is always said.

A ratio of two experiments that differ in batch, type or size says little about the machines. So rows that are
the same experiment come first, and every other row names what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu.bench import page, published
from jupyter_mlgpu.bench.published import Published
from jupyter_mlgpu.bench.quantity import Quantity
from jupyter_mlgpu.bench.result import Result
from jupyter_mlgpu.bench.run import BenchRun, load
from jupyter_mlgpu.markup import bullets, element, joined, table


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: `ratio` is how many times as fast as theirs ours is, `differs` what is not the same.

    `certain` tells whether the 95 % intervals of the two lie apart; None where the other has no interval.
    """

    label: str
    ours: Quantity
    theirs: Quantity
    ratio: float
    what: str
    differs: tuple[str, ...]
    certain: bool | None


@dataclass(frozen=True)
class Against:
    """A comparison: its head, its rows, and sentences on what is not compared and where figures come from."""

    head: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([self.head, *page.table(_TITLES, self._cells()), *self.notes])

    def _repr_html_(self) -> str:
        return str(joined(element("p", self.head), table(_TITLES, self._cells()), bullets(self.notes)))

    def _cells(self) -> list[list[str]]:
        return [
            [
                one.label,
                page.quantity(one.ours),
                page.quantity(one.theirs),
                f"{one.ratio:.3g}" + (" (not certain)" if one.certain is False else ""),
                one.what,
                "; ".join(one.differs) or "nothing that is told",
            ]
            for one in self.rows
        ]


_TITLES = ("case", "here", "there", "times as fast", "there was", "what differs")


def against(run: BenchRun, word: str) -> Against:
    """A run beside published figures of that name, or beside the run in that file; raises BenchError."""
    other = prepared(word)
    return two_runs(run, other) if isinstance(other, BenchRun) else with_published(run, other)


def prepared(word: str) -> BenchRun | tuple[Published, ...]:
    """What a word after `--against` names: the run in a file, or published figures; raises BenchError."""
    # A file may have any name; a word that is none is a published name.
    if Path(word).suffix == ".json" or Path(word).expanduser().is_file():
        return load(word)
    return published.named(word)


def with_published(run: BenchRun, entries: Sequence[Published]) -> Against:
    """Each result beside the published figures of its case that are nearest to it."""
    rows = [row for one in _one_of_each(run) for row in _nearest(one, entries)]
    rows.sort(key=lambda row: len(row.differs))
    known = dict.fromkeys(one.case for one in entries)
    left = dict.fromkeys(one.case for one in run.results if one.samples and one.case not in known)
    notes = [f"Source: {one}" for one in dict.fromkeys(entry.source for entry in entries)]
    if left:
        notes.insert(0, f"Not published there: {', '.join(left)}. It has {', '.join(known)}.")
    notes = [*_doubtful(run, rows), *notes]
    return Against(
        f"{page.hardware(run)} against published figures: {entries[0].hardware}.", tuple(rows), tuple(notes)
    )


def two_runs(ours: BenchRun, theirs: BenchRun) -> Against:
    """What both runs have: the same case, parameters, type and options; the same framework's first."""
    rows, alone = [], []
    for one in ours.results:
        if not one.samples:
            continue
        same = [other for other in theirs.results if other.samples and other.key == one.key]
        same.sort(key=lambda other: other.framework != one.framework)
        if same:
            rows.append(_row(one, same[0]))
        else:
            alone.append(one.label)
    notes = [*_doubtful(ours, rows), *_doubtful(theirs, rows, "there")]
    if alone:
        notes.append(f"Not in the other file, so not compared: {', '.join(alone)}.")
    changed = [
        f"{name} {ours.versions.get(name, 'none')} here, {theirs.versions.get(name, 'none')} there"
        for name in sorted({*ours.versions, *theirs.versions})
        if ours.versions.get(name) != theirs.versions.get(name)
    ]
    if changed:
        notes.append(f"Versions that differ: {'; '.join(changed)}.")
    if ours.quick != theirs.quick:
        notes.append("One of the two is of --quick, with fewer repeats.")
    return Against(f"{page.head(ours)} Against: {page.head(theirs)}", tuple(rows), tuple(notes))


def _doubtful(run: BenchRun, rows: Sequence[Row], where: str = "here") -> list[str]:
    """A sentence that names the results compared against whose figures something speaks."""
    compared = {row.label for row in rows}
    found = dict.fromkeys(one.label for one in run.results if one.flags and one.label in compared)
    if not found:
        return []
    return [f"Something speaks against the figure {where}, and its own table says what: {', '.join(found)}."]


def _row(one: Result, other: Result) -> Row:
    differs = [
        f"{name} {mine}, there {theirs}"
        for name, mine, theirs in (
            ("framework", one.framework, other.framework),
            ("device", one.device, other.device),
            ("ran as", one.type_ran, other.type_ran),
            ("hardware", one.hardware, other.hardware),
        )
        if mine != theirs
    ]
    ours, theirs = one.throughput, other.throughput
    low, high = one.interval, other.interval
    certain = None if low is None or high is None else low[1] < high[0] or high[1] < low[0]
    what = f"{other.framework} on {other.hardware or other.device}"
    return Row(one.label, ours, theirs, _ratio(ours, theirs), what, tuple(differs), certain)


def _one_of_each(run: BenchRun) -> list[Result]:
    """What to compare: every result that was measured, but of gemm in each type only the best."""
    measured = [one for one in run.results if one.samples]
    best: dict[tuple[str, ...], Result] = {}
    kept = []
    for one in measured:
        if one.case != "gemm":
            kept.append(one)
            continue
        key = (one.framework, one.device, one.type_asked)
        if key not in best or (one.tflops.value or 0) > (best[key].tflops.value or 0):
            best[key] = one
    return [*best.values(), *kept]


def _nearest(one: Result, entries: Sequence[Published]) -> list[Row]:
    """Rows of the published figures of the same case and kind of work that differ least from a result."""
    rows = []
    for entry in entries:
        ours = one.tflops if entry.unit == "TFLOP/s" else one.throughput
        if entry.case != one.case or ours.value is None or ours.unit != entry.unit:
            continue
        if entry.parameters.get("mode") != one.parameters.get("mode"):  # training is not inference
            continue
        if one.case == "gemm" and entry.type_ not in (one.type_ran, one.type_asked):
            continue  # of a product of matrices the type is what matters
        theirs = Quantity(entry.value, entry.unit)
        told = [entry.what, "" if entry.watts is None else f"{entry.watts:.0f} W", entry.version]
        what = ", ".join(filter(None, told))
        rows.append(Row(one.label, ours, theirs, _ratio(ours, theirs), what, _differences(one, entry), None))
    least = min((len(row.differs) for row in rows), default=0)
    return [row for row in rows if len(row.differs) == least]


def _differences(one: Result, entry: Published) -> tuple[str, ...]:
    """What the source tells and is not the same here."""
    found = [
        f"{name} {_said(one.parameters.get(name))}, there {_said(entry.parameters.get(name))}"
        for name in dict.fromkeys((*one.parameters, *entry.parameters))
        if one.parameters.get(name) != entry.parameters.get(name)
    ]
    ran = one.type_ran or one.type_asked
    if entry.type_ not in (ran, one.type_asked):
        found.append(f"{ran}, there {entry.type_}")
    if entry.options is not None and set(one.options) != set(entry.options):
        found.append(f"{_options(one.options)}, there {_options(entry.options)}")
    return tuple(found)


def _said(value: Any) -> str:
    return "not told" if value is None else str(value)


def _options(names: Sequence[str]) -> str:
    return " and ".join(names) or "no option"


def _ratio(ours: Quantity, theirs: Quantity) -> float:
    return (ours.value or 0.0) / (theirs.value or 1.0)
