"""Forecast the size that would have fitted if a kernel died of memory and its cell had run with smaller ones.

The forecast works like `fits` (explain/memory_forecast.py) on the pairs of size and peak in the flight
record. It compares a line through the peaks of earlier runs with the memory that the process could have had
at the last sample. It says nothing if by that line the cell should have fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from jupyter_mlgpu.explain.exits.exit_cause import ExitCause, fullest_memory
from jupyter_mlgpu.explain.memory_lines import ROOM, Line, at, lines_through, slope
from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.flight.flight_record import FlightRecord, MemorySample, SizeRun, Sizes
from jupyter_mlgpu.record.sentence import Sentence, listed, say


@dataclass(frozen=True, slots=True)
class SizeForecast:
    """A sentence on the size that would have fitted, or the reason why there is none."""

    sentence: Sentence | None = None
    why_not: Sentence | None = None


def size_forecast(flight_record: FlightRecord | None, judgement: ExitCause) -> SizeForecast:
    """Return the size that would have fitted; empty for a kernel that did not die of the machine's memory."""
    if judgement.cause not in ("machine_memory", "container_memory"):
        return SizeForecast()
    cell = None if flight_record is None else flight_record.cell
    if (
        flight_record is None
        or cell is None
        or flight_record.state.sample is None
        or flight_record.at.phase != "running"
    ):
        return SizeForecast(why_not=say("The running cell had not been sampled."))
    if cell.sizes is None:
        return SizeForecast(
            why_not=say("No earlier run of the same code with just one number changed is known.")
        )
    return _forecast(cell.sizes, flight_record.state.sample)


def _forecast(sizes: Sizes, sample: MemorySample) -> SizeForecast:
    runs = _without_later_smaller(sizes.runs)
    known_sizes = sorted({run.size for run in runs})
    if len(known_sizes) < 2:
        return SizeForecast(
            why_not=say(
                "Two sizes are needed, the smaller one run first; found {sizes}.", sizes=listed(known_sizes)
            )
        )
    smallest, largest = known_sizes[0], known_sizes[-1]
    if sizes.size <= largest:
        return SizeForecast(why_not=say("{size} had succeeded before.", size=largest))
    lines = lines_through((run.size, run.peak) for run in runs)
    more = _peak(runs, largest) - _peak(runs, smallest)
    if more <= 0 or slope(lines) <= 0:
        return SizeForecast(
            why_not=say("Its peak memory did not grow over the sizes {sizes}.", sizes=listed(known_sizes))
        )
    used, total, _ = fullest_memory(sample)
    room = ROOM * (sample.process + max(0, total - used))
    if at(lines, sizes.size)[1] <= room:
        return SizeForecast(
            why_not=say(
                "Judging by its earlier runs, {size} should have fit: something else took memory.",
                size=sizes.size,
            )
        )
    return SizeForecast(_sentence(sizes, smallest, largest, more, _fitting(sizes.size, lines, room)))


def _sentence(sizes: Sizes, smallest: int, largest: int, more: float, fitting: int) -> Sentence:
    size = str(largest) if sizes.name is None else f"{sizes.name} = {largest}"
    known = {"size": size, "more": units.size(more), "smaller": str(smallest)}
    if fitting <= largest:
        return say(
            "With {size} it needed {more} more than with {smaller}; {largest} is the largest size that fit.",
            largest=str(largest),
            **known,
        )
    return say(
        "With {size} it needed {more} more than with {smaller}; {fitting} would fit if "
        "memory grows in proportion.",
        fitting=str(fitting),
        **known,
    )


def _without_later_smaller(runs: tuple[SizeRun, ...]) -> list[SizeRun]:
    """Return the runs without those after a larger one, whose memory the process may still have held."""
    largest = accumulate((run.size for run in runs), max)
    return [run for run, most in zip(runs, largest, strict=True) if run.size == most]


def _peak(runs: list[SizeRun], size: int) -> float:
    return median([run.peak for run in runs if run.size == size])


def _fitting(size: int, lines: list[Line], room: float) -> int:
    """Return the largest of 3/4, 1/2, 3/8, 1/4 ... of the size that fits, or 0 if none does."""
    return next((smaller for smaller in _smaller(size) if at(lines, smaller)[2] <= room), 0)


def _smaller(size: int) -> Iterator[int]:
    while size > 1:
        yield size * 3 // 4
        size //= 2
        yield size
