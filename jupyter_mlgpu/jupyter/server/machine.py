"""Serves the machine's live gauges to pages without a kernel that has them.

    GET jupyter-mlgpu/machine  ->  {"time": "2026-11-21T15:00:00.000000Z", "t": 812.43, "values": [0.31, ...],
                                    "series": [{"device": "machine", "quantity": "memory", ...}, ...]}

in the format of a kernel's counters (jupyter/notebook/browser/live_counters.py), without those of a process.
They are sampled only when a page asks, which it does only while its gauges are visible.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_mlgpu.measure.probes import gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.live import CounterReader
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.record.clock import real_time, utc
from jupyter_mlgpu.record.decoding import to_json

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import CountersEventData

PATH = "/jupyter-mlgpu/machine"
#: Seconds for which a sample is reused, so several pages share it. A page asks every half second.
_FRESH = 0.4
#: Seconds without a sample after which rates start again, because they would average over a time not shown.
_STALE = 5.0
#: Seconds between the two samples from which a first rate is computed.
_FIRST = 0.2


class MachineGauges:
    """Samples the machine when asked, at most once every `_FRESH` seconds."""

    def __init__(
        self,
        counters: CounterReader | None = None,
        now: Callable[[], float] = real_time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._counters = counters or CounterReader(Lazy(lambda: gpus.find(Nvml())), process=False)
        self._now = now
        self._pause = pause
        self._lock = asyncio.Lock()
        self._last: CountersEventData | None = None

    async def sample(self) -> CountersEventData:
        """Return the machine's counters. Samples in a thread, because a driver may be slow."""
        async with self._lock:
            age = float("inf") if self._last is None else self._now() - self._last["t"]
            if self._last is not None and age < _FRESH:
                return self._last
            if age > _STALE:
                await asyncio.to_thread(self._counters.sample)
                await self._pause(_FIRST)
            series, values = await asyncio.to_thread(self._counters.sample)
            self._last = {
                "time": utc(real_time.time_ns()),
                "t": self._now(),
                "values": values,
                "series": to_json(series),
            }
            return self._last


class MachineHandler(APIHandler):
    """Answers with the machine's counters."""

    #: Polling by a page does not count as activity, so an idle server can still be stopped.
    _track_activity = False

    def initialize(self, machine: MachineGauges) -> None:
        """Set the server's gauges."""
        self._machine = machine

    @web.authenticated
    async def get(self) -> None:
        """Send the machine's counters."""
        counters = await self._machine.sample()
        self.set_header("Cache-Control", "no-store")
        await self.finish(json.dumps(counters))


def handlers(base_url: str) -> list[tuple[str, Any, dict[str, Any]]]:
    """Return the handlers for the server's web application."""
    return [(base_url.rstrip("/") + PATH, MachineHandler, {"machine": MachineGauges()})]
