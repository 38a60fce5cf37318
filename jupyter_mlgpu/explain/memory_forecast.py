"""Forecast the memory of a larger batch from the peak memory of smaller ones, before it is run.

The assumption is peak = a + b * batch: a is what is there whatever the batch (the libraries, the model), b
what one item takes. Each pair of runs with different batches gives a line, and each line a figure for the
requested batch. Their median is the forecast, and their smallest and largest are the range. With one run of
each of two batches there is one line, so no range. Nothing else is measured, so the range does not cover what
the assumption leaves out: another algorithm that is chosen for a large batch, or fragmented memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.explain.memory_lines import ROOM, Line, at, lines_through, slope
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, below, listed, say, say_count

#: A forecast beyond this multiple of the largest measured batch has a warning.
FAR = 4

#: The most recent runs of each batch that count, at most.
MOST = 20

ASSUMED = say(
    "Assumed: memory grows in proportion to the batch size, and nothing else is created before it and kept."
)


_NAMES = {
    "peak_memory_allocator": say("peak memory, allocator"),
    "peak_memory_process": say("peak memory, process"),
}


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The memory that the cell may have, in bytes, and a description of it."""

    bytes: float
    of: Sentence


@dataclass(frozen=True, slots=True)
class Forecast:
    """The memory that a batch needs, in bytes; displayed as sentences.

    `needed` is None if it is not known, with the reason in `why_not`. `low` and `high` are None if there is
    only one line. `smaller` is a batch that would fit, None if none is known.
    """

    batch: int
    quantity: str
    needed: float | None
    low: float | None
    high: float | None
    limit: MemoryLimit | None
    smaller: int | None
    why_not: Sentence | None
    notes: tuple[Sentence, ...]

    @property
    def fits(self) -> bool | None:
        """True if it fits; None if that is not known."""
        if self.needed is None or self.limit is None:
            return None
        return (self.high or self.needed) <= ROOM * self.limit.bytes

    def __repr__(self) -> str:
        return str(self.sentence)

    @property
    def sentence(self) -> Sentence:
        """The whole forecast, in lines."""
        return below(self._answer(), *self.notes)

    def _answer(self) -> Sentence:
        if self.needed is None:
            return say(
                "What batch size {batch} needs is not known: {why}", batch=self.batch, why=self.why_not or ""
            )
        need = say("Batch size {batch} needs about {size}", batch=self.batch, size=units.size(self.needed))
        if self.limit is None:
            return say(
                "{need} ({figure}). How much is available is not known.", need=need, figure=self._figure()
            )
        return say(
            "{need} ({figure}); {limit} available ({of}): {verdict}.",
            need=need,
            limit=units.size(self.limit.bytes),
            figure=self._figure(),
            of=self.limit.of,
            verdict=self._verdict(self.needed, self.limit.bytes),
        )

    def _figure(self) -> Sentence:
        """Return which memory the figure is about, and its range."""
        name = _NAMES[self.quantity]
        if self.low is None or self.high is None:
            return name
        high = units.size(self.high)
        # Lines of scattered runs may fall below zero, which no batch takes.
        if self.low <= 0:
            return say("{quantity}, at most {high}", quantity=name, high=high)
        return say("{quantity}, from {low} to {high}", quantity=name, low=units.size(self.low), high=high)

    def _verdict(self, needed: float, limit: float) -> Sentence:
        if self.fits:
            return say("it fits")
        beyond = say("it does not fit") if needed > limit else say("too close to the limit")
        if self.smaller is None:
            return say("{beyond}; no smaller batch size is known to fit", beyond=beyond)
        return say("{beyond}; try {batch}", beyond=beyond, batch=self.smaller)


def forecast(
    batch: int,
    measured: Mapping[int, Sequence[Record]],
    limit: MemoryLimit | None = None,
    history: Sequence[Record] = (),
) -> Forecast:
    """Forecast what `batch` needs from the runs of other batches: `measured` maps a batch to its records.

    The peak is that of the framework's allocator on a GPU if all runs have it, else that of the process.
    `history` are all records of the kernel. They show if a run imported a framework, and if memory that
    earlier cells left hides what a run needed.

    Raises UsageError for batches that are not positive numbers, or fewer than two of them.
    """
    if batch < 1 or any(one < 1 for one in measured):
        raise UsageError(say("A batch size is a whole number, 1 or more."))
    if len(measured) < 2:
        raise UsageError(
            say(
                "A forecast needs runs with at least two batch sizes, such as 32 and 64: one "
                "point does not make a line."
            )
        )
    notes: list[Sentence] = []
    runs = {size: _usable_runs(size, records, history, notes) for size, records in sorted(measured.items())}
    quantity = quantity_of([record for records in runs.values() for record in records])
    if quantity == "peak_memory_process":
        runs = _without_later_smaller(runs, notes)
    points = [
        (size, value)
        for size, records in runs.items()
        for record in records
        if (value := _peak(record, quantity)) is not None
    ]
    lines = lines_through(points)
    why = _why_not(runs, quantity, points, lines, history)
    if why is not None:
        return Forecast(batch, quantity, None, None, None, limit, None, why, tuple(notes))
    low, needed, high = at(lines, batch)
    largest = max(measured)
    if batch > FAR * largest:
        notes.append(
            say(
                "Batch size {batch} is far beyond {largest}, the largest measured, so this "
                "is a rough figure.",
                batch=batch,
                largest=largest,
            )
        )
    smaller = _smaller(batch, lines, limit)
    several = len(lines) > 1
    if not several:
        notes.append(say("One run per batch size gives no range; more runs or a third batch size would."))
    return Forecast(
        batch,
        quantity,
        needed,
        low if several else None,
        high if several else None,
        limit,
        smaller,
        None,
        (*notes, ASSUMED),
    )


