"""Builds the messages that describe this kernel to a browser, without starting a framework."""

from __future__ import annotations

import json
import platform
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.browser import device_list
from jupyter_mlgpu.jupyter.notebook.browser.logbook import Logbook
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.record import Record

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

#: Most bytes of JSON of the records in one answer, which holds at least one. A browser parses them in 2 ms.
PAGE = 200_000

#: Most bytes of JSON of one record: a browser parses it in one go, during which its page is frozen.
RECORD = 1_000_000


def snapshot(
    runtime: Runtime,
    *,
    tracing: bool,
    running: RunningData | None,
    logbook: Logbook,
    counters: CountersHistoryData | None,
    choices: SidebarState,
    doctor: DoctorData,
) -> dict[str, Any]:
    """Return the whole state with the newest records; new browsers and those that missed an event get it."""
    state: SnapshotState = {
        "tracing": tracing,
        "notebook": runtime.recorder.run.notebook,
        "device": device_state(runtime),
        "running": None if running is None else {**running, "logs": logbook.running()},
        "logs": [line.to_json() for line in logbook.early],
        "counters": counters,
        "choices": choices,
        "doctor": doctor,
        "versions": {"python": platform.python_version()},
    }
    return {**state, **records_before(runtime)}


def records_before(runtime: Runtime, before: int | None = None) -> RecordsState:
    """Return the newest `PAGE` bytes of records, oldest first: of all records, or of those before a place.

    Records are consecutive, so their places count up from `first`. `oldest` is the first place that can be
    requested, and `dropped` the number of records before it.
    """
    oldest, records = runtime.store.placed()
    end = len(records) if before is None else min(max(before - oldest, 0), len(records))
    page: list[dict[str, Any]] = []
    size = 0
    for record in reversed(records[:end]):
        data = record_for_browser(record)
        size += len(json.dumps(data))
        if page and size > PAGE:
            break
        page.append(data)
    return {
        "records": page[::-1],
        "first": oldest + end - len(page),
        "oldest": oldest,
        "dropped": runtime.store.dropped,
    }


def record_for_browser(record: Record) -> dict[str, Any]:
    """Return a record as JSON with its head as text, of about `RECORD` bytes at most.

    Parts left out of a larger record are counted and named in its `cut`, as in a receipt; of the log lines,
    the least important by verdict are left out. The kernel keeps everything for `%mlc_trace save`.
    """
    from jupyter_mlgpu.show.receipts import cutting, head  # loading the extension needs no drawing

    data = record.to_json() | {"head": head.of(record).to_json()}
    if len(json.dumps(data)) <= RECORD:
        return data
    logs, cut = cutting.few_lines(record.logs, RECORD // 2, lambda line: len(json.dumps(line.to_json())))
    record = replace(record, logs=logs)
    data = record.to_json()
    for part in cutting.ORDER:
        while getattr(record, part) and len(json.dumps(data)) > RECORD:
            record, left_out = cutting.halve(record, part)
            cut = cutting.add_counts(cut, left_out)
            data = record.to_json()
    return {**data, "cut": cut, "head": head.of(record, cut).to_json()}


def running_state(
    measurement: Measurement, run: tuple[int, int] | None = None, progress: str = ""
) -> RunningData:
    """Return the running cell and its elapsed seconds; clocks of two machines could not be compared.

    `run` is the run number and the number of runs of a repeating cell. `progress` is the progress of a slow
    command, such as a race.
    """
    return {
        "cell": measurement.cell,
        "started_at": measurement.started_at,
        "elapsed_s": measurement.elapsed(),
        "mode": measurement.mode,
        "run": None if run is None else {"number": run[0], "of": run[1]},
        "progress": progress or None,
    }


def device_state(runtime: Runtime) -> DeviceStatusData:
    """Return the requested devices, as in a record, and those that can be chosen."""
    loaded = registry.loaded()
    selection = runtime.selection
    return {
        "requested": selection.requested() if any(one.started() for one in loaded) else selection.words(),
        "kind": device_list.kind_of_new_work(selection),
        "pickers": [one.to_json() for one in device_list.pickers(selection)],
        "frameworks": [_framework(backend) for backend in loaded],
    }


def _framework(backend: Backend) -> FrameworkData:
    versions: dict[str, str] = {}
    with suppress(Exception):  # versions that cannot be read are left out
        versions.update(backend.versions())
    return {"name": backend.name, "versions": versions}
