"""What the pages are told without asking: a cell that runs, how far it is, records, and devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.jupyter.notebook.browser import state
from jupyter_mlgpu.jupyter.notebook.browser.channel import Channel, NoChannel
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.strip import SHORTEST, StripSoFar

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import RunningData


class PageUpdates:
    """Pushes what changes in the kernel, and knows of the cell that runs what the pages are told of it.

    `schedule` has a function called by the main thread's event loop, when the cell has been answered.
    """

    def __init__(self, runtime: Runtime, schedule: Callable[[Callable[[], None]], object]) -> None:
        #: Where to push; nobody listens until the extension has put the kernel's channel here.
        self.channel: Channel = NoChannel()
        self._runtime = runtime
        self._schedule = schedule
        self._devices_sent = state.device_state(runtime)
        self._measurement: Measurement | None = None
        self._run: tuple[int, int] | None = None
        self._progress = ""

    def push(self, event: Mapping[str, Any]) -> None:
        """Send an event to all pages."""
        self.channel.push(event)

    def cell_begins(self, measurement: Measurement, run: tuple[int, int] | None) -> None:
        """A cell is measured from now on; `run` is which of how many it is of a cell that repeats."""
        self._measurement, self._run, self._progress = measurement, run, ""
        self.push({"type": "running", **state.running_state(measurement, run)})

    def cell_ended(self) -> None:
        """No cell is measured any more; its record tells the pages so."""
        self._measurement = None

    def progress(self, sentence: str) -> None:
        """A command that takes long says what it is at; "" at its end."""
        self._progress = sentence
        if self._measurement is not None:
            sequence = self._measurement.cell.sequence
            self.push({"type": "progress", "sequence": sequence, "progress": sentence or None})

    def record_made(self, record: Record) -> None:
        """A record is new, or has changed."""
        place = self._runtime.store.place(record.key)
        self.channel.push(
            lambda: {"type": "record", "place": place, "record": state.record_for_browser(record)}
        )

    def devices_soon(self, result: object = None) -> None:
        """As `devices`, when the cell has been answered: no receipt says it, and looking takes a while."""
        self._schedule(self.devices)

    def devices(self) -> None:
        """Tell of devices that a cell has brought to light, such as the first import does."""
        try:
            devices = state.device_state(self._runtime)
        except Exception:  # a framework that is half imported: the next cell's end is soon enough
            return
        if devices != self._devices_sent:
            self._devices_sent = devices
            self.push({"type": "device", "device": devices})

    def running(self) -> RunningData | None:
        """The cell that is measured now, for a page that asks for the whole state."""
        if self._measurement is None:
            return None
        return state.running_state(self._measurement, self._run, self._progress)

    def strip_so_far(self) -> StripSoFar | None:
        """The strip of the cell that runs; None for a short one, and under a profiler."""
        running = self._measurement
        if running is None or running.profiling or running.elapsed() < SHORTEST:
            return None
        return running.strip_so_far()
