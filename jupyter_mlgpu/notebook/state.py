"""What a browser is told of this kernel: plain data, made without starting a framework."""

from __future__ import annotations

import platform
from typing import Any

from jupyter_mlgpu.backends import registry
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
    running: Measurement | None,
    logbook: Logbook,
    counters: dict[str, Any] | None,
) -> dict[str, Any]:
    """The whole state, for a browser that has just come or missed something."""
    records = kit.store.records()
    return {
        "tracing": tracing,
        "notebook": kit.recorder.run.notebook,
        "device": device_state(kit),
        "running": None if running is None else {**running_state(running), "logs": logbook.running()},
        "logs": [line.to_json() for line in logbook.early],
        "records": [record.to_json() for record in records[-SNAPSHOT_RECORDS:]],
        "older": max(0, len(records) - SNAPSHOT_RECORDS) + kit.store.dropped,
        "counters": counters,
        "versions": {"python": platform.python_version()},
    }


def running_state(measurement: Measurement) -> dict[str, Any]:
    """The cell that is running and for how long, in seconds: clocks of two machines cannot be compared."""
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
    }


def device_state(kit: Kit) -> dict[str, Any]:
    """The device asked for and those that exist, or why these are not known yet."""
    state: dict[str, Any] = {
        "requested": kit.selection.word,
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
