"""Compare two benchmarks, or one with published figures, and always name what differs between them.

A ratio of two experiments that differ in batch, type or size says little about the machines. So rows of equal
experiments come first, and every other row names what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu.experiment.bench import bench_sentences, published
from jupyter_mlgpu.experiment.bench.published import Published
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun, load
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.sentence import Sentence, say


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: `ratio` is our speed divided by theirs, `differs` lists what is not the same.

    `certain` is true if the 95 % intervals of the two do not overlap; None if the other has no interval.
    """

    label: str
    ours: Quantity
    theirs: Quantity
    ratio: float
    what: str
    differs: tuple[str, ...]
    certain: bool | None


@dataclass(frozen=True, repr=False)
class Against(Displayable):
    """A comparison: its head, its rows, and sentences on what is not compared and where figures come from."""

    head: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def against(run: BenchRun, word: str) -> Against:
    """Compare a run with published figures of that name, or with the run in that file. Raises BenchError."""
    other = load_or_published(word)
    return two_runs(run, other) if isinstance(other, BenchRun) else with_published(run, other)


def load_or_published(word: str) -> BenchRun | tuple[Published, ...]:
    """Return the run or the published figures that a word after `--against` names. Raises BenchError."""
    # A file may have any name; a word that is not a file is a published name.
    if Path(word).suffix == ".json" or Path(word).expanduser().is_file():
        return load(word)
    return published.by_name(word)


def with_published(run: BenchRun, entries: Sequence[Published]) -> Against:
    """Compare each result with the published figures of its case that are nearest to it."""
    rows = [row for one in _one_of_each(run) for row in _nearest(one, entries)]
    rows.sort(key=lambda row: len(row.differs))
    known = dict.fromkeys(one.case for one in entries)
    left = dict.fromkeys(one.case for one in run.results if one.samples and one.case not in known)
    sources = dict.fromkeys(entry.source for entry in entries)
    notes = [say("Source: {source}", source=one) for one in sources]
    if left:
        note = say(
            "Not published there: {left}. Published: {known}.", left=", ".join(left), known=", ".join(known)
        )
        notes.insert(0, note)
    head = say(
        "{ours} compared with published figures for {theirs}.",
        ours=bench_sentences.hardware(run),
        theirs=entries[0].hardware,
    )
    return Against(head, tuple(rows), (*_caveats(run, rows), *notes))


def two_runs(ours: BenchRun, theirs: BenchRun) -> Against:
    """Compare what both runs have: the same case, parameters, type and options; the same framework first."""
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
    notes = [*_caveats(ours, rows), *_caveats(theirs, rows, here=False)]
    if alone:
        notes.append(say("Not in the other file, so not compared: {cases}.", cases=", ".join(alone)))
    changed = [
        f"{registry.title(name)} {ours.versions.get(name, 'none')} here, "
        f"{theirs.versions.get(name, 'none')} there"
        for name in sorted({*ours.versions, *theirs.versions})
        if ours.versions.get(name) != theirs.versions.get(name)
    ]
    if changed:
        notes.append(say("Versions differ: {versions}.", versions="; ".join(changed)))
    if ours.quick != theirs.quick:
        notes.append(say("One of the two runs used --quick, with fewer repeats."))
    head = say(
        "{ours} Compared with: {theirs}", ours=bench_sentences.head(ours), theirs=bench_sentences.head(theirs)
    )
    return Against(head, tuple(rows), tuple(notes))


def _caveats(run: BenchRun, rows: Sequence[Row], *, here: bool = True) -> list[Sentence]:
    """Return a sentence that names the compared results whose figures have caveats, if any."""
    compared = {row.label for row in rows}
    found = dict.fromkeys(one.label for one in run.results if one.flags and one.label in compared)
    if not found:
        return []
    cases = ", ".join(found)
    if here:
        return [say("Figures from this run have caveats, listed in its own table: {cases}.", cases=cases)]
    return [say("Figures from the other run have caveats, listed in its own table: {cases}.", cases=cases)]


def _row(one: CaseResult, other: CaseResult) -> Row:
    differs = [
        f"{name} {mine}, there {theirs}"
        for name, mine, theirs in (
            ("framework", registry.title(one.framework), registry.title(other.framework)),
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


def _one_of_each(run: BenchRun) -> list[CaseResult]:
    """Return the results to compare: all that were measured, but of gemm in each type only the best."""
    measured = [one for one in run.results if one.samples]
    best: dict[tuple[str, ...], CaseResult] = {}
    kept = []
    for one in measured:
        if one.case != "gemm":
            kept.append(one)
            continue
        key = (one.framework, one.device, one.type_asked)
        if key not in best or (one.tflops.value or 0) > (best[key].tflops.value or 0):
            best[key] = one
    return [*best.values(), *kept]


def _nearest(one: CaseResult, entries: Sequence[Published]) -> list[Row]:
    """Return the published figures of the same case and kind of work that differ least from a result."""
    rows = []
    for entry in entries:
        ours = one.tflops if entry.unit == "TFLOP/s" else one.throughput
        if entry.case != one.case or ours.value is None or ours.unit != entry.unit:
            continue
        if entry.parameters.get("mode") != one.parameters.get("mode"):  # training is not inference
            continue
        if one.case == "gemm" and entry.type_ not in (one.type_ran, one.type_asked):
            continue  # only products in the same type are comparable
        theirs = Quantity(entry.value, entry.unit)
        parts = [entry.what, "" if entry.watts is None else f"{entry.watts:.0f} W", entry.version]
        what = ", ".join(filter(None, parts))
        rows.append(Row(one.label, ours, theirs, _ratio(ours, theirs), what, _differences(one, entry), None))
    least = min((len(row.differs) for row in rows), default=0)
    return [row for row in rows if len(row.differs) == least]


def _differences(one: CaseResult, entry: Published) -> tuple[str, ...]:
    """Return what the source states and is not the same here."""
    found = []
    if one.framework != entry.framework:
        found.append(f"framework {registry.title(one.framework)}, there {registry.title(entry.framework)}")
    found += [
        f"{name} {_stated(one.parameters.get(name))}, there {_stated(entry.parameters.get(name))}"
        for name in dict.fromkeys((*one.parameters, *entry.parameters))
        if one.parameters.get(name) != entry.parameters.get(name)
    ]
    ran = one.type_ran or one.type_asked
    if entry.type_ not in (ran, one.type_asked):
        found.append(f"{ran}, there {entry.type_}")
    if entry.options is not None and set(one.options) != set(entry.options):
        found.append(f"{_options(one.options)}, there {_options(entry.options)}")
    return tuple(found)


def _stated(value: Any) -> str:
    return "not stated" if value is None else str(value)


def _options(names: Sequence[str]) -> str:
    return " and ".join(names) or "no option"


def _ratio(ours: Quantity, theirs: Quantity) -> float:
    return (ours.value or 0.0) / (theirs.value or 1.0)
