"""The head of a receipt, which is visible when it is closed and in a list of cells.

This is the only module that puts it into words. A receipt in a notebook holds it, and the kernel sends it
with each record, so the browser needs no texts of its own for a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import decoding, units
from jupyter_mlgpu.record.bounds import Said
from jupyter_mlgpu.record.device_request import AUTO, EVERY
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import (
    HOLDS_ONLY,
    NO_WORK_SEEN,
    NOT_COMPUTED,
    PARTIAL_EVIDENCE,
    RanOn,
    Record,
)
from jupyter_mlgpu.record.sentence import Sentence, folded, say, with_commas
from jupyter_mlgpu.show.receipts import figures_in_words, gpu, limits, notes, repeats

#: Labels before the figures of a record that is not from this kernel, or whose cell did not end normally.
_ORIGINS = {"loaded": say("loaded"), "replayed": say("replayed")}
_OUTCOMES = {"error": say("error"), "interrupted": say("interrupted")}

#: Bytes from which growth is worth a look; the system counts a process's memory in batches of up to 2 MiB.
_GREW = 8 * 1024**2

#: The largest number of variables that a head names.
_MOST_NAMES = 3


class HeadData(Struct, frozen=True, kw_only=True):
    """The head as the browser gets it, with `figures` by their names. Empty parts are left out.

    `cause` is what the cell spent its time on in one word, and `kind` that kind of limit, or `importing`.
    """

    label: Said = ""
    figures: Mapping[str, Said]
    doubt: Said = ""
    cause: Said = ""
    kind: str = ""
    messages: tuple[Said, ...] = ()
    folded: bool = False


#: Figures that stay in the narrowest window: the time, and what it was spent on.
ANSWER = ("time", "gpu", "limit")


@dataclass(frozen=True, slots=True)
class Head:
    """The most important figures by their names, in order of importance. `time` is always the first.

    `label` says where the record comes from, how its cell ended and how it was measured. `doubt` says why the
    limit among the figures is not certain, `cause` is the word for the limit of this `kind`. `messages`
    counts the cell's messages that ask for something. In a narrow window a closed receipt hides the last
    figures. One that is `folded` shows only its title, because its cell computed nothing.
    """

    label: str
    named: Mapping[str, str]
    doubt: Sentence | None
    cause: Sentence | None
    kind: str
    messages: tuple[str, ...]
    folded: bool

    @property
    def answer(self) -> list[tuple[str, str]]:
        """The figures that always stay, with their names."""
        return [one for one in self.named.items() if one[0] in ANSWER]

    @property
    def others(self) -> list[str]:
        """Messages and the other figures, which come after the answer."""
        return [*self.messages, *(one for name, one in self.named.items() if name not in ANSWER)]

    @property
    def line(self) -> str:
        """All of it in one line, without the label."""
        return " · ".join([*(one for _, one in self.answer), *self.others])

    def to_json(self) -> dict[str, Any]:
        """Return `HeadData` as JSON-ready data. Sentences are written without their texts."""
        data = HeadData(
            label=self.label,
            figures=self.named,
            doubt=self.doubt or "",
            cause=self.cause or "",
            kind=self.kind,
            messages=self.messages,
            folded=self.folded,
        )
        made: dict[str, Any] = decoding.to_json(data, texts=False)
        return {name: one for name, one in made.items() if one or name == "figures"}


def of(record: Record, cut: Mapping[str, int] | None = None) -> Head:
    """Return the head of a record's receipt. `cut` counts the parts that were left out of it."""
    busy = gpu.busy(record)
    recorded = busy and limits.is_gpu_time(record.limit)  # the limit would repeat the GPU's figure
    figures = {
        "time": repeats.headline(record) or _wall_time(record),
        "gpu": busy,
        "limit": None if recorded else limits.clause(record.limit),
        "lazy": _not_computed(record),
        # Cells without framework operations are the normal case, so nothing is said.
        "where": "" if record.device.ran_on == () else where(record),
        "memory": _memory(record),
    }
    shown = {name: said for name, said in figures.items() if said}
    return Head(
        label(record),
        shown,
        limits.doubt(record.limit) if "limit" in shown else None,
        *limits.cause(record.limit),
        tuple(notes.summary(record, cut)),
        HOLDS_ONLY in record.facts and record.outcome == "ok" and not record.notes and not record.logs,
    )


