"""Measurements over a cell: a module for each quantity, named after it, with a function `probe`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import partial

from jupyter_mlgpu.measure.probes.base import DeferredProbe, Probe, ProbeInstruments
from jupyter_mlgpu.record.quantities import QUANTITIES


def probes(instruments: ProbeInstruments) -> tuple[Probe, ...]:
    """Return a probe for each module here, in the order of `QUANTITIES`; see `DeferredProbe`.

    Raises ValueError for a module that is not named after a quantity.
    """
    modules = sorted((module.name for module in pkgutil.iter_modules(__path__)), key=list(QUANTITIES).index)
    return tuple(DeferredProbe(name, partial(_make, name, instruments)) for name in modules)


def _make(name: str, instruments: ProbeInstruments) -> Probe:
    probe: Probe = importlib.import_module(f"{__name__}.{name}").probe(instruments)
    return probe
