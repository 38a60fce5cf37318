"""What runs in an engine when it is asked; it has to be the same package there as here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.record import Record


def now() -> int:
    """The engine's monotonic clock, in nanoseconds: the one its records stand on."""
    return SystemClock().monotonic_ns()


def records() -> dict[str, Any]:
    """All that was measured in this engine; what it has loaded from files stands on other clocks."""
    runtime = current()
    live = [one for one in runtime.store.records() if one.origin == "live"]
    return packed(live, runtime.recorder.run.host_digest)


def packed(found: Sequence[Record], host: str) -> dict[str, Any]:
    """Records as they travel: as JSON, because the other side may have another version of this package."""
    return {"host": host, "records": json.dumps([one.to_json() for one in found]).encode()}
