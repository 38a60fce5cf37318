"""Evidence of where a cell ran from the values that its code names.

PyTorch and JAX compute where values are, and report no operations. Values alone prove no work, so the caller
says which frameworks are known to have worked.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.measure.frameworks import evidence
from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Observed
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue
from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.record.sentence import Sentence


class Places(Struct, frozen=True):
    """The devices of a cell, and notes on models left on the CPU."""

    device: DeviceUse
    notes: tuple[Sentence, ...] = ()


def with_values(
    device: DeviceUse,
    placed_by: Mapping[str, Sequence[PlacedValue]],
    backends: Sequence[Backend],
    observed: Mapping[str, Observed],
    worked: Container[str],
) -> Places:
    """Return the devices with the evidence of the user's values that the cell's code names.

    `placed_by` are these values by framework, `observed` the observations of the cell, and `worked` the
    frameworks that computed in it. Nothing is added for a framework whose devices are known, or that has only
    one.
    """
    known = {entry.framework for entry in device.ran_on or ()} | set(device.only)
    found: list[RanOn] = []
    notes: list[Sentence | None] = []
    for backend in backends:
        observation = observed.get(backend.name)
        if backend.name in known or backend.name not in worked or observation is None:
            continue
        devices = backend.devices()
        if observation.ran_on is not None or len(devices) < 2:
            continue
        placed = placed_by.get(backend.name, ())
        used = {name for value in placed for name in value.parts}
        entry = _entry(devices, used, observation.default)
        if entry is not None:
            found.append(entry)
            if entry.kind == "cpu":
                notes.append(backend.left_on_cpu_note(placed))
    if not found:
        return Places(device)
    return Places(
        replace(device, ran_on=(*(device.ran_on or ()), *found)), tuple(note for note in notes if note)
    )


def _entry(devices: Sequence[Device], used: set[str], default: str | None) -> RanOn | None:
    """Return evidence for the device that holds all values; without values, for the default device."""
    if not used:
        device = next((one for one in devices if one.name == default), None)
        return None if device is None else evidence.default_device(device)
    on = [one for one in devices if one.name in used]
    return evidence.values(on[0]) if len(on) == 1 else None
