"""The receipt as Jupyter stores it: our own type for the sidebar's view, HTML and plain text beside it.

A notebook file holds many receipts, so their size is bounded: 4 kB for a plain cell, 8 kB with notes or
with what limits the cell, which stand in a receipt three times, 64 kB with log lines or for a profiled one;
and up to 24 kB more for a strip, which is data once and a picture once: 3 to 7 kB as a rule.
What does not fit is left out, counted and named in the record's `cut`; of the log lines those that matter
least go first, and they are counted by verdict; of the readings behind a limit and of the lines of code the
lightest. What a sentence says stands in the HTML and the plain text; the record has what it is made of, or
where that does not fit the English text alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from jupyter_mlgpu.record import decoding, language, sentence
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.quantities import ROOFLINE
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import WORKED_IN, LogLine, Record
from jupyter_mlgpu.show.receipts import cutting, head, html, notes, page, text

MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"
PLAIN_LIMIT = 4_096
NOTED_LIMIT = 8_192
FULL_LIMIT = 65_536
STRIP_BYTES = 24_576

# How deep an output's data stands in a notebook file: notebook, cells, cell, outputs, output.
_DEPTH = 5

# The log lines stand in a list in the record, which is the bundle's item.
_LINE_DEPTH = _DEPTH + 3

#: Characters of one log line, and of its explanation, that a receipt holds.
_LINE_LIMIT = 2_000
_FIELD_LIMIT = 200

# Memory when the cell had ended: only a comparison of several runs needs it. The kernel's records have it,
# and the saved ones.
_OF_SEVERAL_RUNS = ("memory_process", "memory_allocator")

# What a cell's place under the roof is made of: a receipt has the place, and of a profiled cell these too.
_OF_THE_ROOF = ("flops", "bytes_moved", "bytes_of_large_calls", "peak_flop_rate", "peak_byte_rate")

# A machine may have eight GPUs: a plain receipt has the readings of the one that did most, others of two.
_OF_SEVERAL_DEVICES = ("device_time", "peak_memory_device", "energy")

# Readings behind a limit, and lines of code, that a receipt holds of either; of both together so many stay
# before its sentences are in English alone.
_MOST, _LEAST = 10, 6
# Bytes that one of them takes.
_ITEM = 450

#: Makes the bundle of a record, from which so much was cut.
Make = Callable[[Record, Mapping[str, int]], dict[str, Any]]


def bundle(record: Record, cut_before: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The MIME bundle of a receipt, within the limit for what the record holds.

    `cut_before` is the `cut` of the saved receipt that the record was read from: what that has left out is
    told all the same. HTML and plain text are in the language that the kernel speaks; the record itself is in
    English.
    """
    make: Make = _make
    full = record.logs or record.ops or record.repeat or record.mode == "profiled"
    noted = record.notes or record.limit or record.lines or record.gpu_work
    limit = FULL_LIMIT if full else NOTED_LIMIT if noted else PLAIN_LIMIT
    plain = limit == PLAIN_LIMIT
    if record.host_lane is not None or any(one.lane is not None for one in record.gpu_work):
        limit += STRIP_BYTES
    if record.mode == "light" and WORKED_IN in record.facts:
        record = replace(record, facts={key: one for key, one in record.facts.items() if key != WORKED_IN})
    left = _left_to_the_record(record)
    whole = tuple(one for one in record.readings if one.quantity not in left)
    readings = _few_devices(whole, 1 if plain else 2)
    work, left_out = _busiest(record)
    omitted = {"readings": len(whole) - len(readings), "gpu_work": left_out}
    record = replace(record, logs=tuple(map(_shortened, record.logs)), readings=readings, gpu_work=work)
    cut = cutting.added(cut_before or {}, {part: count for part, count in omitted.items() if count})
    record, cut = _fewer(record, 2 * _MOST, cut)
    made = make(record, cut)
    if _bytes(made) <= limit:
        return made
    if not full:
        record, cut, made = _fitting(record, cut, made, limit, make, least=_LEAST)
        if _bytes(made) > limit:
            # First its sentences are left in English alone, which is shorter; beside logs they take no room.
            record = decoding.decode(Record, sentence.only_texts(record.to_json()), "the record")
            made = make(record, cut)
        if _bytes(made) > limit:
            # The plain text has the head's, too.
            make = partial(_make, holds_head=False)
            record, cut, made = _fitting(record, cut, make(record, cut), limit, make, least=0)
    if record.logs:
        record, of_logs = _cut_logs(record, limit, make)
        cut = cutting.added(cut, of_logs)
        made = make(record, cut)
    while _bytes(made) > limit:
        part = next((part for part in cutting.ORDER if getattr(record, part)), None)
        if part is None:
            # The plain text says the same in few words, and every viewer falls back to it.
            cut["text/html"] = 1
            made = make(record, cut)
            break
        record, of_part = cutting.halved(record, part)
        cut = cutting.added(cut, of_part)
        made = make(record, cut)
    return made


