"""Reads graphics hardware and NVIDIA's driver: from the driver, from the PCI bus, and on a Mac.

sysfs: a PCI device's `class` begins with 0x03 for a display controller, `vendor` is PCI's number
(Documentation/ABI/testing/sysfs-bus-pci; 0x10de NVIDIA, 0x1002 AMD, 0x8086 Intel, 0x106b Apple). NVIDIA's
module writes its version to /sys/module/nvidia/version. A Mac: `system_profiler SPDisplaysDataType -json`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from jupyter_mlgpu.explain.doctor.facts import GpuFact, GpuFacts, GpuProcessFact
from jupyter_mlgpu.explain.doctor.gather.tools import fact, run, text_of
from jupyter_mlgpu.explain.doctor.maybe import Maybe, NotKnownError, Unknown
from jupyter_mlgpu.measure.probes import gpus as finding
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.nvml import Nvml, NvmlAnswer
from jupyter_mlgpu.record.sentence import joined, say

_VENDORS = {"0x10de": "nvidia", "0x1002": "amd", "0x8086": "intel", "0x106b": "apple"}
_ROOT = Path("/")
_UNTOLD = Unknown(say("macOS does not report the GPU's memory or processes."))


def read(nvml: Nvml | None = None, root: Path = _ROOT) -> GpuFacts:
    """Return the facts about GPUs; `root` is the root of a Linux file system."""
    if sys.platform == "darwin":
        return _mac()
    nvml = nvml or Nvml()
    found = finding.find(nvml)
    return GpuFacts(
        found=tuple(_nvidia(nvml, one.index) for one in found.gpus),
        on_bus=fact(lambda: on_bus(root)),
        driver=nvml.driver().value,
        cuda=nvml.cuda().value,
        kernel_module=(text_of(root / "sys/module/nvidia/version") or "").strip() or None,
        device_files=fact(lambda: _device_files(root)),
        why_none=None if found.why_none is None else joined(found.why_none),
        metal=None,
    )


def on_bus(root: Path) -> tuple[str, ...] | None:
    """Return the vendors of the display controllers on the PCI bus, in the bus's order."""
    bus = root / "sys/bus/pci/devices"
    if not bus.is_dir():
        return None
    displays = [one for one in sorted(bus.iterdir()) if (text_of(one / "class") or "").startswith("0x03")]
    numbers = [(text_of(one / "vendor") or "").strip() for one in displays]
    return tuple(_VENDORS.get(number, number) for number in numbers)


def from_profiler(text: str) -> tuple[tuple[GpuFact, ...], str | None]:
    """Return the GPUs and the Metal version in system_profiler's JSON."""
    listed = json.loads(text).get("SPDisplaysDataType", [])
    metal = next((one[key] for one in listed for key in _METAL if key in one), None)
    return tuple(_mac_gpu(one) for one in listed), _metal_name(metal)


_METAL = ("spdisplays_mtlgpufamilysupport", "spdisplays_metal")


def _metal_name(entry: str | None) -> str | None:
    # Such as spdisplays_metal3, or `Supported` on older systems.
    return None if entry is None else entry.replace("spdisplays_metal", "Metal ").replace("spdisplays_", "")


def _mac_gpu(entry: dict[str, str]) -> GpuFact:
    vendor = entry.get("spdisplays_vendor", "").lower()
    return GpuFact(
        name=entry.get("sppci_model")
        or entry.get("_name")
        or Unknown(say("system_profiler does not name it.")),
        vendor=next((one for one in ("apple", "amd", "intel", "nvidia") if one in vendor), vendor),
        memory=None if "apple" in vendor else _UNTOLD,
        memory_free=None if "apple" in vendor else _UNTOLD,
        compute_capability=None,
        processes=_UNTOLD,
    )


def _mac() -> GpuFacts:
    answer = fact(lambda: from_profiler(run(["/usr/sbin/system_profiler", "SPDisplaysDataType", "-json"], 4)))
    found, metal = (answer, answer) if isinstance(answer, Unknown) else answer
    return GpuFacts(found, None, None, None, None, "absent", joined(finding.NO_NVIDIA_ON_A_MAC), metal)


def _nvidia(nvml: Nvml, index: int) -> GpuFact:
    memory_answer = nvml.memory(index)
    return GpuFact(
        name=_value(nvml.name(index)),
        vendor="nvidia",
        memory=_unknown(memory_answer) if memory_answer.value is None else memory_answer.value.total,
        memory_free=_unknown(memory_answer) if memory_answer.value is None else memory_answer.value.free,
        compute_capability=_value(nvml.compute_capability(index)),
        processes=fact(lambda: _processes(nvml, index)),
    )


def _processes(nvml: Nvml, index: int) -> tuple[GpuProcessFact, ...]:
    listed = nvml.processes(index)
    if listed.value is None:
        raise NotKnownError(_unknown(listed))
    named = memory.sees_the_machines_processes()
    unknown = Unknown(say("The driver does not report memory per process here."))
    return tuple(
        GpuProcessFact(
            memory.program(one.pid) if named else "not seen from here",
            unknown if one.used is None else one.used,
            one.pid == os.getpid(),
        )
        for one in listed.value
    )


def _value(answer: NvmlAnswer[str]) -> Maybe[str]:
    return _unknown(answer) if answer.value is None else answer.value


def _unknown(answer: NvmlAnswer[Any]) -> Unknown:
    return Unknown(joined(answer.why_missing or ""))


def _device_files(root: Path) -> str:
    device = root / "dev/nvidia0"
    # Under WSL 2 the driver uses this device file instead.
    device = device if device.exists() else root / "dev/dxg"
    if not device.exists():
        return "absent"
    return "there" if os.access(device, os.R_OK | os.W_OK) else "denied"
