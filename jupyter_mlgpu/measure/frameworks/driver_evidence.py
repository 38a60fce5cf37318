"""Evidence from a Mac's GPU time: it can prove that a framework used the GPU which does not report it itself.

GPU time is counted for the whole process. It proves something about a framework only if no other framework
can have caused it. A count that did not grow proves nothing, because it is coarse. A count proves more than a
default device, to which operations need not go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from jupyter_mlgpu.measure.frameworks import evidence, registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Observed
from jupyter_mlgpu.record.reading import IOREGISTRY, Reading
from jupyter_mlgpu.record.record import Evidence
from jupyter_mlgpu.record.sentence import joined, say

#: The kind of device whose GPU time is counted.
_METAL = "metal"
#: Evidence that a count of GPU time adds to, or replaces.
_WEAKER: Evidence = "default device"


def with_driver_evidence(
    observed: Mapping[str, Observed], backends: Mapping[str, Backend], readings: Sequence[Reading]
) -> dict[str, Observed]:
    """Return the observations by framework, with what the readings of GPU time prove."""
    found = dict(observed)
    times = {one.device: one.value for one in readings if one.source == IOREGISTRY and one.value}
    entries = [entry for one in observed.values() for entry in one.ran_on or ()]
    if any(entry.kind == _METAL and entry.evidence != _WEAKER for entry in entries):
        return found  # a framework has already reported this work
    able = {
        name: device
        for name, one in observed.items()
        if _may_have_run_elsewhere(one) and (device := _metal_device(backends.get(name))) is not None
    }
    # With several GPUs it is not known which of them the frameworks use.
    able = {name: device for name, device in able.items() if device.name in times and len(times) == 1}
    if len(able) == 1:
        ((name, device),) = able.items()
        others = [entry for entry in observed[name].ran_on or () if entry.device != device.name]
        found[name] = replace(observed[name], ran_on=(*others, evidence.driver(device)))
    elif able:
        first = next(iter(able))
        names = ", ".join(map(registry.title, able))
        note = say("The GPU worked for this process; which of {names} used it is not known.", names=names)
        reasons = filter(None, (observed[first].why_missing, note))
        found[first] = replace(observed[first], why_missing=joined(*reasons))
    return found


def _may_have_run_elsewhere(observed: Observed) -> bool:
    """Return True if it is not known where the framework worked, or only what its default device was."""
    ran_on = observed.ran_on
    return ran_on is None or (len(ran_on) > 0 and all(entry.evidence == _WEAKER for entry in ran_on))


def _metal_device(backend: Backend | None) -> Device | None:
    """Return the framework's only GPU, if it is the Mac's."""
    gpus = [one for one in backend.devices() if one.kind != "cpu"] if backend is not None else []
    return gpus[0] if len(gpus) == 1 and gpus[0].kind == _METAL else None
