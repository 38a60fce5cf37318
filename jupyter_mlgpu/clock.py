"""Reading the time: one small contract, so that tests can turn the clock by hand."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What a recorder needs to know of time."""

    source: str

    def monotonic_ns(self) -> int:
        """Nanoseconds of a clock that never goes backwards; only differences mean something."""
        ...

    def utc(self) -> str:
        """The present moment in UTC, ISO 8601 with microseconds and a final Z."""
        ...


class SystemClock:
    """The machine's clocks."""

    source = "time.perf_counter_ns"

    def monotonic_ns(self) -> int:
        """See `Clock`; the highest resolution the platform offers."""
        return time.perf_counter_ns()

    def utc(self) -> str:
        """See `Clock`."""
        return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
