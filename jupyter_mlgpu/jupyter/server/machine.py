"""Tells what the server's machine does now, for a page none of whose kernels tells it.

    GET jupyter-mlgpu/machine  ->  {"time": "2026-11-21T15:00:00.000000Z", "t": 812.43, "values": [0.31, ...],
                                    "series": [{"device": "machine", "quantity": "memory", ...}, ...]}

in the form of a kernel's counters (jupyter/notebook/browser/live_counters.py), without those of a process.
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
#: Seconds for which a look is good: several pages share it.
_FRESH = 0.5
#: Seconds after which rates would be those of a time that nobody has looked at: they begin anew.
_STALE = 5.0
#: Seconds between the two looks of which a rate is the difference.
_FIRST = 0.2


class MachineGauges:
    """Looks at the machine when it is asked, and not more often than `_FRESH`."""

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
        """What the machine does; in a thread, for a driver may take its time and the server has kernels."""
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
    """Answers with what the machine does now."""

    #: A page that looks on is no sign that somebody works here, for which a server is kept from stopping.
    _track_activity = False

    def initialize(self, machine: MachineGauges) -> None:
        """`machine` is the server's."""
        self._machine = machine

    @web.authenticated
    async def get(self) -> None:
        """What the machine does now."""
        told = await self._machine.sample()
        self.set_header("Cache-Control", "no-store")
        await self.finish(json.dumps(told))


def handlers(base_url: str) -> list[tuple[str, Any, dict[str, Any]]]:
    """For the server's web application."""
    return [(base_url.rstrip("/") + PATH, MachineHandler, {"machine": MachineGauges()})]
