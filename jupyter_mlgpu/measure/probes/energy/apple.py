"""The energy model of Apple silicon, by subsystem, through the package zeus-apple-silicon; no sudo is needed.

Written from the package's own documentation (version 1.1): `AppleEnergyMonitor.begin_window(label)` and
`end_window(label)` give an `AppleEnergyMetrics` in millijoules, None where this chip does not tell; windows
of different labels may overlap. The figures are Apple's model (IOReport, group "Energy Model"), of all
programs. How often they move is not documented; windows under 10 ms are said to be poor, so each end is taken
to be uncertain by 5 ms. Not yet run on a Mac.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import count
from typing import Any, Protocol, cast

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import APPLE, Reading, Scope, missing
from jupyter_mlgpu.record.sentence import Sentence, say

#: Seconds by which a figure may be late, and the shortest cell whose energy that leaves known within 10 %.
REFRESH = 0.010
SHORTEST = 10 * REFRESH
#: Figures are whole millijoules.
STEP = 1e-3

#: What is told, by the field's name: its scope, and what people call it.
PARTS: dict[str, tuple[Scope, str]] = {
    "gpu_mj": ("device", "GPU"),
    "cpu_total_mj": ("machine", "CPU"),
    "dram_mj": ("machine", "DRAM"),
    "ane_mj": ("machine", say("Neural Engine")),
}

NO_COUNTER = say("A Mac with an Intel processor does not expose energy counters without sudo.")
NOT_INSTALLED = say(
    "The package zeus-apple-silicon, which reads the energy of Apple chips, is not installed."
)
TOO_SHORT = say(
    "Too short to measure: Apple's energy model is poor below {interval} ms, so only cells "
    "of {time} s or longer are known to within 10 %.",
    interval=f"{REFRESH * 1e3:.0f}",
    time=f"{SHORTEST:g}",
)
BACKWARDS = say("The energy counter went backwards while the cell ran.")


class Monitor(Protocol):
    """What is used of `zeus_apple_silicon.AppleEnergyMonitor`; may raise RuntimeError."""

    def begin_window(self, label: str) -> Any: ...
    def end_window(self, label: str) -> Any: ...


def monitor() -> Monitor | Sentence:
    """The package's monitor, or in a sentence why there is none."""
    if not (sys.platform == "darwin" and platform.machine() == "arm64"):
        return NO_COUNTER
    try:
        return cast(Monitor, import_module("zeus_apple_silicon").AppleEnergyMonitor())
    except ImportError:
        return NOT_INSTALLED
    except Exception as error:
        return say("Apple's energy counters do not respond ({error}).", error=error)


class AppleEnergy:
    """The probe: a reading of each subsystem of the chip, which are never added up."""

    quantity = "energy"

    def __init__(
        self,
        find: Callable[[], Monitor | Sentence] = monitor,
        now: Callable[[], float] = real_time.perf_counter,
    ) -> None:
        self._find = find
        self._now = now
        self._monitor: Monitor | Sentence | None = None
        self._labels = count()

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin; what is returned gives the reading when it is called."""
        if self._monitor is None:
            self._monitor = self._find()
        asked = self._monitor
        if isinstance(asked, str):
            why = asked
            return lambda: [missing(self.quantity, why)]
        label = f"jupyter_mlgpu-{next(self._labels)}"
        asked.begin_window(label)
        begun = self._now()

        def stop() -> Sequence[Reading]:
            seconds = self._now() - begun
            return readings(asked.end_window(label), seconds)

        return stop


def readings(metrics: object, seconds: float) -> list[Reading]:
    """One reading for each subsystem that `AppleEnergyMetrics` tells, of a window of that length."""
    told = [_reading(part, millijoules, seconds) for part, millijoules in _told(metrics)]
    return told or [missing("energy", say("This chip does not report the energy of its parts."))]


def watts(metrics: object, seconds: float) -> dict[str, float]:
    """The mean power of each subsystem over a window, by what people call it."""
    return {PARTS[part][1]: millijoules / 1e3 / seconds for part, millijoules in _told(metrics)}


def _told(metrics: object) -> list[tuple[str, float]]:
    told = [(part, getattr(metrics, part, None)) for part in PARTS]
    return [(part, float(value)) for part, value in told if value is not None]


def _reading(part: str, millijoules: float, seconds: float) -> Reading:
    scope, name = PARTS[part]
    if millijoules < 0:
        return missing("energy", BACKWARDS, scope=scope, source=APPLE, device=name)
    if seconds < SHORTEST:
        return missing("energy", TOO_SHORT, scope=scope, source=APPLE, device=name)
    joules = millijoules / 1e3
    # Its mean power for as long as either end may be late, and the rounding.
    uncertainty = joules * REFRESH / seconds + STEP
    detail = say("Apple's energy model of the {part}: all programs", part=name)
    return Reading(
        "energy", joules, "J", scope, APPLE, 2, uncertainty=uncertainty, device=name, detail=detail
    )
