"""Judge what a lab expects of measurements: it holds, it does not hold, or it cannot be judged.

A measurement that was not taken, or that has too few runs, is not the student's failure. So only an
expectation that the figures contradict is an error; what cannot be judged says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.explain.comparing.compare import too_few
from jupyter_mlgpu.explain.statistics import median, ratio_interval
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.record import PARTIAL_EVIDENCE, Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say, say_count
from jupyter_mlgpu.record.translation import translated

State = Literal["holds", "does not hold", "cannot judge"]


@dataclass(frozen=True, slots=True, repr=False)
class Judgement(Displayable):
    """A result and its sentence, displayed in a language; true if it holds.

    As a condition, a judgement that does not hold or cannot be judged raises AssertionError with its
    sentence: it is never silently false.
    """

    state: State
    sentence: Sentence
    language: str = "en"

    def __bool__(self) -> bool:
        if self.state != "holds":
            raise AssertionError(str(self))
        return True


def required(judgement: Judgement) -> Judgement:
    """Return the judgement itself. Raises AssertionError with its sentence if it does not hold."""
    if judgement.state == "does not hold":
        raise AssertionError(translated(judgement.sentence, judgement.language))
    return judgement


def gpu_used(record: Record) -> Judgement:
    """Judge if work of a record ran on a GPU, by the devices of its operations or by its GPU busy time."""
    name = repr(record.cell.name)
    ran_on = record.device.ran_on
    devices = [one.device for one in ran_on or () if one.device.startswith("gpu")]
    if devices:
        places = ", ".join(dict.fromkeys(devices))
        return Judgement("holds", say("{name} ran on {devices}.", name=name, devices=places))
    for reading in record.readings:
        if reading.quantity == "device_time" and reading.value:
            sentence = say(
                "{name} kept a GPU busy for {time} ({instrument}).",
                name=name,
                time=units.figure(reading),
                instrument=reading.instrument,
            )
            return Judgement("holds", sentence)
    only = record.device.only
    # Memory that a framework allocated, or what is left of it, does not exclude that other work ran
    # elsewhere.
    vague = any(one.evidence in PARTIAL_EVIDENCE for one in ran_on or ())
    if vague or (not only and (ran_on is None or record.device.why_missing is not None)):
        why = joined(record.device.why_missing or say("other operations are not counted."))
        return Judgement(
            "cannot judge", say("It is not known where all of {name} ran: {why}", name=name, why=why)
        )
    possible = [one for one in only.values() if one.startswith("gpu")]
    if possible:
        sentence = say(
            "{name} can only have run on {device}, but whether it did is not known.",
            name=name,
            device=possible[0],
        )
        return Judgement("cannot judge", sentence)
    others = dict.fromkeys([*(one.device for one in ran_on or ()), *only.values()])
    if not others:
        return Judgement("does not hold", say("{name} ran no operation on any device.", name=name))
    asked = record.device.asked_for
    sentence = say("{name} ran on {devices}, not on a GPU.", name=name, devices=", ".join(others))
    hint = say("`%mlc_device list` shows the available devices.")
    if asked:
        hint = say("{device} was requested.", device=asked)
    return Judgement("does not hold", joined(sentence, hint))


def peak_below(records: Sequence[Record], limit: float, quantity: str = "peak_memory_process") -> Judgement:
    """Judge if the median peak of these runs is below `limit` bytes.

    `quantity` is one of the record's memory peaks. Raises UsageError for another quantity.
    """
    memory = [name for name, definition in QUANTITIES.items() if definition.unit == "bytes"]
    if quantity not in memory:
        raise UsageError(f"{quantity!r} is not a memory quantity; choose {', '.join(memory)}.")
    values, why = _values(records, quantity)
    title = joined(units.title(quantity))
    if not values:
        return Judgement("cannot judge", say("{quantity} is not known: {why}", quantity=title, why=why))
    peak = median(values)
    sentence = _of(units.size(peak), values)
    most = units.size(limit)
    if peak < limit:
        holds = say("{quantity}: {peak}, below {limit}.", quantity=title, peak=sentence, limit=most)
        return Judgement("holds", holds)
    not_below = say("{quantity}: {peak}, not below {limit}.", quantity=title, peak=sentence, limit=most)
    return Judgement("does not hold", not_below)


def faster_than(fast: Sequence[Record], slow: Sequence[Record], times: float = 1.0) -> Judgement:
    """Judge if `fast` takes less wall time than `slow`, at least `times` times less.

    It holds, or does not hold, if the whole 95 % interval of the ratio says so; otherwise it cannot be
    judged. Only successful light runs count, because a profiled run has no timing.
    """
    if not times > 0:
        raise UsageError(f"`times` is how many times as fast, above 0; found {times!r}.")
    sides = [_values([one for one in side if one.mode == "light"], "wall_time") for side in (fast, slow)]
    for (values, why), side in zip(sides, (fast, slow), strict=True):
        if not values:
            name = repr(side[-1].cell.name) if side else say("one side")
            return Judgement("cannot judge", say("{name} has no timing: {why}", name=name, why=why))
    (quick, _), (long, _) = sides
    sentence = say("{fast} versus {slow}", fast=_time(quick), slow=_time(long))
    if min(*quick, *long) <= 0:
        return Judgement("cannot judge", say("{times}: a time of 0 cannot be compared.", times=sentence))
    found = ratio_interval(quick, long)
    if found is None:
        few = joined(too_few(len(quick), len(long)))
        return Judgement("cannot judge", say("{times}: {why}.", times=sentence, why=few))
    sentence = say(
        "{times}: {ratio} times as fast, 95 % interval {low} to {high}",
        times=sentence,
        ratio=f"{found.value:.3g}",
        low=f"{found.low:.3g}",
        high=f"{found.high:.3g}",
    )
    if found.low > times:
        return Judgement("holds", say("{found}.", found=sentence))
    wanted = say("faster") if times == 1 else say("{times} times as fast", times=f"{times:g}")
    if found.high < times:
        return Judgement("does not hold", say("{found}, so not {wanted}.", found=sentence, wanted=wanted))
    left_open = say(
        "{found}; whether it is {wanted} is not certain. More runs would help.", found=sentence, wanted=wanted
    )
    return Judgement("cannot judge", left_open)


def _values(records: Sequence[Record], quantity: str) -> tuple[list[float], Sentence]:
    """Return the values of successful runs (the largest of several devices), and why there are none."""
    values = []
    why = say("no run succeeded with tracing on.") if records else say("there are no runs.")
    for record in records:
        readings = [one for one in record.readings if one.quantity == quantity]
        known = [one.value for one in readings if one.value is not None]
        if record.outcome != "ok":
            continue
        if known:
            values.append(max(known))
        else:
            reasons = (joined(one.why_missing) for one in readings if one.why_missing)
            why = next(reasons, say("it was not measured."))
    return values, why


def _time(walls: Sequence[float]) -> Sentence:
    return _of(units.seconds(median(walls)), walls)


def _of(figure: str, values: Sequence[float]) -> Sentence:
    """Return a median with the number of its values."""
    return say_count("{figure} (1 run)", "{figure} (median of {count} runs)", len(values), figure=figure)
