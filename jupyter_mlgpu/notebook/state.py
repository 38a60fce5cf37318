"""What a browser is told of this kernel: plain data, made without starting a framework."""

from __future__ import annotations

import platform
from contextlib import suppress
from typing import Any

from jupyter_mlgpu.backends import registry
from jupyter_mlgpu.backends.base import Backend
from jupyter_mlgpu.kit import Kit
from jupyter_mlgpu.notebook.logbook import Logbook
from jupyter_mlgpu.recorder import Measurement
from jupyter_mlgpu.render import words

#: The newest records that a snapshot holds; older ones are counted.
SNAPSHOT_RECORDS = 500


def snapshot(
    kit: Kit,
    *,
    tracing: bool,
    running: dict[str, Any] | None,
    logbook: Logbook,
    counters: dict[str, Any] | None,
    choices: dict[str, Any],
) -> dict[str, Any]:
    """The whole state, for a browser that has just come or missed something."""
    records = kit.store.records()
    return {
        "tracing": tracing,
        "notebook": kit.recorder.run.notebook,
        "device": device_state(kit),
        "running": None if running is None else {**running, "logs": logbook.running()},
        "logs": [line.to_json() for line in logbook.early],
        "records": [record.to_json() for record in records[-SNAPSHOT_RECORDS:]],
        "older": max(0, len(records) - SNAPSHOT_RECORDS) + kit.store.dropped,
        "counters": counters,
        "choices": choices,
        "versions": {"python": platform.python_version()},
    }


def running_state(
    measurement: Measurement, run: tuple[int, int] | None = None, progress: str = ""
) -> dict[str, Any]:
    """The cell that is running and for how long, in seconds: clocks of two machines cannot be compared.

    `run` is which of how many runs of a cell that repeats this is; `progress` what a command that takes
    long, a race for example, says that it is at.
    """
    cell = measurement.cell
    return {
        "cell": {
            "sequence": cell.sequence,
            "id": cell.id,
            "execution_count": cell.execution_count,
            "source_digest": cell.source_digest,
            "name": cell.name,
        },
        "started_at": measurement.started_at,
        "elapsed_s": measurement.elapsed(),
        "mode": "profiled" if measurement.profiling else "light",
        "run": None if run is None else {"number": run[0], "of": run[1]},
        "progress": progress or None,
    }


def device_state(kit: Kit) -> dict[str, Any]:
    """The device asked for and those that exist, or why these are not known yet."""
    state: dict[str, Any] = {
        "requested": kit.selection.word,
        "asked": [{"framework": name, "word": word} for name, word in kit.selection.asked().items()],
        "chosen": [{"framework": one.framework, "device": one.name} for one in kit.selection.chosen()],
        "frameworks": [_framework(backend) for backend in registry.loaded()],
        "framework": None,
        "available": None,
        "why_missing": "No framework is loaded yet: `import tensorflow` in a cell.",
    }
    for backend in registry.loaded():
        state["framework"] = backend.name
        if state["available"] is None:
            state["why_missing"] = f"{words.framework(backend.name)} has not used a device yet."
        if backend.started():
            state["requested"] = kit.selection.requested
            state["why_missing"] = None
            state["available"] = (state["available"] or []) + [
                {
                    "framework": device.framework,
                    "device": device.name,
                    "kind": device.kind,
                    "native_name": device.native_name,
                }
                for device in backend.devices()
            ]
    return state


def _framework(backend: Backend) -> dict[str, Any]:
    versions: dict[str, str] = {}
    with suppress(Exception):  # a version that cannot be told is left out
        versions.update(backend.versions())
    return {"name": backend.name, "versions": versions}
