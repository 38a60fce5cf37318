"""Pushes changes to the pages: the running cell, its progress, records, and devices."""

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
    """Pushes changes in the kernel, and keeps the state of the running cell that pages get.

    `schedule` makes the main thread's event loop call a function, after the cell has been answered.
    """

    def __init__(self, runtime: Runtime, schedule: Callable[[Callable[[], None]], object]) -> None:
        #: The channel to push to; the extension sets the kernel's.
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
        """Push the cell that is measured now; `run` is its run and the number of runs if it repeats."""
        self._measurement, self._run, self._progress = measurement, run, ""
        if self.channel.is_heard:  # the cell's name is redacted, which takes a while
            self.push({"type": "running", **state.running_state(measurement, run)})

    def cell_ended(self) -> None:
        """Forget the measured cell; its record informs the pages."""
        self._measurement = None

    def progress(self, sentence: str) -> None:
        """Push the progress of a slow command; "" at its end."""
        self._progress = sentence
        if self._measurement is not None:
            sequence = self._measurement.sequence
            self.push({"type": "progress", "sequence": sequence, "progress": sentence or None})

    def record_made(self, record: Record) -> None:
        """Push a new or changed record."""
        place = self._runtime.store.place(record.key)
        self.channel.push(
            lambda: {"type": "record", "place": place, "record": state.record_for_browser(record)}
        )

    def devices_soon(self, result: object = None) -> None:
        """Call `devices` after the cell has been answered: no receipt needs it, and it takes a while."""
        self._schedule(self.devices)

    def devices(self) -> None:
        """Push the devices if they changed, for example at the first import of a framework."""
        try:
            devices = state.device_state(self._runtime)
        except Exception:  # the framework is not fully imported; the end of the next cell tries again
            return
        if devices != self._devices_sent:
            self._devices_sent = devices
            self.push({"type": "device", "device": devices})

    def running(self) -> RunningData | None:
        """Return the measured cell for a snapshot."""
        if self._measurement is None:
            return None
        return state.running_state(self._measurement, self._run, self._progress)

    def strip_so_far(self) -> StripSoFar | None:
        """Return the strip of the running cell; None for a short cell, and under a profiler."""
        running = self._measurement
        if running is None or running.profiling or running.elapsed() < SHORTEST:
            return None
        return running.strip_so_far()
