"""Names, memory and drivers of the hardware, read without starting a framework or a CUDA context."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jupyter_mlgpu.measure.frameworks.base import Details
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.record.sentence import Sentence, say

_VARIABLE = "CUDA_VISIBLE_DEVICES"

# CUDA C++ Programming Guide, "CUDA Environment Variables": GPUs are named by number or by the start of their
# UUID. Only those before the first invalid name in the list are visible.
_NAME = re.compile(r"\s*(\d|GPU-|MIG-)")


@cache
def cpu() -> Details:
    """Return the processor's name and the machine's memory in bytes."""
    return Details(_cpu_name(), _memory())


def nvidia(device: str) -> Details:
    """Return what is known of the NVIDIA GPU behind a framework's `gpu:0`.

    NVML lists all GPUs in its own order; a framework numbers those that are visible to it. If the GPUs of a
    machine differ, only the driver is returned.
    """
    return common_details(_nvidia_gpus())


@cache
def _nvidia_gpus() -> tuple[Details, ...]:
    return nvidia_gpus(Nvml())


def nvidia_gpus(nvml: Nvml) -> tuple[Details, ...]:
    """Return the details of every NVIDIA GPU in NVML's order; empty without a driver."""
    version = nvml.driver().value
    driver = None if version is None else f"NVIDIA driver {version}"
    memories = [nvml.memory(index).value for index in range(nvml.count().value or 0)]
    return tuple(
        Details(nvml.name(index).value, None if memory is None else memory.total, driver)
        for index, memory in enumerate(memories)
    )


def common_details(gpus: Sequence[Details]) -> Details:
    """Return the details that all these GPUs share."""
    if not gpus:
        return Details()
    same = all(one == gpus[0] for one in gpus)
    return gpus[0] if same else Details(driver=gpus[0].driver)


def hidden_by_cuda(framework: str, environ: Mapping[str, str] = os.environ) -> Sentence | None:
    """Return a sentence if CUDA_VISIBLE_DEVICES hides every NVIDIA GPU of this machine, else None.

    `framework` is the title. The sentence says what to do before the restart.
    """
    value = environ.get(_VARIABLE)
    if value is None or _NAME.match(value) or nvidia("gpu:0").driver is None:
        return None
    return say(
        "{name}={value} hides this machine's NVIDIA GPU from {framework}, and CUDA reads it "
        "only once: first remove it from the cell that sets it, or from the environment in "
        "which Jupyter was started.",
        name=_VARIABLE,
        value=repr(value),
        framework=framework,
    )


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
    except (AttributeError, OSError, ValueError):  # not available on this system
        return None
