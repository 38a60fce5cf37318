"""What a browser is told of this kernel: plain data, made without starting a framework."""

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
from jupyter_mlgpu.show.receipts import cutting, head

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
    """The whole state, for a browser that has just come or missed something; of the records the newest."""
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
    """The newest `PAGE` bytes of records, oldest first: of all, or of those that stand before a place.

    Records follow each other, so their places follow from `first`. `oldest` is the first place that can be
    asked for, `dropped` how many stood before it.
    """
    oldest, records = runtime.store.placed()
    end = len(records) if before is None else min(max(before - oldest, 0), len(records))
    page: list[dict[str, Any]] = []
    size = 0
    for record in reversed(records[:end]):
        made = record_for_browser(record)
        size += len(json.dumps(made))
        if page and size > PAGE:
            break
        page.append(made)
    return {
        "records": page[::-1],
        "first": oldest + end - len(page),
        "oldest": oldest,
        "dropped": runtime.store.dropped,
    }


def record_for_browser(record: Record) -> dict[str, Any]:
    """A record for a browser with its head in words, of about `RECORD` bytes at most.

    What is left out of one that is larger is counted and named in its `cut`, as in a receipt: of the log
    lines those that matter least, by verdict. The kernel keeps all of it, for `%mlc_trace save`.
    """
    made = record.to_json() | {"head": head.of(record).to_json()}
    if len(json.dumps(made)) <= RECORD:
        return made
    logs, cut = cutting.few_lines(record.logs, RECORD // 2, lambda line: len(json.dumps(line.to_json())))
    record = replace(record, logs=logs)
    made = record.to_json()
    for part in cutting.ORDER:
        while getattr(record, part) and len(json.dumps(made)) > RECORD:
            record, left_out = cutting.halve(record, part)
            cut = cutting.add_counts(cut, left_out)
            made = record.to_json()
    return {**made, "cut": cut, "head": head.of(record, cut).to_json()}


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


def device_state(runtime: Runtime) -> DeviceStatusData:
    """The devices asked for, as in a record, and those that can be chosen."""
    loaded = registry.loaded()
    selection = runtime.selection
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
