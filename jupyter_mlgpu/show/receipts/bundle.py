"""The receipt as Jupyter stores it: the package's own MIME type for the sidebar's view, HTML and plain text.

A notebook file holds many receipts, so their size is bounded. The limits are 4 kB for a plain cell, 8 kB with
notes or a limit, which are stored three times, and 64 kB with log lines or for a profiled cell. A strip,
which is stored once as data and once as a picture, adds up to 24 kB, usually 3 to 7 kB. Parts that do not fit
are left out, counted and named in the record's `cut`. Of the log lines the least important are left out
first, and they are counted by verdict. Of the evidence of a limit and of the code lines, those with the
smallest share are left out. HTML and plain text contain the texts of sentences. The record contains their
templates and fields, or if these do not fit only the English text.
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
from jupyter_mlgpu.record.record import NOT_COMPUTED, WORKED_IN, LogLine, Record
from jupyter_mlgpu.show.receipts import cutting, head, html, notes, page, text

MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"
PLAIN_LIMIT = 4_096
NOTED_LIMIT = 8_192
FULL_LIMIT = 65_536
STRIP_BYTES = 24_576

# The nesting depth of an output's data in a notebook file: notebook, cells, cell, outputs, output.
_DEPTH = 5

# The log lines are in a list in the record, which is an item of the bundle.
_LINE_DEPTH = _DEPTH + 3

#: Most characters of one log line, and of its explanation, in a receipt.
_LINE_LIMIT = 2_000
_FIELD_LIMIT = 200

# Memory at the end of the cell. Only a comparison of several runs needs it, which uses the kernel's or saved
# records.
_OF_SEVERAL_RUNS = ("memory_process", "memory_allocator")

# The figures behind a cell's place under the roof. A light receipt has only the place, a profiled one both.
_OF_THE_ROOF = ("flops", "bytes_moved", "bytes_of_large_calls", "peak_flop_rate", "peak_byte_rate")

# A machine may have eight GPUs. A plain receipt has the readings of the most active one, others of two.
_OF_SEVERAL_DEVICES = ("device_time", "peak_memory_device", "energy")

# Most evidence readings, and most code lines, in a receipt. The second number is the least of both together
# that is kept before sentences are reduced to English.
_MOST, _LEAST = 10, 6
# Python's encoder writes some numbers in more bytes than msgspec. In a receipt that is far below its limit,
# they need not be counted.
_MARGIN = 1.1

# Approximate bytes of one of them.
_ITEM = 450

#: Makes the bundle of a record and of the counts of its parts that were left out.
Make = Callable[[Record, Mapping[str, int]], dict[str, Any]]


def bundle(record: Record, cut_before: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return the MIME bundle of a receipt, within the size limit for its content.

    `cut_before` is the `cut` of the saved receipt that the record was read from. Its counts are included.
    HTML and plain text are in the current language, the record itself is in English.
    """
    make: Make = _make
    full = record.logs or record.ops or record.repeat or record.mode != "light"
    noted = record.notes or record.limit or record.lines or record.gpu_work or NOT_COMPUTED in record.facts
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
    cut = cutting.add_counts(cut_before or {}, {part: count for part, count in omitted.items() if count})
    record, cut = _fewer(record, 2 * _MOST, cut)
    made = make(record, cut)
    if _indented(made)[1] * _MARGIN <= limit or _bytes(made) <= limit:
        return made
    if not full:
        record, cut, made = _fitting(record, cut, made, limit, make, least=_LEAST)
        if _bytes(made) > limit:
            # First the sentences are reduced to English, which is shorter. With logs this saves too little.
            record = decoding.decode(Record, sentence.only_texts(record.to_json()), "the record")
            made = make(record, cut)
        if _bytes(made) > limit:
            # The head is left out of the data, because the plain text has it, too.
            make = partial(_make, holds_head=False)
            record, cut, made = _fitting(record, cut, make(record, cut), limit, make, least=0)
    if record.logs:
        record, of_logs = _cut_logs(record, limit, make)
        cut = cutting.add_counts(cut, of_logs)
        made = make(record, cut)
    while _bytes(made) > limit:
        part = next((part for part in cutting.ORDER if getattr(record, part)), None)
        if part is None:
            # The plain text says the same in fewer words, and every viewer can show it.
            cut["text/html"] = 1
            made = make(record, cut)
            break
        record, of_part = cutting.halve(record, part)
        cut = cutting.add_counts(cut, of_part)
        made = make(record, cut)
    return made


def _left_to_the_record(record: Record) -> set[str]:
    """Return the quantities whose readings are in the record but not in its receipt."""
    of_the_roof = _OF_THE_ROOF if record.mode == "light" else ()
    # The readings in a limit's evidence are stored there.
    behind = (
        [one.quantity for one in record.limit.evidence] if record.limit and record.mode == "light" else []
    )
    return {*_OF_SEVERAL_RUNS, *of_the_roof, *(one for one in behind if one in ROOFLINE)}


