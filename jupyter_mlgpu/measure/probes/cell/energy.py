"""Energy while a cell runs: from Apple's counters on a Mac, elsewhere from those of GPUs and CPUs."""

from __future__ import annotations

import sys

from jupyter_mlgpu.measure.probes.base import Probe, ProbeInstruments
from jupyter_mlgpu.measure.probes.energy.apple import AppleEnergy
from jupyter_mlgpu.measure.probes.energy.counters import EnergyCounters, find
from jupyter_mlgpu.measure.probes.lazy import Lazy


def probe(instruments: ProbeInstruments) -> Probe:
    """Return the probe for this machine."""
    if sys.platform == "darwin":
        return AppleEnergy()
    return EnergyCounters(instruments.sampler, Lazy(lambda: find(instruments.gpus)))
