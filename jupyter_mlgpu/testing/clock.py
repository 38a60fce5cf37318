"""A fake clock and a fake probe."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.sentence import Sentence


class FakeClock:
    """A clock that stands still until `advance` is called."""

    source = "fake clock"

    def __init__(self) -> None:
        self._now_ns = 1_000
        self._worked_ns = 0

    def advance(self, seconds: float, worked: float = 0.0) -> None:
        """Let time pass or turn the clock back. This process uses `worked` seconds of CPU time."""
        self._now_ns += round(seconds * 1e9)
        self._worked_ns += round(worked * 1e9)

    def monotonic_ns(self) -> int:
        """Return nanoseconds that only grow, unless the clock is turned back."""
        return self._now_ns

    def processor_ns(self) -> int:
        """Return the CPU time of this process, in nanoseconds."""
        return self._worked_ns

    def utc(self) -> str:
        """Return a time on a fixed day, which follows `advance`."""
        return f"2026-01-01T00:00:{self._now_ns // 1_000_000_000 % 60:02d}.000000Z"


class FakeProbe:
    """A probe that returns a fixed value or raises a given exception."""

    def __init__(self, quantity: str, value: float | None, fail: Exception | None = None) -> None:
        self.quantity = quantity
        self._value = value
        self._fail = fail

    def start(self) -> Callable[[], Reading]:
        """Begin. Returns a function that returns the reading or raises."""

        def stop() -> Reading:
            if self._fail is not None:
                raise self._fail
            if self._value is None:
                return missing(self.quantity, Sentence("The fake probe measures nothing."))
            return Reading(
                self.quantity,
                self._value,
                QUANTITIES[self.quantity].unit,
                "process",
                "simulated",
                1,
                detail=Sentence("fake probe"),
            )

        return stop