def _fitting(
    record: Record, cut: dict[str, int], made: dict[str, Any], limit: int, make: Make, *, least: int
) -> tuple[Record, dict[str, int], dict[str, Any]]:
    """Return the record, its cut and its bundle with fewer evidence readings and code lines.

    Approximately as many as fit are kept, and at least `least`. The number is estimated because each attempt
    takes time.
    """
    count = len(record.lines) + (len(record.limit.evidence) if record.limit else 0)
    while count > least and (over := _bytes(made) - limit) > 0:
        count = max(least, count - 1 - over // _ITEM)
        record, cut = _fewer(record, count, cut)
        made = make(record, cut)
    return record, cut, made


def _fewer(record: Record, count: int, cut: Mapping[str, int]) -> tuple[Record, dict[str, int]]:
    """Return the record with at most `count` evidence readings and code lines in all, and its cut."""
    behind = record.limit.evidence if record.limit else ()
    lines = min(len(record.lines), _MOST, max(count // 2, count - len(behind)))
    evidence = min(len(behind), _MOST, count - lines)
    left_out = {"evidence": len(behind) - evidence, "lines": len(record.lines) - lines}
    if not any(left_out.values()):
        return record, dict(cut)
    limit = record.limit and replace(record.limit, evidence=behind[:evidence])
    counts = {part: count for part, count in left_out.items() if count}
    return replace(record, limit=limit, lines=record.lines[:lines]), cutting.add_counts(cut, counts)


def _few_devices(readings: Sequence[Reading], most: int) -> tuple[Reading, ...]:
    """Return the readings, but only the `most` largest of a quantity that each GPU has.

    Of the GPU busy times two are kept: a receipt's head names the busiest GPU if there are several.
    """
    kept: dict[str, list[Reading]] = {}
    for quantity in _OF_SEVERAL_DEVICES:
        of_devices = [one for one in readings if one.quantity == quantity and one.scope == "device"]
        of_devices.sort(key=lambda one: one.value or 0.0, reverse=True)
        kept[quantity] = of_devices[: max(most, 2 if quantity == "device_time" else 0)]
    return tuple(one for one in readings if one.scope != "device" or one in kept.get(one.quantity, (one,)))


def _busiest(record: Record) -> tuple[tuple[GpuWork, ...], int]:
    """Return the work of the busiest GPU, the lanes of the others, and the number of GPUs that were reduced.

    The GPU that continued longest after the code is kept, too, because the cell's time includes it.
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
        receipt_head = shown.head if chosen == "en" else head.of(record, cut)
        # As one text, because a notebook file stores each item of a table on its own line.
        data["head"] = json.dumps(receipt_head.to_json(), ensure_ascii=False, separators=(",", ":"))
    if cut:
        data["cut"] = dict(cut)
    made = {
        MIME_TYPE: data,
        "text/html": str(html.render(record, shown)),
        "text/plain": text.render(record, shown),
    }
    if "text/html" in cut:
        del made["text/html"]
    return made


def _cut_logs(record: Record, limit: int, make: Make) -> tuple[Record, dict[str, int]]:
    """Return the record with as many of its log lines as fit, the worst verdicts first."""
    cut: dict[str, int] = {}
    bare = replace(record, logs=())
    # Counted as if all lines were left out, which gives the longest possible remark.
    all_cut = {notes.CUT + verdict: len(record.logs) for verdict in notes.VERDICTS}
    while bare.ops and _bytes(make(bare, all_cut)) > limit // 2:
        bare, left_out = cutting.halve(bare, "ops")
        cut = cutting.add_counts(cut, left_out)
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
    """Return the most bytes that a log line adds to a stored receipt."""
    data = line.to_json() | {"fields": dict(line.fields)}
    texts = [str(html.note(line)), text.note(line) if notes.to_act_on(line) else ""]
    return _bytes(data, _LINE_DEPTH) + _compact(texts) + _LINE_DEPTH + 2


def _bytes(made: object, depth: int = _DEPTH) -> int:
    """Return the bytes of a value in a notebook file at `depth`: one line per item, indented by one."""
    # The file is written by Python's encoder, which is slow with indentation, so msgspec counts that part.
    encoded, indented = _indented(made, depth)
    return _compact(made) + indented - encoded


def _indented(made: object, depth: int = _DEPTH) -> tuple[int, int]:
    """Return the bytes that msgspec writes for a value: on one line, and indented as in a notebook file."""
    encoded = msgspec.json.encode(made)
    indented = msgspec.json.format(encoded, indent=1)
    return len(encoded), len(indented) + depth * indented.count(b"\n")


def _compact(made: object) -> int:
    return len(json.dumps(made, ensure_ascii=False, separators=(",", ":")).encode())
