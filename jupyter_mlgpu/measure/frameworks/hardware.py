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

# CUDA C++ Programming Guide, "CUDA Environment Variables": GPUs are named by number or by the start of
# their UUID, and of a list only what stands before the first name that is none is visible.
_NAME = re.compile(r"\s*(\d|GPU-|MIG-)")


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


def hidden_by_cuda(framework: str, environ: Mapping[str, str] = os.environ) -> Sentence | None:
    """Whether CUDA_VISIBLE_DEVICES hides every NVIDIA GPU of this machine: a sentence for the user, or None.

    `framework` is written as people write it. The sentence says what to do before the restart.
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
    except (AttributeError, OSError, ValueError):  # this system does not say
        return None
