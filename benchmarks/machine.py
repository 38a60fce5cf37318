"""Where a figure was measured: without this it says nothing."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata


def describe(packages: Sequence[str]) -> dict[str, str]:
    """The machine and the versions of `packages`, name -> words; holds no host or user name."""
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "platform": platform.platform(),
        "processor": _processor(),
        "logical CPUs": _cpus(),
        "load average, last minute": load(),
        "python": platform.python_version(),
    }
    return facts | {package: _version(package) for package in packages}


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:  # not Linux
        names = []
    return names[0] if names else platform.processor() or "not known: the platform does not tell"


def _cpus() -> str:
    total = os.cpu_count()
    if hasattr(os, "sched_getaffinity"):
        return f"{len(os.sched_getaffinity(0))} usable of {total}"
    return str(total)


def load() -> str:
    """The load average of the last minute."""
    try:
        return f"{os.getloadavg()[0]:.2f}"
    except (AttributeError, OSError):
        return "not known: the platform does not tell"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed as a package"
