"""Records and their profiles as one timeline: cells, blocks inside them, operations and counters.

All items use one clock. Each run (a kernel process) is a process of the timeline, and its cells are placed by
that process's monotonic clock. An operation has the same distance from its cell's start as on the profiler's
clock: the profiler's clock (UTC) and the monotonic one are read one after the other when the cell begins,
microseconds apart unless the machine suspends the thread in between. The profiler converts times of kernels
to the host's clock, to within some microseconds. Runs are placed by UTC, which was read some milliseconds
before their first cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.instruments import Instruments
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record

CLOCK = (
    "Time 0 is the start of the first cell. Cells are placed by their kernel's monotonic clock; operations "
    "by their distance from their cell's start on the profiler's clock (both are read when the cell begins, "
    "microseconds apart; a GPU's times are as exact as the profiler's match of both, some microseconds). "
    "Several runs are placed by UTC, to some milliseconds. Live counters were sampled while a browser "
    "showed them, on the kernel's monotonic clock: a step lasts until the next sample, also between two "
    "cells, where it means nothing."
)

GONE = "The events of this profiled cell are no longer kept: its table of operations is in its record."

#: A profile's first track. The tracks below it are for lanes of cells.
_FIRST_TRACK = 100

Find = Callable[[tuple[str, int]], Sequence[Profile]]
#: Returns the live counters' samples of the cell with this key (`measure/probes/counter_samples.py`).
FindCounterSamples = Callable[[tuple[str, int]], Mapping[str, Any] | None]


def _no_samples(key: tuple[str, int]) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Item:
    """One item on the timeline, with times in nanoseconds from its beginning.

    `kind` is slice (has a duration), instant, counter (its value is in `args`), or name (of the process, or
    of the track if `track` is not 0). Slices of one track overlap only if one contains the other.
    """

    kind: str
    name: str
    process: int
    track: int
    start_ns: int = 0
    duration_ns: int = 0
    category: str = ""
    args: dict[str, Any] | None = None


class _Lanes:
    """Assigns tracks to slices.

    Slices that overlap, without one containing the other, get different tracks.
    """

    def __init__(self) -> None:
        self._open: list[list[tuple[int, int]]] = []

    def place(self, start: int, end: int) -> int:
        """Return the lane for a slice. Slices must come in the order of their starts, the longest first."""
        for number, stack in enumerate(self._open):
            while stack and stack[-1][1] <= start:
                stack.pop()
            if not stack or (stack[-1][0] <= start and end <= stack[-1][1]):
                stack.append((start, end))
                return number
        self._open.append([(start, end)])
        return len(self._open) - 1


def left_out(
    records: Sequence[Record], profiles: Find, samples: FindCounterSamples = _no_samples
) -> list[str]:
    """Return one sentence for each part of the records that the timeline lacks."""
    sentences = []
    for record in records:
        cell = f"Cell {cellnumbers.name(record)}"
        if record.mode == "profiled" and record.ops and not profiles(record.key):
            sentences.append(f"{cell}: {GONE}")
        for one in profiles(record.key):
            if one.left_out:
                sentences.append(
                    f"{cell}: {one.left_out:,} events of {one.profiler} are left out ({one.why_left_out})."
                )
        if record.reading("wall_time").value is None:
            sentences.append(f"{cell} has no measured time and is shown as a moment.")
        found = samples(record.key)
        if found and (first := found["samples"][0][0]) > 2 * found["interval"]:
            sentences.append(
                f"{cell}: its live counters begin {first:.1f} s after its start. Before that no browser "
                "showed them, or the cell is longer than the time for which samples are kept."
            )
    return sentences


def items(
    records: Sequence[Record],
    profiles: Find,
    samples: FindCounterSamples = _no_samples,
    *,
    clocks: Mapping[str, int] | None = None,
) -> Iterator[Item]:
    """Yield the items of the timeline. `profiles` returns the kept profiles for a record's key.

    `clocks` gives for each run id the offset, in nanoseconds, from its monotonic clock to a clock that all
    runs share. Without it the runs are placed by UTC.
    """
    placed = start_times(records, clocks)
    first = min(placed.values(), default=0)
    starts = {key: start - first for key, start in placed.items()}
    runs: dict[str, list[Record]] = {}
    for record in records:
        runs.setdefault(record.run.id, []).append(record)
    for number, (run, of_run) in enumerate(runs.items(), start=1):
        notebook = of_run[0].run.notebook
        engine = of_run[0].run.engine
        name = f"engine {engine}, " if engine is not None else ""
        name += f"kernel {run[:8]}" + (f", {notebook}" if notebook else "")
        yield Item("name", name, number, 0)
        yield from _cells(number, of_run, starts)
        yield from _counters(number, of_run, starts, samples)
        yield from _operations(number, of_run, starts, profiles)


def start_times(
    records: Sequence[Record], clocks: Mapping[str, int] | None = None
) -> dict[tuple[str, int], int]:
    """Return the start of each record by its key, in nanoseconds since 1970 or on the clock that runs share.

    `clocks` as in `items`.
    """
    offsets = dict(clocks or {})
    for record in records:
        if record.run.id not in offsets:
            offsets[record.run.id] = _utc_ns(record.started_at) - record.started_monotonic_ns
    return {record.key: record.started_monotonic_ns + offsets[record.run.id] for record in records}


def _utc_ns(moment: str) -> int:
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:  # a foreign file: its run is then placed in 1970, and is not lost
        return 0
    return round(found.timestamp() * 1e6) * 1000


def _cells(process: int, records: Sequence[Record], starts: dict[tuple[str, int], int]) -> Iterator[Item]:
    lanes = _Lanes()
    named: set[int] = set()
    timed = []
    instruments = {name: Instruments(records, name) for name in ("memory_process", "memory_allocator")}
    for record in records:
        wall = record.reading("wall_time").value
        start = starts[record.key]
        timed.append((start, start + (0 if wall is None else round(wall * 1e9)), record))
    for start, end, record in sorted(timed, key=lambda one: (one[0], -one[1])):
        track = 1 + lanes.place(start, end)
        if track not in named:
            named.add(track)
            yield Item("name", "cells" if track == 1 else f"cells at the same time {track}", process, track)
        kind = "slice" if record.reading("wall_time").value is not None else "instant"
        # A block of a script (a trace, an epoch of fit) has a name but no code.
        category = "cell" if record.cell.source_digest is not None else "block"
        name = f"{cellnumbers.name(record)} {record.cell.name}"
        yield Item(kind, name, process, track, start, end - start, category, _about(record))
        for quantity, of_quantity in instruments.items():
            for instrument, value in of_quantity.values(record).items():
                counter = f"{quantity} when a cell had ended, {instrument}"
                yield Item("counter", counter, process, 0, end, args={"bytes": value})


def _counters(
    process: int, records: Sequence[Record], starts: dict[tuple[str, int], int], samples: FindCounterSamples
) -> Iterator[Item]:
    for record in records:
        found = samples(record.key)
        if found is None:
            continue
        named = [
            (f"{one['device']} {one['quantity']}, {one['source']}", one["unit"]) for one in found["series"]
        ]
        for at, values in found["samples"]:
            moment = starts[record.key] + round(at * 1e9)
            for (name, unit), value in zip(named, values, strict=True):
                if value is not None:
                    yield Item(
                        "counter", name, process, 0, moment, category="live counter", args={unit: value}
                    )


def _operations(
    process: int, records: Sequence[Record], starts: dict[tuple[str, int], int], profiles: Find
) -> Iterator[Item]:
    lanes: dict[tuple[str, str, str, str], _Lanes] = {}
    tracks: dict[tuple[tuple[str, str, str, str], int], int] = {}
    for record in records:
        kept = profiles(record.key)
        if not kept and record.mode == "profiled" and record.ops:
            yield Item("instant", GONE, process, 1, starts[record.key], category="left out")
        for profile in kept:
            if profile.left_out:
                message = f"{profile.left_out:,} events left out: {profile.why_left_out}"
                yield Item("instant", message, process, 1, starts[record.key], category="left out")
            moved = starts[record.key] - profile.start_ns
            # Of events that begin together the longest contains the others. The sort is stable: of equal
            # events the first contains the others.
            ordered = sorted(profile.events, key=attrgetter("duration_ns"), reverse=True)
            for event in sorted(ordered, key=attrgetter("start_ns")):
                line = (profile.framework, event.plane, event.device, event.line)
                start = event.start_ns + moved
                lane = lanes.setdefault(line, _Lanes()).place(start, start + event.duration_ns)
                if (line, lane) not in tracks:
                    tracks[line, lane] = _FIRST_TRACK + len(tracks)
                    yield Item("name", _track(line, lane), process, tracks[line, lane])
                yield _operation(event, profile, record, process, tracks[line, lane], start)


def _operation(
    event: Event, profile: Profile, record: Record, process: int, track: int, start_ns: int
) -> Item:
    known = {"type": event.type, "shapes": event.shapes, "bytes": event.bytes, "flop": event.flops}
    args = {name: value for name, value in known.items() if value is not None}
    category = f"{profile.framework} {event.plane}"
    return Item(
        "slice",
        event.name,
        process,
        track,
        start_ns,
        event.duration_ns,
        category,
        {"cell": cellnumbers.name(record), **args},
    )


def _track(line: tuple[str, str, str, str], lane: int) -> str:
    framework, plane, device, name = line
    where = name if plane == "host" else f"{device} {name}"
    return f"{framework} {where}" + (f", overlapping {lane + 1}" if lane else "")


def _about(record: Record) -> dict[str, Any]:
    ran_on = record.device.ran_on
    where = record.device.why_missing if ran_on is None else ", ".join(one.device for one in ran_on)
    return {
        "cell": cellnumbers.name(record),
        "outcome": record.outcome,
        "mode": record.mode,
        "asynchronous": record.asynchronous,
        "timing": record.mode == "light",
        "asked for": record.device.asked_for or None,
        "ran on": where,
        **{one.quantity: _said(one, record) for one in record.readings},
        **{f"{work.device} work": _work(work) for work in record.gpu_work},
        **({"notes": " ".join(record.notes)} if record.notes else {}),
    }


def _work(work: GpuWork) -> str:
    """Return `5,800 launches, 6 copies host-to-device of 68.7 MiB, longest gemm (377 ms)`."""
    copies = [f"{one.count:,} copies {one.direction} of {units.size(one.bytes)}" for one in work.copies]
    longest = [f"longest {one.name} ({units.seconds(one.seconds)})" for one in work.kernels[:1]]
    return ", ".join([f"{work.launches:,} launches", *copies, *longest])


def _said(reading: Reading, record: Record) -> str:
    if reading.value is None:
        return f"not measured: {reading.why_missing}"
    slowed = record.mode == "profiled" and reading.quantity in ("wall_time", "cpu_time")
    return (
        f"{reading.value!r} {reading.unit} ({reading.instrument}{', with a profiler on' if slowed else ''})"
    )
