"""What is measured over a cell: a module for each quantity, called as it is, with a function `probe`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import partial

from jupyter_mlgpu.measure.probes.base import Late, Probe, ProbeInstruments
from jupyter_mlgpu.record.quantities import QUANTITIES


def probes(instruments: ProbeInstruments) -> tuple[Probe, ...]:
    """A probe of each module here, in the order of `QUANTITIES`; it is loaded when the first cell begins.

    Raises ValueError for a module whose quantity is none of those.
    """
    modules = sorted((one.name for one in pkgutil.iter_modules(__path__)), key=list(QUANTITIES).index)
    return tuple(Late(name, partial(_make, name, instruments)) for name in modules)


def _make(name: str, instruments: ProbeInstruments) -> Probe:
    made: Probe = importlib.import_module(f"{__name__}.{name}").probe(instruments)
    return made
