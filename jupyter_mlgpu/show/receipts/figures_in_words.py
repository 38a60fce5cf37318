"""Texts for figures and devices, common to the receipt, the tables and the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn, Record
from jupyter_mlgpu.record.sentence import Sentence, folded, say, say_count, with_commas
from jupyter_mlgpu.show.receipts import gpu, limits, notes

# Words in facts' names that are not written in lower case.
_WRITTEN = {
    "cpu": "CPU",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "gpu": "GPU",
    "gpus": "GPUs",
    "metal": "Metal",
    "mps": "MPS",
    "numa": "NUMA",
    "xla": "XLA",
}

#: Explanations of the evidence that a device worked for the cell.
_EVIDENCE: Mapping[str | None, Sentence] = {
    "counted": say("some of its operations were counted"),
    "only device": say("there is no other device"),
    "allocator": say("its allocator gave out memory; more may have run elsewhere"),
    "results": say("arrays that the cell made are there; more may have run elsewhere"),
    "driver": say("the driver counted GPU time for this process; more may have run elsewhere"),
    "values": say("the values that the cell names are there; more may have run elsewhere"),
    "default device": say("it was the framework's default device; more may have run elsewhere"),
}

#: Names for people of a record's parts.
_PARTS: Mapping[str, Sentence] = {
    "gpu_work": say("GPUs"),
    "ops": say("operations"),
    "evidence": say("readings behind the limit"),
    "lines": say("lines of code"),
    "readings": say("readings"),
    "facts": say("facts"),
    "notes": say("notes"),
}


def figure_text(reading: Reading, record: Record) -> str:
    """Return a reading as `figure` does, with a remark if the profiler made it longer."""
    text = units.figure(reading)
    return say("{time}, with the profiler on", time=text) if is_slowed(reading, record) else text


def is_slowed(reading: Reading, record: Record) -> bool:
    """Return True if a reading is a time in a profiled cell, and therefore not a timing."""
    return (
        record.mode == "profiled"
        and reading.quantity in ("wall_time", "cpu_time")
        and reading.value is not None
    )


def places(record: Record) -> list[str]:
    """Return one sentence per device where the cell ran: its operations, or other evidence."""
    return [
        *map(_place, record.device.ran_on or ()),
        *_busy(record),
        *gpu.around(record),
        *filter(None, [record.device.why_missing]),
    ]


def _place(entry: RanOn) -> Sentence:
    place = f"{entry.device} ({registry.title(entry.framework)}, {entry.kind})"
    if entry.operations is not None:
        counted = say_count("{count} operation", "{count} operations", entry.operations)
        if entry.share in (None, 1):
            return say("{place}: {counted}", place=place, counted=counted)
        share = units.percent(entry.share or 0.0)
        return say("{place}: {counted}, {share}", place=place, counted=counted, share=share)
    why = entry.why_missing or say("operations not counted")
    known = _EVIDENCE.get(entry.evidence)
    if known is None:
        return say("{place}: {why}", place=place, why=why)
    return say("{place}: {known} · {why}", place=place, known=known, why=why)


def _busy(record: Record) -> list[Sentence]:
    """Return the part of a profiled cell that each GPU was busy."""
    idle = [one for one in record.readings if one.quantity == "device_idle"]
    return [
        say("{device} busy {share} of the profiled cell", device=one.device, share=_percent(1 - one.value))
        for one in idle
        if one.value is not None and one.device is not None and record.mode == "profiled"
    ]


def _percent(share: float) -> str:
    if share < 0.001:  # not 0, because only devices that worked have this reading
        return say("under {share}", share="0.1 %")
    return f"{share * 100:.0f} %" if 0.01 <= share <= 0.99 else f"{share * 100:.1f} %"


def missing(record: Record) -> list[str]:
    """Return what was not measured, one line per reason."""
    reasons: dict[str, list[str]] = {}
    for reading in record.readings:
        if reading.why_missing is not None:
            reasons.setdefault(reading.why_missing, []).append(units.title(reading.quantity))
    return [
        say(
            "{quantities}: {why}",
            quantities=folded(lambda one, other: say("{one}; {other}", one=one, other=other), titles),
            why=why,
        )
        for why, titles in reasons.items()
    ]


def not_measured(record: Record) -> str:
    """Return the title of the reasons: `Not measured (4)`."""
    count = sum(one.value is None for one in record.readings) + len(limits.why_not(record))
    return say("Not measured ({count})", count=count)


def left_out(cut: Mapping[str, int] | None) -> list[str]:
    """Return the parts that did not fit into a receipt, counted and named. Empty if all did."""
    parts = [
        say("{count} of its {parts}", count=count, parts=_part(part))
        for part, count in sorted((cut or {}).items())
        if part != "text/html"
    ]
    if not parts:
        return []
    return [
        say(
            "Left out of this receipt for its size: {parts}; the saved records have them.",
            parts=with_commas(parts),
        )
    ]


def fact_title(name: str) -> str:
    """Return a fact's name for people: `gpu_name` becomes `GPU name`."""
    return " ".join(_WRITTEN.get(word, word) for word in name.split("_"))


def fact_value(value: Any) -> str:
    """Return a fact's value as text on one line, also for a list or a table."""
    if isinstance(value, Mapping):  # sorted as in a notebook's file
        return ", ".join(f"{name}: {one}" for name, one in sorted(value.items()))
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _part(part: str) -> str:
    # Log lines are counted by verdict, because that determines if a reader wants to see them.
    verdict = part.removeprefix(notes.CUT)
    if verdict == part:
        return _PARTS.get(part, part)
    return say("messages ({verdict})", verdict=notes.VERDICTS.get(verdict, verdict).lower())
