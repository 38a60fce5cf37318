"""What a browser is told of this kernel: plain data, made without starting a framework."""

from __future__ import annotations

import json
import platform
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.browser import device_list
from jupyter_mlgpu.jupyter.notebook.browser.logbook import Logbook
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend
from jupyter_mlgpu.measure.kit import Kit
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts import head, notes

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import (
        CountersHistoryData,
        DeviceStatusData,
        DoctorData,
        FrameworkData,
        RecordsState,
        RunningData,
        SidebarState,
        SnapshotState,
    )

#: Bytes of JSON of the records in one answer, which holds at least one. A browser parses them in 2 ms.
PAGE = 200_000

#: Bytes of JSON of one record: a browser reads it in one go, while its page stands still.
RECORD = 1_000_000

# What is halved where that is still too much: what is easiest to miss goes first, as in a receipt.
_CUT_ORDER = ("ops", "facts", "notes")


def snapshot(
    kit: Kit,
    *,
    tracing: bool,
    running: RunningData | None,
    logbook: Logbook,
    counters: CountersHistoryData | None,
    choices: SidebarState,
    doctor: DoctorData,
) -> dict[str, Any]:
    """The whole state, for a browser that has just come or missed something; of the records the newest."""
    state: SnapshotState = {
        "tracing": tracing,
        "notebook": kit.recorder.run.notebook,
        "device": device_state(kit),
        "running": None if running is None else {**running, "logs": logbook.running()},
        "logs": [line.to_json() for line in logbook.early],
        "counters": counters,
        "choices": choices,
        "doctor": doctor,
        "versions": {"python": platform.python_version()},
    }
    return {**state, **records_before(kit)}


def records_before(kit: Kit, before: int | None = None) -> RecordsState:
    """The newest `PAGE` bytes of records, oldest first: of all, or of those that stand before a place.

    Records follow each other, so their places follow from `first`. `oldest` is the first place that can be
    asked for, `dropped` how many stood before it.
    """
    oldest, records = kit.store.placed()
    end = len(records) if before is None else min(max(before - oldest, 0), len(records))
    page: list[dict[str, Any]] = []
    size = 0
    for record in reversed(records[:end]):
        made = told(record)
        size += len(json.dumps(made))
        if page and size > PAGE:
            break
        page.append(made)
    return {
        "records": page[::-1],
        "first": oldest + end - len(page),
        "oldest": oldest,
        "dropped": kit.store.dropped,
    }


def told(record: Record) -> dict[str, Any]:
    """A record for a browser with its head in words, of about `RECORD` bytes at most.

    What is left out of one that is larger is counted and named in its `cut`, as in a receipt: of the log
    lines those that matter least, by verdict. The kernel keeps all of it, for `%mlc_trace save`.
    """
    made = record.to_json() | {"head": head.of(record).to_json()}
    if len(json.dumps(made)) <= RECORD:
        return made
    record, cut = _few_lines(record, RECORD // 2)
    made = record.to_json()
    for part in _CUT_ORDER:
        whole = made[part]
        while made[part] and len(json.dumps(made)) > RECORD:
            keep = len(made[part]) // 2
            some = made[part]
            made[part] = dict(list(some.items())[:keep]) if isinstance(some, dict) else some[:keep]
        if len(made[part]) < len(whole):
            cut[part] = len(whole) - len(made[part])
    return {**made, "cut": cut, "head": head.of(record, cut).to_json()}


def _few_lines(record: Record, limit: int) -> tuple[Record, dict[str, int]]:
    """The record with the lines that matter most, within so many bytes, and how many others there were."""
    order = {verdict: number for number, verdict in enumerate(notes.VERDICTS)}
    kept: set[int] = set()
    for number, line in sorted(enumerate(record.logs), key=lambda item: order[notes.rank(item[1])]):
        size = len(json.dumps(line.to_json()))
        if size <= limit:
            limit -= size
            kept.add(number)
    left_out = Counter(notes.rank(line) for number, line in enumerate(record.logs) if number not in kept)
    logs = tuple(line for number, line in enumerate(record.logs) if number in kept)
    return replace(record, logs=logs), {notes.CUT + verdict: count for verdict, count in left_out.items()}


def running_state(
    measurement: Measurement, run: tuple[int, int] | None = None, progress: str = ""
) -> RunningData:
    """The cell that is running and for how long, in seconds: clocks of two machines cannot be compared.

    `run` is which of how many runs of a cell that repeats this is; `progress` what a command that takes
    long, a race for example, says that it is at.
    """
    return {
        "cell": measurement.cell,
        "started_at": measurement.started_at,
        "elapsed_s": measurement.elapsed(),
        "mode": "profiled" if measurement.profiling else "light",
        "run": None if run is None else {"number": run[0], "of": run[1]},
        "progress": progress or None,
    }


def device_state(kit: Kit) -> DeviceStatusData:
    """The devices asked for, as in a record, and those that can be chosen."""
    loaded = registry.loaded()
    selection = kit.selection
    return {
        "requested": selection.requested() if any(one.started() for one in loaded) else selection.words(),
        "pickers": [one.to_json() for one in device_list.pickers(selection)],
        "frameworks": [_framework(backend) for backend in loaded],
    }


def _framework(backend: Backend) -> FrameworkData:
    versions: dict[str, str] = {}
    with suppress(Exception):  # a version that cannot be told is left out
        versions.update(backend.versions())
    return {"name": backend.name, "versions": versions}
