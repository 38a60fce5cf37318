"""Functions that run in an engine when it is queried; the engine needs the same package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.record import Record


def now() -> int:
    """Return the engine's monotonic clock in nanoseconds, on which its records are based."""
    return SystemClock().monotonic_ns()


def records() -> dict[str, Any]:
    """Return all that was measured in this engine.

    Records loaded from files are left out, because they have other clocks.
    """
    runtime = current()
    live = [one for one in runtime.store.records() if one.origin == "live"]
    return pack(live, runtime.recorder.run.host_digest)


def pack(found: Sequence[Record], host: str) -> dict[str, Any]:
    """Return records for transport, as JSON because the other side may have another package version."""
    return {"host": host, "records": json.dumps([one.to_json() for one in found]).encode()}
