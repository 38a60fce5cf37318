"""Reads the facts about the computer: system, processor, memory, and the limits of its control group.

macOS is queried with its own commands: `sw_vers` (version), `sysctl` (`hw.optional.arm64` is 1 on Apple
silicon, also for a translated process; `machdep.cpu.brand_string`), `pmset -g` (`lowpowermode 1`) and
`csrutil status`; see their manual pages.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import MachineFacts
from jupyter_mlgpu.explain.doctor.gather.tools import fact, run, text_of
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.record.sentence import say

_FEATURES = ("avx", "avx2", "avx512f", "fma", "sse4_2")
_ROOT = Path("/")


def read(root: Path = _ROOT) -> MachineFacts:
    """Return the facts about the machine; `root` is the root of a Linux file system."""
    mac = sys.platform == "darwin"
    limit = fact(lambda: memory.container(memory.machine().total, root))
    return MachineFacts(
        system=platform.system(),
        release=platform.release(),
        macos=fact(_macos) if mac else None,
        architecture=fact(_hardware) if mac else platform.machine(),
        processor=fact(lambda: _sysctl("machdep.cpu.brand_string"))
        if mac
        else fact(lambda: _cpuinfo(root, "model name")),
        cpu_features=() if mac else fact(lambda: _features(root)),
        cores=fact(_cores),
        usable_cores=fact(_usable),
        cpu_limit=None if mac else fact(lambda: cpu_limit(root)),
        memory=fact(lambda: memory.machine().total),
        memory_available=fact(lambda: memory.machine().free),
        memory_limit=limit.total if isinstance(limit, memory.Memory) else limit,
        memory_limit_used=limit.used if isinstance(limit, memory.Memory) else limit,
        container=False if mac else fact(lambda: _container(root)),
        low_power=fact(_mac_low_power) if mac else fact(lambda: _low_power(root)),
        protected=fact(_protected) if mac else None,
    )


def cpu_limit(root: Path) -> float | None:
    """Return the lowest limit of this process's control groups, in processors; None without one.

    cgroup v2: `cpu.max` holds quota and period; v1: cpu.cfs_quota_us and cpu.cfs_period_us (the kernel's
    Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst).
    """
    limits = []
    for line in (text_of(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, files = root / "sys/fs/cgroup", ["cpu.max"]
        elif "cpu" in controllers.split(","):
            top, files = root / "sys/fs/cgroup/cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        own = top / path.strip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(top):
                words = " ".join(text_of(folder / name) or "" for name in files).split()
                if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
                    limits.append(int(words[0]) / int(words[1]))
    return min(limits, default=None)


def _macos() -> str:
    # SYSTEM_VERSION_COMPAT would change the answer. The check `system_version_compat` reports it.
    return run(["/usr/bin/sw_vers", "-productVersion"], SYSTEM_VERSION_COMPAT=None).strip()


def _hardware() -> str:
    if platform.machine() == "arm64":
        return "arm64"
    try:
        return "arm64" if _sysctl("hw.optional.arm64") == "1" else platform.machine()
    except Exception:  # the name does not exist on an Intel Mac
        return platform.machine()


def _sysctl(name: str) -> str:
    return run(["/usr/sbin/sysctl", "-n", name]).strip()


def _features(root: Path) -> tuple[str, ...]:
    flags = (_cpuinfo(root, "flags") or "").split()
    return tuple(name for name in _FEATURES if name in flags)


def _cpuinfo(root: Path, name: str) -> str | None:
    lines = (line.partition(":") for line in (text_of(root / "proc/cpuinfo") or "").splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == name), None)


def _cores() -> int:
    count = os.cpu_count()
    if count is None:
        raise OSError(say("the system does not report the count"))
    return count


def _usable() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return _cores()


def _container(root: Path) -> bool:
    # Files that Docker and Podman create. Kubernetes sets the variable in its pods.
    marks = (root / ".dockerenv", root / "run/.containerenv")
    return any(mark.exists() for mark in marks) or "KUBERNETES_SERVICE_HOST" in os.environ


def _mac_low_power() -> bool:
    words = run(["/usr/bin/pmset", "-g"]).split()
    return "lowpowermode" in words and words[words.index("lowpowermode") + 1] == "1"


def _low_power(root: Path) -> bool:
    # The kernel's Documentation/ABI/testing/sysfs-platform_profile.
    return (text_of(root / "sys/firmware/acpi/platform_profile") or "").strip() == "low-power"


def _protected() -> bool:
    return "enabled" in run(["/usr/bin/csrutil", "status"])
