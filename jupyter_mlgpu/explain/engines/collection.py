"""The records of several engines in one order, which can be saved as a file for Perfetto."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jupyter_mlgpu import record as record_room
from jupyter_mlgpu.explain.engines.offsets import SAME_CLOCK
from jupyter_mlgpu.explain.engines.phases import phases
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.displayable import Charted, Pictured
from jupyter_mlgpu.record.frames import Records
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say, say_count

#: Where time 0 is if all engines read the collecting machine's clock, and if another clock was compared.
TIME_ZERO = say("Time 0 is the start of the first record.")

ESTIMATED_CLOCKS = say(
    "Time 0 is the start of the first record. Each engine's records use its own monotonic "
    "clock; its offset from the collecting process's clock was estimated during collection "
    "and is subtracted. Records of two engines can be off against each other by the sum of "
    "both uncertainties."
)

WAITING = say(
    "Communication includes waiting: no engine finishes an exchange before the slowest one "
    "has reached it. How much of it was waiting follows from the times at which the engines "
    "reached it."
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A record of an engine with its start and end, in nanoseconds after the first start of all."""

    engine: int
    start_ns: int
    end_ns: int
    record: Record


def merge(engines: Iterable[EngineReport]) -> tuple[Placed, ...]:
    """Return the records of all engines in the order of their starts; an engine's own order is kept."""
    found = []
    for one in engines:
        if one.offset is None:
            continue
        for record in one.records:
            start = record.started_monotonic_ns - one.offset.ns
            found.append(Placed(one.engine, start, start + _length_ns(record), record))
    first = min((one.start_ns for one in found), default=0)
    moved = [Placed(one.engine, one.start_ns - first, one.end_ns - first, one.record) for one in found]
    return tuple(sorted(moved, key=lambda one: (one.start_ns, one.engine, one.record.cell.sequence)))


def busy_ns(placed: Iterable[Placed]) -> int:
    """Return the time in which at least one of these records ran: a block inside a cell counts once."""
    total = end = 0
    for one in sorted(placed, key=lambda one: one.start_ns):
        total += max(0, one.end_ns - max(end, one.start_ns))
        end = max(end, one.end_ns)
    return total


class Collection(Charted, Pictured):
    """The records of several engines on one clock.

    `timeline` has them in the order of their starts, each with its engine and its place. `records` has the
    records alone. `engines` has each engine's report, with the offset of its clock. `phases` has the parts of
    each engine's time: computing, communicating, and waiting in it. `sentences` say what is missing, and how
    reliable the order is.
    """

    def __init__(self, engines: Sequence[EngineReport], host: str) -> None:
        """Bring the reports into one order; `host` is the digest of the collecting machine."""
        self.engines = tuple(engines)
        self.timeline = merge(engines)
        self.phases, self._why_no_waiting = phases(engines)
        self._host = host

    @property
    def records(self) -> Records:
        """The records in order; `records.to_frame()` is a pandas table with each engine's own times."""
        return Records(one.record for one in self.timeline)

    @property
    def partial(self) -> bool:
        """True if an engine is missing, or died after it reported what is here."""
        return any(one.why is not None for one in self.engines)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences that a reader of these figures must know."""
        sentences = [one.why for one in self.engines if one.why is not None]
        sentences += [problem for one in self.engines for problem in one.problems]
        silent = [str(one.engine) for one in self.engines if one.why is None and not one.records]
        if silent:
            sentences.append(
                say_count(
                    "Engine {engines} has no records yet: run `%px %load_ext jupyter_mlgpu`, "
                    "then run cells there.",
                    "Engines {engines} have no records yet: run `%px %load_ext jupyter_mlgpu`, "
                    "then run cells there.",
                    len(silent),
                    engines=", ".join(silent),
                )
            )
        widest = sorted(one.offset.uncertainty_ns for one in self.engines if one.offset and one.records)
        if len(widest) > 1 and widest[-1]:
            sentences.append(
                say(
                    "The order of two engines' records is certain if they start at least {apart} apart.",
                    apart=units.seconds(sum(widest[-2:]) / 1e9),
                )
            )
        if any(one.exchanges for one in self.phases):
            sentences.append(WAITING if self._why_no_waiting is None else self._why_no_waiting)
        return tuple(sentences)

    @property
    def clock(self) -> Sentence:
        """The sentence that says where time 0 is and, if an engine has another clock, how it was compared."""
        estimated = any(one.offset is not None and one.offset != SAME_CLOCK for one in self.engines)
        return ESTIMATED_CLOCKS if estimated else TIME_ZERO

    def here(self, one: EngineReport) -> bool:
        """Return True if an engine runs on the collecting machine."""
        return one.host == self._host

    def save(self, path: str | os.PathLike[str]) -> int:
        """Write a trace for Perfetto (https://ui.perfetto.dev) with one process per engine.

        The path ends in .json or .json.gz. Returns the number of events in the trace. Raises UsageError for
        another path, RecordError if it cannot be written.
        """
        return record_room.renderer().save_trace(self, path)

    def __len__(self) -> int:
        return len(self.timeline)


def _length_ns(record: Record) -> int:
    wall = record.reading("wall_time").value
    return 0 if wall is None else round(wall * 1e9)


def state(one: EngineReport) -> Sentence:
    """Return the state of an engine in a word or two."""
    if one.gone:
        return say("gone")
    return say("collected") if one.why is None else say("no answer")