def label(record: Record) -> str:
    """Return how the cell ended and where the record comes from, as words before the figures. Often empty."""
    profiled = record.mode == "profiled" and not repeats.timing(record)  # with a timing, its time is valid
    warm_up = record.repeat is not None and record.repeat.number == 0
    words = [
        _ORIGINS.get(record.origin),
        _OUTCOMES.get(record.outcome),
        say("profiled") if profiled else None,
        say("results checked") if record.mode == "checked" else None,
        say("warm-up") if warm_up else None,
    ]
    return _listed([one for one in words if one])


def where(record: Record) -> str:
    """Return where the cell's work ran, in a few words, with the requested device if it is another one."""
    requested = record.device.requested
    every = requested.get(EVERY)
    ran_on = record.device.ran_on
    place = _not_known(record) if ran_on is None else _ran_on(ran_on)
    places = record.device.only.items() if ran_on is None else [(one.framework, one.device) for one in ran_on]
    elsewhere = any(
        requested.get(framework, every) not in (None, str(AUTO), device) for framework, device in places
    )
    if elsewhere and place:
        return say("asked for {device}, {place}", device=record.device.asked_for or "", place=place)
    return place


def _wall_time(record: Record) -> str:
    wall = record.reading("wall_time")
    return say("time not measured") if wall.value is None else figures_in_words.figure_text(wall, record)


def _not_computed(record: Record) -> Sentence | str:
    """Return the variables that a lazy framework has not computed yet, in a few words. Often empty."""
    fact = record.facts.get(NOT_COMPUTED)
    if fact is None or not isinstance(fact.value, list) or not fact.value:
        return ""
    names = [say("`{name}`", name=str(name)) for name in fact.value[:_MOST_NAMES]]
    if len(fact.value) > _MOST_NAMES:
        names.append(say("{count} more", count=len(fact.value) - _MOST_NAMES))
    return say(
        "{names} not computed yet ({framework} is lazy)", names=with_commas(names), framework=fact.source
    )


def _memory(record: Record) -> Sentence | str:
    """Return what the cell added to the memory, and the peak of its GPU. Empty if neither is worth a look.

    Records of earlier versions have only the peak of the process.
    """
    growth = record.find("memory_growth")
    if growth is None:
        peak = record.find("peak_memory_process")
        return say("peak memory {memory}", memory=units.figure(peak)) if peak else ""
    on_gpu = [
        one
        for one in record.readings
        if one.quantity == "peak_memory_allocator" and one.value and _is_gpu(one)
    ]
    parts = []
    if (growth.value or 0) >= _GREW:
        parts.append(say("memory +{size}", size=units.figure(growth)))
    if on_gpu:
        most = max(on_gpu, key=lambda one: one.value or 0)
        parts.append(say("GPU memory {size}", size=units.figure(most)))
    return _listed(parts)


def _is_gpu(one: Reading) -> bool:
    return one.device is not None and not one.device.startswith("cpu")


def _ran_on(ran_on: tuple[RanOn, ...]) -> str:
    # Memory that was allocated, existing arrays and the driver's count do not exclude work elsewhere.
    used = [one.device for one in ran_on if one.evidence in PARTIAL_EVIDENCE]
    ran = [_share(one, len(ran_on)) for one in ran_on if one.evidence not in PARTIAL_EVIDENCE]
    if not ran:
        return _used(used) if used else say("no framework operations seen")
    places = say("ran on {devices}", devices=", ".join(ran))
    return _listed([places, _used(used)]) if used else places


def _share(entry: RanOn, devices: int) -> str:
    if devices == 1 or entry.share in (None, 1):  # all that its framework counted
        return entry.device
    return f"{entry.device} {units.percent(entry.share)}"


def _used(devices: list[str]) -> Sentence:
    return say("used {devices}", devices=", ".join(devices))


def _not_known(record: Record) -> str:
    """Return what is known if no framework reports devices: GPUs with recorded work, or the only device."""
    if used := [one.device for one in record.gpu_work if one.launches]:
        return _used(used)
    only = [
        say("{framework}: {device} only", framework=registry.title(name), device=device)
        for name, device in record.device.only.items()
    ]
    if only:
        return _listed(only)
    # Where nothing was computed, no place is missing.
    if record.device.why_missing == NO_WORK_SEEN or NOT_COMPUTED in record.facts:
        return ""
    known = record.device.why_missing and record.versions.keys() & registry.FRAMEWORKS.keys()
    return say("device not known") if known else ""


def _listed(parts: Sequence[Sentence]) -> str:
    return folded(lambda one, other: say("{one}, {other}", one=one, other=other), parts) if parts else ""
