"""The runs of a cell that repeats, in the receipt of its last run. Their times are its timing.

The first run warms up, and the last one is profiled. Neither is a timing.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, say, say_count


def timing(record: Record) -> list[float]:
    """Return the seconds of the timed runs, from the record of the run after them.

    Empty for other records.
    """
    if record.repeat is None or record.repeat.number <= record.repeat.of:
        return []
    return [wall for wall in record.repeat.walls[1:] if wall is not None]


def headline(record: Record) -> str:
    """Return the receipt's first time, `1.2 s, median of 5 runs`, or an empty text without timed runs."""
    walls = timing(record)
    if not walls:
        return ""
    return say_count(
        "{median}, {count} run",
        "{median}, median of {count} runs",
        len(walls),
        median=units.seconds(median(walls)),
    )


def strip(record: Record) -> list[str]:
    """Return the times of the runs, as a line of figures and a sentence. Empty for a cell that ran once."""
    if record.repeat is None or not record.repeat.walls:
        return []
    warm_up, *timed = map(_seconds, record.repeat.walls)
    figures = say("warm-up {warm_up}", warm_up=warm_up)
    if timed:
        figures = say("warm-up {warm_up} · runs {times}", warm_up=warm_up, times=" | ".join(timed))
    walls = timing(record)
    if not walls:
        return [figures]
    rest = say("Everything else here is from one more run, which could not be profiled: a note says why.")
    if record.mode == "profiled":
        rest = say("Everything else here is from one more run, with the profiler on.")
    spread = say_count(
        "Timing, one light run: {median}.",
        "Timing, median of {count} light runs: {median} ({low} to {high}).",
        len(walls),
        median=units.seconds(median(walls)),
        low=units.seconds(min(walls)),
        high=units.seconds(max(walls)),
    )
    return [figures, joined(spread, say("Each run found what the previous run left behind."), rest)]


def _seconds(wall: float | None) -> str:
    return say("not measured") if wall is None else units.seconds(wall)
