"""The energy counters of CPU packages on Linux (RAPL, running average power limit).

Each counts in microjoules and restarts from 0 at max_energy_range_uj (the kernel's
Documentation/power/powercap/powercap.rst). It is refreshed about every millisecond (Intel's Software
Developer's Manual, volume 3, "RAPL interfaces"). The packages are the zones of the top level whose name is
package-N. Core, uncore and dram lie inside them, and psys holds them all: none of those is added. Since Linux
5.10 only the administrator may read the files, unless a site opens them.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from jupyter_mlgpu.measure.probes.energy.source import EnergySource
from jupyter_mlgpu.measure.probes.nvml import NvmlAnswer
from jupyter_mlgpu.record.sentence import say, say_count

_POWERCAP = Path("sys/class/powercap")

LOCKED = say("Only an administrator can read the processor's energy counter (RAPL) here.")


class RaplCounter(Struct, frozen=True):
    """The counter of one CPU package."""

    file: Path
    wraps_at: float | None
    refresh: float = 0.001

    def joules(self) -> NvmlAnswer[float]:
        """Return the counter's value in joules."""
        try:
            return NvmlAnswer(int(self.file.read_text()) / 1e6)
        except (OSError, ValueError) as error:
            return NvmlAnswer(
                None, say("The processor's energy counter can no longer be read ({error}).", error=error)
            )

    def watts(self) -> float | None:
        """Return the power now in watts: always None, since there is no gauge."""
        return None


def sources(root: Path = Path("/")) -> tuple[list[EnergySource], str | None]:
    """Return one source for all CPU packages, or the reason for having none. `root` is the file system.

    There is no reason to give if the system has no such counter at all, as most virtual machines.
    """
    packages = sorted(zone for zone in (root / _POWERCAP).glob("intel-rapl:*") if _is_package(zone))
    if not packages:
        return [], None
    counters = []
    for zone in packages:
        try:
            wraps_at = int((zone / "max_energy_range_uj").read_text()) / 1e6
        except (OSError, ValueError):
            return [], None
        counter = RaplCounter(zone / "energy_uj", wraps_at)
        if counter.joules().value is None:
            return [], LOCKED
        counters.append(counter)
    what = say_count("processor package", "{count} processor packages", len(counters))
    name = say("RAPL energy_uj of {what}: all programs", what=what)
    # Sampled so often that no restart from 0 is missed: at 1 kW the smallest known range, 65 kJ, lasts 1 min.
    return [EnergySource(name, "RAPL", None, "machine", tuple(counters), every=10, quick=True)], None


def _is_package(zone: Path) -> bool:
    """Return True if a zone is a whole CPU package."""
    try:
        return (zone / "name").read_text().startswith("package-")
    except OSError:
        return False
