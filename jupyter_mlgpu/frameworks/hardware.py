"""Names, memory and drivers of the hardware, read without starting a framework or a CUDA context."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jupyter_mlgpu.frameworks.base import Details
from jupyter_mlgpu.probes.nvml import Nvml


@cache
def cpu() -> Details:
    """The processor's name and the machine's memory."""
    return Details(_cpu_name(), _memory())


def nvidia(device: str) -> Details:
    """The NVIDIA GPU behind a framework's `gpu:0`, as far as it can be told.

    NVML counts all GPUs, and in an order of its own; a framework counts those it may see. So where the GPUs
    of a machine differ, only the driver is told.
    """
    return any_of(_nvidia_gpus())


@cache
def _nvidia_gpus() -> tuple[Details, ...]:
    return nvidia_gpus(Nvml())


def nvidia_gpus(nvml: Nvml) -> tuple[Details, ...]:
    """Every NVIDIA GPU of the machine, as the driver tells them; empty where no driver answers."""
    version = nvml.driver().value
    driver = None if version is None else f"NVIDIA driver {version}"
    memories = [nvml.memory(index).value for index in range(nvml.count().value or 0)]
    return tuple(
        Details(nvml.name(index).value, None if memory is None else memory.total, driver)
        for index, memory in enumerate(memories)
    )


def any_of(gpus: Sequence[Details]) -> Details:
    """What is true of whichever of these GPUs is meant."""
    if not gpus:
        return Details()
    same = all(one == gpus[0] for one in gpus)
    return gpus[0] if same else Details(driver=gpus[0].driver)


def _cpu_name() -> str | None:
    if sys.platform == "linux":
        try:
            for line in Path("/proc/cpuinfo").read_text().splitlines():
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
        except OSError:
            return platform.machine() or None
    if sys.platform == "darwin":
        try:
            command = ("sysctl", "-n", "machdep.cpu.brand_string")
            done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
            return done.stdout.strip() or None
        except (OSError, subprocess.SubprocessError):
            return platform.machine() or None
    return platform.machine() or None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # this system does not say
        return None
