"""Steps of work made ready on one device: what a framework gives a benchmark, as a contract."""

from __future__ import annotations

from typing import Protocol


class Runner(Protocol):
    """A case made ready on one device: its data lies there, and what is compiled ahead is compiled."""

    #: The type in which the arithmetic ran, as `float32`, and where that differs from the one asked for or is
    #: emulated, a sentence that says so.
    type_ran: str
    note: str | None

    def run(self, steps: int) -> None:
        """Do so many steps on the data; need not wait for them. The first call may still compile."""
        ...

    def wait(self) -> None:
        """Wait until all steps given so far are done: what was left to the device has then happened."""
        ...

    def close(self) -> None:
        """Free what lies on the device."""
        ...
