"""Functions on facts that several checks share: NVIDIA's GPUs, their driver, and CUDA builds."""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.doctor.facts import Facts, GpuFact, Package
from jupyter_mlgpu.explain.doctor.maybe import NotKnownError, Unknown, known, known_or
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import say

#: Major version of CUDA to the oldest Linux driver that supports it. Source: NVIDIA's "CUDA Compatibility",
#: table "Minor version compatibility".
OLDEST_DRIVER = {11: "450.80.02", 12: "525.60.13", 13: "580.65.06"}

_VISIBLE = "CUDA_VISIBLE_DEVICES"


def gpus(facts: Facts) -> tuple[GpuFact, ...]:
    """Return the GPUs that NVIDIA's driver lists."""
    return tuple(one for one in known(facts.gpus.found) if known_or(one.vendor, "") == "nvidia")


def on_bus(facts: Facts) -> int:
    """Return the number of NVIDIA's display devices on the PCI bus, with or without a driver."""
    return (known_or(facts.gpus.on_bus, None) or ()).count("nvidia")


def count(facts: Facts) -> int:
    """Return the number of NVIDIA GPUs that the driver lists, or if it lists none, of those on the bus."""
    return len(gpus(facts)) or on_bus(facts)


def require_gpu(facts: Facts) -> int:
    """Return the number of GPUs; raises NotKnownError, which skips the check, if there is none."""
    found = count(facts)
    if not found:
        raise NotKnownError(Unknown(say("No NVIDIA GPU was found.")))
    return found


def major(version: str) -> int:
    """Return the first number of a version, such as 13 of `13.0`; 0 if there is no number."""
    return (*release(version), 0)[0]


def cuda_of(facts: Facts, framework: str) -> str | None:
    """Return the CUDA version that a framework was built with; None without CUDA, or if it is not known."""
    build = known_or(facts.builds, {}).get(framework)
    return None if build is None else known_or(build.cuda, None)


def driver_is_too_old(facts: Facts, cuda: str) -> bool:
    """Return True if the driver supports only an older major version of CUDA than a build needs."""
    supported = known_or(facts.gpus.cuda, None)
    return supported is not None and major(supported) < major(cuda)


def hiding(facts: Facts) -> str | None:
    """Return the value of CUDA_VISIBLE_DEVICES if it hides every GPU, else None.

    CUDA takes the devices of the list up to the first that does not exist (CUDA C++ Programming Guide, "CUDA
    Environment Variables"), so the first entry decides.
    """
    value = known_or(facts.environment.variables, {}).get(_VISIBLE)
    if value is None:
        return None
    first = value.split(",")[0].strip()
    if re.fullmatch(r"\d+", first):
        return None if int(first) < count(facts) else value
    return None if first.startswith(("GPU-", "MIG-")) else value


def built_for(capability: str, cuda: str) -> bool:
    """Return True if PyTorch's builds for a CUDA version support GPUs of a compute capability.

    Source: the support matrix in pytorch/pytorch#172352 and RELEASE.md there: CUDA 12.6 serves 5.0 to 9.0,
    12.8 begins at 7.0 (PyTorch 2.8) or 7.5 (2.11) and adds 10.0 and 12.0, 13.0 begins at 7.5.
    """
    gpu, build = release(capability), release(cuda)
    if build < (12, 8):
        return gpu < (10,)
    return gpu >= ((7, 5) if build >= (13,) else (7,))


def pins(package: Package) -> dict[str, str]:
    """Return the CUDA wheels that a framework requires in an exact version, by name."""
    found = (re.fullmatch(r"(nvidia-[\w-]+)==([\d.]+)", one) for one in known_or(package.requires, ()))
    return {match[1]: match[2] for match in found if match}
