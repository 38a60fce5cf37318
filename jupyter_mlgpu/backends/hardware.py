"""Names, memory and drivers of the hardware, read without starting a framework or a CUDA context."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

from jupyter_mlgpu.backends.base import Details

_QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits")


@cache
def cpu() -> Details:
    """The processor's name and the machine's memory."""
    return Details(_cpu_name(), _memory())


def nvidia(device: str) -> Details:
    """The NVIDIA GPU behind a framework's `gpu:0`, as far as it can be told.

    nvidia-smi counts all GPUs, and in an order of its own; a framework counts those it may see. So where
    the GPUs of a machine differ, only the driver is told.
    """
    found = _nvidia_gpus()
    if not found:
        return Details()
    same = all(one == found[0] for one in found)
    return found[0] if same else Details(driver=found[0].driver)


@cache
def _nvidia_gpus() -> tuple[Details, ...]:
    try:
        done = subprocess.run(_QUERY, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):  # no driver, or one that does not answer
        return ()
    return tuple(filter(None, map(parse_nvidia_line, done.stdout.splitlines())))


def parse_nvidia_line(line: str) -> Details | None:
    """`NVIDIA H200, 143771, 580.159.04` as details; None for a line of another form."""
    parts = [part.strip() for part in line.rsplit(",", 2)]
    if len(parts) != 3:
        return None
    memory = int(parts[1]) * 1024**2 if parts[1].isdecimal() else None
    return Details(parts[0], memory, f"NVIDIA driver {parts[2]}")


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
