"""Place a cell under the measured roofline of its machine, and judge if the roof is its limit.

The roofline (S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009) allows min(peak,
FLOP per byte x bandwidth). The share of it that a cell reaches is the larger of two: its FLOP/s divided by
the peak (right of the ridge), and its bytes/s divided by the bandwidth (left of it). So neither count has to
be complete: an incomplete count makes a share too small, never too large.

FLOP and bytes come from a profiled run of the same code, times from light runs, never from the profiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import remedies
from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Confidence, Limit, LimitKind
from jupyter_mlgpu.record.reading import Reading, missing, new_reading
from jupyter_mlgpu.record.record import WORKED_IN, Record
from jupyter_mlgpu.record.roofs import MEMORY, Roof, Roofs
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: The share of the roof from which on it limits a cell. From there NVIDIA's Nsight Compute no longer speaks
#: of latency (its rule SOLBottleneck, of the hardware's peak). The roof then explains as large a share of the
#: time.
NEAR = 0.6
#: From this share on nothing else can have taken as much time. Nsight Compute's rule calls it high, too.
VERY_NEAR = 0.8
#: Above this share a figure contradicts its roof: two measurements of one machine differ by a few per cent.
ABOVE = 1.1
#: Samples of a roof that a `sure` answer needs.
_SAMPLES = 3

NOT_HERE = say("Not measured here: run `%mlc_bench --quick`.")
NO_LIGHT_RUN = say("Run the cell once without `--ops` to place it: a profiled run gives no timing.")


@dataclass(frozen=True, slots=True)
class _Work:
    framework: str
    device: str
    number_type: str
    readings: Mapping[str, Reading]

    def amount(self, quantity: str) -> float:
        found = self.readings.get(quantity)
        return float(found.value or 0) if found is not None else 0.0


def with_roof(record: Record, runs: Sequence[Record], read_roofs: Callable[[], Roofs]) -> Record:
    """Return the record with its place under the roof; unchanged if its work is not known.

    `runs` are earlier runs of the same cell. `read_roofs` reads this machine's roofs. It is called
    only if they are needed.
    """
    same = [one for one in runs if _same_code(one, record)]
    # A light run that was placed carries the readings of the profiled run, but did not count them itself.
    counted = (one for one in (record, *reversed(same)) if one.mode == "profiled" and _work(one) is not None)
    profiled = next(counted, None)
    work = None if profiled is None or record.outcome != "ok" else _work(profiled)
    if profiled is None or work is None:
        return record
    light = _light([record] if record.mode == "light" else same)
    seconds = median([one.duration or 0.0 for one in light]) if light else None
    count = len(light)
    found = read_roofs()
    hardware = _hardware(work.framework, work.device)
    machine = record.run.host_digest
    peak, memory = (
        found.find(machine, work.framework, work.device, hardware, type_)
        for type_ in (work.number_type, MEMORY)
    )
    readings = [*work.readings.values()] if profiled is not record else []
    readings += _place("flop", work.amount("flops"), seconds, count, peak)
    large = work.amount("bytes_of_large_calls")
    readings += _place("byte", large, seconds, count, memory)
    if not large and memory is not None:  # the chart of the roof needs the bandwidth for its slope
        readings.append(_reached("peak_byte_rate", memory))
    others = [one for one in record.readings if one.value is not None or one.quantity not in work.readings]
    record = replace(record, readings=(*others, *readings))
    if WORKED_IN not in record.facts:
        record = replace(record, facts={**record.facts, WORKED_IN: profiled.facts[WORKED_IN]})
    if found.problem is not None and peak is None:
        record = record.with_note(found.problem)
    enough = peak is not None and peak.samples >= _SAMPLES
    return _with_limit(record, work, enough and _in_a_row([profiled, *light], same))


def _same_code(one: Record, record: Record) -> bool:
    """Return True if it ran the same code to its end on the same device.

    A `trace` block is known by its name only.
    """
    code = one.cell.source_digest is not None or one.cell.name == record.cell.name
    return (
        code
        and one.outcome == "ok"
        and one.origin == "live"
        and one.device.requested == record.device.requested
    )


def _work(record: Record) -> _Work | None:
    fact = record.facts.get(WORKED_IN)
    value = fact.value if fact is not None else None
    if not isinstance(value, Mapping):
        return None
    named = [str(value.get(name) or "") for name in ("framework", "device", "type")]
    quantities = ("flops", "bytes_moved", "bytes_of_large_calls")
    readings = {name: one for name in quantities if (one := record.find(name)) is not None}
    if named[0] not in registry.FRAMEWORKS or not readings:
        return None
    return _Work(named[0], named[1], named[2], readings)


def _light(same: Sequence[Record]) -> list[Record]:
    """Return the light runs that give the time: without the first of several, which prepares the others."""
    light = [one for one in same if one.mode == "light" and one.duration]
    return light[1:] or light


def _in_a_row(records: Sequence[Record], same: Sequence[Record]) -> bool:
    """Return True if no other code ran since the first of the records: then all of them had the same work."""
    numbers = [one.cell.sequence for one in records]
    mine = {*numbers, *(one.cell.sequence for one in same)}
    return all(number in mine for number in range(min(numbers), max(numbers)))


def _hardware(framework: str, device: str) -> str | None:
    with suppress(Exception):  # a framework that is not there any more
        backend = registry.backend(framework)
        return next((guarded.hardware(backend, one) for one in backend.devices() if one.name == device), None)
    return None


def _place(name: str, amount: float, seconds: float | None, count: int, roof: Roof | None) -> list[Reading]:
    """Return the rate, the roof and the share of the roof, of FLOP or bytes; nothing if the amount is 0."""
    if not amount:
        return []
    rate, peak, share = f"{name}_rate", f"peak_{name}_rate", f"{name}_share"
    if seconds is None:
        return [missing(rate, NO_LIGHT_RUN), *([] if roof else [missing(share, NOT_HERE)])]
    how = (
        say("FLOP from the profiled run, time from light runs")
        if name == "flop"
        else say("bytes from the profiled run, time from light runs")
    )
    readings = [new_reading(rate, amount / seconds, "cell", "clock", count, detail=how)]
    if roof is None:
        return [*readings, missing(share, NOT_HERE)]
    of_roof = say("this rate divided by this machine's roof")
    return [
        *readings,
        _reached(peak, roof),
        new_reading(share, amount / seconds / roof.rate, "cell", "clock", count, detail=of_roof),
    ]


def _reached(quantity: str, roof: Roof) -> Reading:
    how = say("{case}, {version}, {date}", case=roof.case, version=roof.version, date=roof.measured_at[:10])
    on = roof.device
    return new_reading(quantity, roof.rate, "device", "clock", roof.samples, device=on, detail=how)


def _with_limit(record: Record, work: _Work, sure: bool) -> Record:
    shares = {name: one for name in ("flop_share", "byte_share") if (one := record.find(name)) is not None}
    values = {name: one.value or 0.0 for name, one in shares.items()}
    notes = [*_sentences(record, work)]
    above = [name for name, value in values.items() if value > ABOVE]
    if above:
        notes.append(
            say(
                "A rate above the roof is not possible: the benchmark ran on a busy machine, "
                "or data was in caches."
            )
        )
    for note in notes:
        record = record.with_note(note)
    most = max(values, key=lambda name: values[name], default=None)
    if most is None or above or values[most] < NEAR:
        return record
    return replace(record, limit=_limit(record, most, values[most], work, sure), why_no_limit=None)


def _limit(record: Record, most: str, value: float, work: _Work, sure: bool) -> Limit:
    rounded = units.percent(min(value, 1.0))
    kind: LimitKind = "compute" if most == "flop_share" else "bandwidth"
    confidence: Confidence = "likely"
    # Bytes are never sure: the same array may have been counted twice.
    if kind == "compute" and value >= VERY_NEAR and sure:
        confidence = "sure"
    if kind == "compute":
        sentence = say(
            "Computed near this machine's limit: {share} of its own {type} matrix product rate.",
            share=rounded,
            type=work.number_type,
        )
    else:
        sentence = say(
            "Memory traffic near this machine's limit: {share} of its own bandwidth.", share=rounded
        )
    own = [
        one for one in record.readings if one.quantity in (most, f"{most[:4]}_rate", f"peak_{most[:4]}_rate")
    ]
    own.sort(key=lambda one: one.quantity != most)
    before = record.limit.evidence if record.limit is not None else ()
    return Limit(
        kind, confidence, sentence, round(min(value, 1.0), 4), (*own, *before), remedies.remedy(kind, record)
    )


def _sentences(record: Record, work: _Work) -> list[Sentence]:
    """Return sentences such as "41 % of this machine's bfloat16 matrix product rate: 20.1 of 49 GFLOP/s."."""
    product = say("this machine's {type} matrix product rate", type=work.number_type)
    of = {"flop": product, "byte": say("this machine's memory bandwidth")}
    found = []
    for name, roof in of.items():
        rate, peak, share = (
            record.find(one) for one in (f"{name}_rate", f"peak_{name}_rate", f"{name}_share")
        )
        if rate is not None and peak is not None and share is not None and share.value is not None:
            found.append(
                say(
                    "{share} of {roof}: {rate} of {peak}.",
                    share=_percent(share.value),
                    roof=roof,
                    rate=units.figure(rate),
                    peak=units.figure(peak),
                )
            )
    return [joined(*found)] if found else []


def _percent(share: float) -> str:
    if share < 0.001:
        return "under 0.1 %"
    return f"{share * 100:.2g} %" if share < 0.995 else f"{share * 100:.0f} %"
