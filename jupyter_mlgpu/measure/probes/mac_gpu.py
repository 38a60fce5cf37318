"""Utilization of a Mac's GPUs by all programs, as reported by their drivers without administrator rights.

A driver reports it in `PerformanceStatistics` of its service of class `IOAccelerator`: in per cent, under
"Device Utilization %", or "GPU Activity(%)" for AMD's GPUs. The period it covers is not documented. Values
above 100 % of Intel's drivers have been reported (exelban/stats, issue 649). Not yet run on a Mac.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jupyter_mlgpu.measure.probes.nvml import NvmlAnswer
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.ioregistry import Registry

#: The keys under which drivers report the utilization of the whole GPU.
_KEYS = ("Device Utilization %", "GPU Activity(%)")

NO_GPU = say("macOS lists no GPU here.")
NOT_TOLD = say("The driver of this GPU does not report how busy it is.")


class Gauges:
    """The utilization of each GPU of this Mac."""

    def __init__(self, load: Callable[[], Registry] | None = None) -> None:
        self._load = load or _load
        self._entries: dict[str, int] | None = None
        self._registry: Registry | None = None
        self._why = NO_GPU

    def names(self) -> list[str]:
        """Return the GPUs' names, `GPU` if there is only one; empty if macOS does not answer."""
        if self._entries is None:
            try:
                self._entries = self._find()
            except OSError as error:
                self._entries = {}
                self._why = _unanswered(error)
        return list(self._entries)

    def read(self, name: str) -> NvmlAnswer[float]:
        """Return the utilization of a GPU, 0 to 1."""
        entry = (self._entries or {}).get(name)
        if entry is None or self._registry is None:
            return NvmlAnswer(None, self._why)
        try:
            statistics = self._registry.read(entry, "PerformanceStatistics")
        except OSError as error:
            return NvmlAnswer(None, _unanswered(error))
        share = _share(statistics if isinstance(statistics, dict) else {})
        return NvmlAnswer(share, NOT_TOLD if share is None else None)

    def _find(self) -> dict[str, int]:
        from jupyter_mlgpu.measure.gpu.mac_clients import ACCELERATOR, gpu_names

        self._registry = self._load()
        entries = self._registry.services(ACCELERATOR)
        names = ["GPU"] if len(entries) == 1 else gpu_names(self._registry, entries)
        return dict(zip(names, entries, strict=True))


def _share(statistics: dict[str, object]) -> float | None:
    for key in _KEYS:
        value = statistics.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
            return min(1.0, value / 100)
    return None


def _unanswered(error: OSError) -> Sentence:
    return say("macOS's registry of devices does not answer ({error}).", error=error)


def _load() -> Registry:
    from jupyter_mlgpu.measure.gpu.ioregistry import IoRegistry

    return IoRegistry()
