"""What proves that a device worked for a cell, where operations are not counted (adr/0010)."""

from __future__ import annotations

from jupyter_mlgpu.frameworks import registry
from jupyter_mlgpu.frameworks.base import Device
from jupyter_mlgpu.record import Evidence, RanOn


def only_device(device: Device) -> RanOn:
    """The framework has worked, and could do so nowhere else."""
    why = f"Operations are not counted; {registry.title(device.framework)} could run them nowhere else."
    return _ran_on(device, "only device", why)


def allocator(device: Device, times: int) -> RanOn:
    """The framework's allocator of a GPU has given out memory; `torch.empty` does so and runs nothing."""
    given = f"memory was given out here {times:,} time{'s' if times != 1 else ''}"
    why = f"Operations are not counted; {given}. More may have run elsewhere."
    return _ran_on(device, "allocator", why)


def results(device: Device, count: int) -> RanOn:
    """Arrays that the cell made are there, and what made them ran there, or copied them there."""
    there = f"{count:,} new array{'s are' if count != 1 else ' is'} here"
    why = f"Operations are not counted; {there}. More may have run elsewhere."
    return _ran_on(device, "results", why)


def may_have_run(device: Device) -> str:
    """For a cell in which it is not known whether the framework worked at all."""
    return f"Whatever {registry.title(device.framework)} ran, if anything, ran on {device.name}."


def _ran_on(device: Device, evidence: Evidence, why: str) -> RanOn:
    return RanOn(device.framework, device.name, device.kind, device.native_name, None, None, why, evidence)
