"""Evidence that a device worked for a cell, for frameworks that do not count operations (adr/0010)."""

from __future__ import annotations

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.record import Evidence, RanOn
from jupyter_mlgpu.record.sentence import Sentence, say, say_count


def only_device(device: Device) -> RanOn:
    """Return evidence of work by a framework that has only this device."""
    title = registry.title(device.framework)
    why = say("Operations are not counted; {framework} could not run them anywhere else.", framework=title)
    return _ran_on(device, "only device", why)


def allocator(device: Device, times: int) -> RanOn:
    """Return evidence from allocations on a GPU. They are weak: `torch.empty` allocates and runs nothing."""
    given = say_count(
        "memory was allocated here {count} time", "memory was allocated here {count} times", times
    )
    why = say("Operations are not counted; {given}. More may have run elsewhere.", given=given)
    return _ran_on(device, "allocator", why)


def more_memory(device: Device) -> RanOn:
    """Return evidence from memory that grew on a GPU whose allocations are not counted."""
    given = say("the framework holds more memory here than before")
    why = say("Operations are not counted; {given}. More may have run elsewhere.", given=given)
    return _ran_on(device, "allocator", why)


def results(device: Device, count: int) -> RanOn:
    """Return evidence from new arrays on a device: they were computed there, or copied to it."""
    there = say_count("{count} new array lives here", "{count} new arrays live here", count)
    why = say("Operations are not counted; {there}. More may have run elsewhere.", there=there)
    return _ran_on(device, "results", why)


def driver(device: Device) -> RanOn:
    """Return evidence from GPU time that the driver counted for this process.

    The caller makes sure that no other loaded framework can use that GPU.
    """
    title = registry.title(device.framework)
    why = say(
        "Operations are not counted; the driver counted GPU time for this process, in which only "
        "{framework} can use this GPU. More may have run elsewhere.",
        framework=title,
    )
    return _ran_on(device, "driver", why)


def values(device: Device) -> RanOn:
    """Return evidence from the values that the cell names: the framework computes where they are.

    A name is not a computation: the caller makes sure that nothing speaks against work on this device.
    """
    title = registry.title(device.framework)
    why = say(
        "Operations are not counted; the values that the cell names are here, and {framework} computes where "
        "they are. More may have run elsewhere.",
        framework=title,
    )
    return _ran_on(device, "values", why)


def default_device(device: Device) -> RanOn:
    """Return evidence from the default device of a framework that worked; the caller makes sure of both."""
    title = registry.title(device.framework)
    why = say(
        "Operations are not counted; this was {framework}'s default device. Operations that were given "
        "another one ran there.",
        framework=title,
    )
    return _ran_on(device, "default device", why)


def may_have_run(device: Device) -> Sentence:
    """Return a sentence for a cell in which it is not known whether the framework worked at all."""
    title = registry.title(device.framework)
    return say("If {framework} ran anything, it ran on {device}.", framework=title, device=device.name)


def _ran_on(device: Device, evidence: Evidence, why: Sentence) -> RanOn:
    return RanOn(device.framework, device.name, device.kind, device.native_name, None, None, why, evidence)
