"""The energy model of Apple silicon by subsystem, through the package zeus-apple-silicon, without sudo.

Written from the package's documentation (version 1.1): `AppleEnergyMonitor.begin_window(label)` and
`end_window(label)` return an `AppleEnergyMetrics` in millijoules, with None for what this chip does not
report. Windows of different labels may overlap. The figures are Apple's model (IOReport, group "Energy
Model"), of all programs. Their update interval is not documented. Windows under 10 ms are said to be poor, so
each end is taken to be uncertain by 5 ms. Not yet run on a Mac.
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

#: Seconds by which a figure may be late, and the shortest cell whose energy is then known to within 10 %.
REFRESH = 0.010
SHORTEST = 10 * REFRESH
#: Figures are whole millijoules.
STEP = 1e-3

#: The fields that are read, with their scope and a name for people.
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
    """The methods used of `zeus_apple_silicon.AppleEnergyMonitor`; they may raise RuntimeError."""

    def begin_window(self, label: str) -> Any: ...
    def end_window(self, label: str) -> Any: ...


def monitor() -> Monitor | Sentence:
    """Return the package's monitor, or a sentence why there is none."""
    if not (sys.platform == "darwin" and platform.machine() == "arm64"):
        return NO_COUNTER
    try:
        return cast(Monitor, import_module("zeus_apple_silicon").AppleEnergyMonitor())
    except ImportError:
        return NOT_INSTALLED
    except Exception as error:
        return say("Apple's energy counters do not respond ({error}).", error=error)


class AppleEnergy:
    """The probe: a reading for each subsystem of the chip. They are never added up."""

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
        """Begin. Returns a function that ends the measurement and returns the readings."""
        if self._monitor is None:
            self._monitor = self._find()
        found = self._monitor
        if isinstance(found, str):
            why = found
            return lambda: [missing(self.quantity, why)]
        label = f"jupyter_mlgpu-{next(self._labels)}"
        found.begin_window(label)
        begun = self._now()

        def stop() -> Sequence[Reading]:
            seconds = self._now() - begun
            return readings(found.end_window(label), seconds)

        return stop


def readings(metrics: object, seconds: float) -> list[Reading]:
    """Return a reading for each subsystem in an `AppleEnergyMetrics`, of a window of `seconds`."""
    of_parts = [_reading(part, millijoules, seconds) for part, millijoules in _energies(metrics)]
    return of_parts or [missing("energy", say("This chip does not report the energy of its parts."))]


def watts(metrics: object, seconds: float) -> dict[str, float]:
    """Return the mean power of each subsystem over a window, by its name for people."""
    return {PARTS[part][1]: millijoules / 1e3 / seconds for part, millijoules in _energies(metrics)}


def _energies(metrics: object) -> list[tuple[str, float]]:
    values = [(part, getattr(metrics, part, None)) for part in PARTS]
    return [(part, float(value)) for part, value in values if value is not None]


def _reading(part: str, millijoules: float, seconds: float) -> Reading:
    scope, name = PARTS[part]
    if millijoules < 0:
        return missing("energy", BACKWARDS, scope=scope, source=APPLE, device=name)
    if seconds < SHORTEST:
        return missing("energy", TOO_SHORT, scope=scope, source=APPLE, device=name)
    joules = millijoules / 1e3
    # The mean power for as long as either end may be late, and the rounding.
    uncertainty = joules * REFRESH / seconds + STEP
    detail = say("Apple's energy model of the {part}: all programs", part=name)
    return Reading(
        "energy", joules, "J", scope, APPLE, 2, uncertainty=uncertainty, device=name, detail=detail
    )
