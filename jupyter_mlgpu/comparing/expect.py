"""What a lab expects of measurements, judged: it holds, it does not hold, or that cannot be judged.

A measurement that was not taken, or that too few runs carry, is no failure of a student's. So only what the
figures show not to hold is an error; what cannot be judged says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.comparing.compare import too_few
from jupyter_mlgpu.errors import UsageError
from jupyter_mlgpu.markup import element
from jupyter_mlgpu.record import QUANTITIES, Record
from jupyter_mlgpu.render import words
from jupyter_mlgpu.statistics import median, ratio_interval

State = Literal["holds", "does not hold", "cannot judge"]

_MARKS = {"holds": "✓", "does not hold": "✗", "cannot judge": "○"}


@dataclass(frozen=True, slots=True)
class Judgement:
    """An outcome and the sentence for it; true where it holds.

    As a condition, one that does not hold or cannot be judged raises AssertionError with its sentence: it is
    neither true nor silently false.
    """

    state: State
    sentence: str

    def __bool__(self) -> bool:
        if self.state != "holds":
            raise AssertionError(str(self))
        return True

    def __repr__(self) -> str:
        return f"{_MARKS[self.state]} {self.state}: {self.sentence}"

    def _repr_html_(self) -> str:
        return str(element("div", repr(self)))


def required(judgement: Judgement) -> Judgement:
    """The judgement itself; raises AssertionError with its sentence where it does not hold."""
    if judgement.state == "does not hold":
        raise AssertionError(judgement.sentence)
    return judgement


def gpu_used(record: Record) -> Judgement:
    """Whether work of a record ran on a GPU: by where its operations ran, or by kernels a profiler saw."""
    name = record.cell.name
    ran_on = record.device.ran_on
    devices = [one.device for one in ran_on or () if one.device.startswith("gpu")]
    if devices:
        return Judgement("holds", f"{name!r} ran on {', '.join(dict.fromkeys(devices))}.")
    for reading in record.readings:
        if reading.quantity == "device_time" and reading.value:
            return Judgement(
                "holds", f"{name!r} kept a GPU busy for {words.figure(reading)} ({reading.instrument})."
            )
    only = record.device.only
    # What a framework gave out memory for, or what is left of it, says nothing of what else ran elsewhere.
    vague = any(one.evidence in ("allocator", "results") for one in ran_on or ())
    if vague or (not only and (ran_on is None or record.device.why_missing is not None)):
        why = record.device.why_missing or "what else ran is not counted."
        return Judgement("cannot judge", f"It is not known where all of {name!r} ran: {why}")
    possible = [one for one in only.values() if one.startswith("gpu")]
    if possible:
        return Judgement(
            "cannot judge", f"{name!r} can have run on {possible[0]} alone, but whether it did is not known."
        )
    places = dict.fromkeys([*(one.device for one in ran_on or ()), *only.values()])
    if not places:
        return Judgement("does not hold", f"{name!r} ran no operation on any device.")
    asked = record.device.asked_for
    hint = f"{asked} was asked for." if asked else "`%mlc_device list` shows the devices there are."
    return Judgement("does not hold", f"{name!r} ran on {', '.join(places)}, and on no GPU. {hint}")


def peak_below(records: Sequence[Record], limit: float, quantity: str = "peak_memory_process") -> Judgement:
    """Whether the median peak of these runs is below `limit` bytes, by one of the record's memory peaks."""
    if QUANTITIES.get(quantity) != "bytes":
        known = ", ".join(name for name, unit in QUANTITIES.items() if unit == "bytes")
        raise UsageError(f"{quantity!r} is no memory; choose {known}.")
    values, why = _values(records, quantity)
    title = words.title(quantity)
    if not values:
        return Judgement("cannot judge", f"{title} is not known: {why}")
    peak = median(values)
    told = f"{title} {words.size(peak)}{_of(values)}"
    if peak < limit:
        return Judgement("holds", f"{told}, below {words.size(limit)}.")
    return Judgement("does not hold", f"{told}, not below {words.size(limit)}.")


def faster_than(fast: Sequence[Record], slow: Sequence[Record], times: float = 1.0) -> Judgement:
    """Whether `fast` takes less wall time than `slow`, at least `times` times less.

    It holds, or does not, where the whole 95 % interval of the ratio says so; else it cannot be judged. Only
    light runs that ended well count: with a profiler on there is no timing.
    """
    if not times > 0:
        raise UsageError(f"`times` is how many times as fast, above 0; found {times!r}.")
    sides = [_values([one for one in side if one.mode == "light"], "wall_time") for side in (fast, slow)]
    for (values, why), side in zip(sides, (fast, slow), strict=True):
        if not values:
            name = side[-1].cell.name if side else "one side"
            return Judgement("cannot judge", f"{name!r} has no timing: {why}")
    (quick, _), (long, _) = sides
    told = f"{words.seconds(median(quick))}{_of(quick)} beside {words.seconds(median(long))}{_of(long)}"
    if min(*quick, *long) <= 0:
        return Judgement("cannot judge", f"{told}: a time of 0 is no time.")
    found = ratio_interval(quick, long)
    if found is None:
        return Judgement("cannot judge", f"{told}: {too_few(len(quick), len(long))}.")
    told = f"{told}: {found.value:.3g} times as fast, 95 % interval {found.low:.3g} to {found.high:.3g}"
    wanted = "faster" if times == 1 else f"{times:g} times as fast"
    if found.low > times:
        return Judgement("holds", f"{told}.")
    if found.high < times:
        return Judgement("does not hold", f"{told}, so not {wanted}.")
    return Judgement(
        "cannot judge", f"{told}, which leaves open whether it is {wanted}; more runs would help."
    )


def _values(records: Sequence[Record], quantity: str) -> tuple[list[float], str]:
    """The values of runs that ended well, and why there are none; of several devices, the largest."""
    values = []
    why = "no run of it ended well with tracing on." if records else "there is no run of it."
    for record in records:
        readings = [one for one in record.readings if one.quantity == quantity]
        known = [one.value for one in readings if one.value is not None]
        if record.outcome != "ok":
            continue
        if known:
            values.append(max(known))
        else:
            why = next((one.why_missing for one in readings if one.why_missing), "it was not measured.")
    return values, why


def _of(values: Sequence[float]) -> str:
    return f" (median of {len(values)} runs)" if len(values) > 1 else " (1 run)"