def _left_to_the_record(record: Record) -> set[str]:
    """Quantities of which the record has readings, and its receipt has none."""
    of_the_roof = _OF_THE_ROOF if record.mode == "light" else ()
    # What a limit rests on stands with it.
    behind = (
        [one.quantity for one in record.limit.evidence] if record.limit and record.mode == "light" else []
    )
    return {*_OF_SEVERAL_RUNS, *of_the_roof, *(one for one in behind if one in ROOFLINE)}


def _fitting(
    record: Record, cut: dict[str, int], made: dict[str, Any], limit: int, make: Make, *, least: int
) -> tuple[Record, dict[str, int], dict[str, Any]]:
    """The record, its cut and its bundle with fewer readings behind its limit and fewer lines of code.

    As many as fit, about, and `least` where even that is too much: a bundle takes its time to make.
    """
    count = len(record.lines) + (len(record.limit.evidence) if record.limit else 0)
    while count > least and (over := _bytes(made) - limit) > 0:
        count = max(least, count - 1 - over // _ITEM)
        record, cut = _fewer(record, count, cut)
        made = make(record, cut)
    return record, cut, made


def _fewer(record: Record, count: int, cut: Mapping[str, int]) -> tuple[Record, dict[str, int]]:
    """The record with `count` of those at most, the weightiest of either, and what is left out of it then."""
    behind = record.limit.evidence if record.limit else ()
    lines = min(len(record.lines), _MOST, max(count // 2, count - len(behind)))
    evidence = min(len(behind), _MOST, count - lines)
    left_out = {"evidence": len(behind) - evidence, "lines": len(record.lines) - lines}
    if not any(left_out.values()):
        return record, dict(cut)
    limit = record.limit and replace(record.limit, evidence=behind[:evidence])
    counts = {part: count for part, count in left_out.items() if count}
    return replace(record, limit=limit, lines=record.lines[:lines]), cutting.added(cut, counts)


def _few_devices(readings: Sequence[Reading], most: int) -> tuple[Reading, ...]:
    """The readings, but of a quantity that each GPU has only the `most` largest.

    Of the time that GPUs were busy two: a receipt's head names the busiest where it is not the only one.
    """
    kept: dict[str, list[Reading]] = {}
    for quantity in _OF_SEVERAL_DEVICES:
        of_devices = [one for one in readings if one.quantity == quantity and one.scope == "device"]
        of_devices.sort(key=lambda one: one.value or 0.0, reverse=True)
        kept[quantity] = of_devices[: max(most, 2 if quantity == "device_time" else 0)]
    return tuple(one for one in readings if one.scope != "device" or one in kept.get(one.quantity, (one,)))


def _busiest(record: Record) -> tuple[tuple[GpuWork, ...], int]:
    """The work of the GPU that was busy longest, of the others their lanes, and how many were so cut.

    The GPU that went on longest stays, too: until then the cell's time is counted.
    """
    busy = {one.device: one.value or 0.0 for one in record.readings if one.quantity == "device_time"}
    most = max(record.gpu_work, key=lambda one: busy.get(one.device, 0.0), default=None)
    bare = {one.device: replace(one, copies=(), kernels=()) for one in record.gpu_work}
    last = max(record.gpu_work, key=lambda one: one.went_on, default=None)
    stay = [
        one
        for one in record.gpu_work
        if one is most or (one is last and one.went_on > 0) or one.lane is not None
    ]
    kept = tuple(one if one is most else bare[one.device] for one in stay)
    return kept, sum(one not in kept for one in record.gpu_work)


def _make(record: Record, cut: Mapping[str, int], holds_head: bool = True) -> dict[str, Any]:
    data = record.to_notebook()
    chosen = language.current_language()
    shown = page.of(record, cut, chosen)
    if holds_head:
        told = shown.head if chosen == "en" else head.of(record, cut)
        # As one text, for a notebook's file gives each item of a table a line of its own.
        data["head"] = json.dumps(told.to_json(), ensure_ascii=False, separators=(",", ":"))
    if cut:
        data["cut"] = dict(cut)
    made = {
        MIME_TYPE: data,
        "text/html": str(html.drawn(record, shown)),
        "text/plain": text.said(record, shown),
    }
    if "text/html" in cut:
        del made["text/html"]
    return made


def _cut_logs(record: Record, limit: int, make: Make) -> tuple[Record, dict[str, int]]:
    """The record with as many of its log lines as fit, the worst verdicts first."""
    cut: dict[str, int] = {}
    bare = replace(record, logs=())
    # As if all lines were cut, which is the longest that saying so gets.
    all_cut = {notes.CUT + verdict: len(record.logs) for verdict in notes.VERDICTS}
    while bare.ops and _bytes(make(bare, all_cut)) > limit // 2:
        bare, left_out = cutting.halved(bare, "ops")
        cut = cutting.added(cut, left_out)
    room = limit - _bytes(make(bare, {**all_cut, **cut}))
    logs, of_logs = cutting.few_lines(record.logs, room, _line_bytes)
    return replace(bare, logs=logs), cut | of_logs


def _shortened(line: LogLine) -> LogLine:
    texts = (line.text, line.meaning or "", line.advice or "")
    if max(map(len, texts)) <= _LINE_LIMIT and all(
        len(value) <= _FIELD_LIMIT for value in line.fields.values() if isinstance(value, str)
    ):
        return line
    return replace(
        line,
        text=notes.shortened(line.text, _LINE_LIMIT),
        meaning=line.meaning and notes.shortened(line.meaning, _LINE_LIMIT),
        advice=line.advice and notes.shortened(line.advice, _LINE_LIMIT),
        fields={
            name: notes.shortened(value, _FIELD_LIMIT) if isinstance(value, str) else value
            for name, value in line.fields.items()
        },
    )


def _line_bytes(line: LogLine) -> int:
    """What a log line adds to a stored receipt, at most."""
    data = line.to_json() | {"fields": dict(line.fields)}
    shown = [str(html.note(line)), text.note(line) if notes.to_act_on(line) else ""]
    return _bytes(data, _LINE_DEPTH) + _compact(shown) + _LINE_DEPTH + 2


def _bytes(made: object, depth: int = _DEPTH) -> int:
    """How many a notebook file takes for it, `depth` deep: one line an item, indented by one."""
    # Python's encoder, which writes the file, is slow where it indents: that part is counted by another one.
    encoded = msgspec.json.encode(made)
    indented = msgspec.json.format(encoded, indent=1)
    return _compact(made) + len(indented) - len(encoded) + depth * indented.count(b"\n")


def _compact(made: object) -> int:
    return len(json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode())