def quantity_of(records: Sequence[Record]) -> str:
    """Return the peak to use: the allocator's on a GPU if all records have it, else the process's."""
    on_gpu = bool(records) and all(_on_gpu(record) for record in records)
    return "peak_memory_allocator" if on_gpu else "peak_memory_process"


def _on_gpu(record: Record) -> bool:
    return any(
        one.scope == "device" and one.value and "cpu" not in (one.device or "").lower()
        for one in _readings(record, "peak_memory_allocator")
    )


def _usable_runs(
    batch: int, records: Sequence[Record], history: Sequence[Record], notes: list[Sentence]
) -> list[Record]:
    """Return the runs that count: successful light ones that did not import a framework."""
    good = [one for one in records if one.outcome == "ok" and one.mode == "light"]
    if len(good) < len(records):
        notes.append(
            say_count(
                "{count} run of batch size {batch} is not counted: it failed, was "
                "interrupted or was profiled.",
                "{count} runs of batch size {batch} are not counted: they failed, were "
                "interrupted or were profiled.",
                len(records) - len(good),
                batch=batch,
            )
        )
    counted = [one for one in good if not _imports(one, history)]
    if len(counted) < len(good):
        notes.append(
            say(
                "A run of batch size {batch} imported a framework, which takes memory, so it is not counted.",
                batch=batch,
            )
        )
    return counted[-MOST:]


def _imports(record: Record, history: Sequence[Record]) -> bool:
    """Return True if the cell imported a framework, by the versions in its record and the one before."""
    before = _before(record, history)
    return before is not None and bool(record.versions.keys() - before.versions.keys())


def _before(record: Record, history: Sequence[Record]) -> Record | None:
    earlier = [
        one for one in history if one.run.id == record.run.id and one.cell.sequence < record.cell.sequence
    ]
    return max(earlier, key=lambda one: one.cell.sequence, default=None)


def _why_not(
    runs: Mapping[int, Sequence[Record]],
    quantity: str,
    points: Sequence[tuple[int, float]],
    lines: Sequence[Line],
    history: Sequence[Record],
) -> Sentence | None:
    for size, records in runs.items():
        if not any(one == size for one, _ in points):
            reasons = [one.why_missing for record in records for one in _readings(record, quantity)]
            reason = next(filter(None, reasons), say("none of its runs counts; run it once more."))
            return say("the peak for batch size {batch} is not known: {reason}", batch=size, reason=reason)
    if slope(lines) <= 0:
        return say(
            "the peaks for batch sizes {sizes} do not grow with the batch size. Something "
            "else is larger, or memory from earlier cells was reused: restart the kernel and "
            "run the smaller batch size first, or use larger ones.",
            sizes=listed([*runs]),
        )
    if quantity == "peak_memory_process":
        return _why_hidden(runs, lines, history)
    return None


def _without_later_smaller(runs: dict[int, list[Record]], notes: list[Sentence]) -> dict[int, list[Record]]:
    """Return the runs without those after a larger batch, whose memory the process may still hold.

    If a batch would have no run left, all runs are returned.
    """
    kept = {
        size: [one for one in records if not _larger_before(size, one, runs)]
        for size, records in runs.items()
    }
    if kept == runs or not all(kept.values()):
        return runs
    notes.append(
        say(
            "Runs of a smaller batch size after a larger one are not counted: memory from "
            "the larger one may still be held."
        )
    )
    return kept


def _larger_before(size: int, record: Record, runs: Mapping[int, Sequence[Record]]) -> int:
    """Return the largest batch above its own that ran before a record in the same kernel; 0 for none."""
    return max(
        (
            other
            for other, records in runs.items()
            if other > size
            and any(
                one.run.id == record.run.id and one.cell.sequence < record.cell.sequence for one in records
            )
        ),
        default=0,
    )


def _why_hidden(
    runs: Mapping[int, Sequence[Record]],
    lines: Sequence[Line],
    history: Sequence[Record],
) -> Sentence | None:
    """Return a reason if a larger batch that ran before hides a run's own need, else None."""
    for size, record in ((size, record) for size, records in runs.items() for record in records):
        larger = _larger_before(size, record, runs)
        before = _before(record, history)
        start = None if before is None else _peak(before, "memory_process")
        peak = _peak(record, "peak_memory_process")
        if not larger or start is None or peak is None:
            continue
        needs = at(lines, size)[1] - at(lines, 0)[1]
        if peak - start < needs / 2:
            return say(
                "batch size {batch} ran after {larger}, and the process still held that "
                "memory, so its own need is hidden: restart the kernel and run the smaller "
                "batch size first.",
                batch=size,
                larger=larger,
            )
    return None


def _smaller(batch: int, lines: Sequence[Line], limit: MemoryLimit | None) -> int | None:
    """Return the largest of half the batch, a quarter of it and so on that fits."""
    while limit is not None and (batch := batch // 2) >= 1:
        if at(lines, batch)[2] <= ROOM * limit.bytes:
            return batch
    return None


def _readings(record: Record, quantity: str) -> list[Reading]:
    return [one for one in record.readings if one.quantity == quantity]


def _peak(record: Record, quantity: str) -> float | None:
    """Return the largest of several devices' peaks."""
    return max((one.value for one in _readings(record, quantity) if one.value is not None), default=None)
