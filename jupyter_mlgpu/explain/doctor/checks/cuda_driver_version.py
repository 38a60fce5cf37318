"""A build for CUDA 13 needs a driver that serves CUDA 13; a newer driver serves older builds, too.

Sources: weaviate/Verba#72 and pytorch/pytorch#1564 ("The NVIDIA driver on your system is too old"); NVIDIA's
"CUDA Compatibility" for the versions.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, comment
from jupyter_mlgpu.record.sentence import say

TITLE = say("The NVIDIA driver is new enough for the frameworks")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a framework's CUDA has a later major version than the driver supports."""
    supported = known(facts.gpus.cuda)
    if supported is None:
        return Skipped(say("No NVIDIA driver responds."))
    unsupported = {
        name: cuda
        for name in sorted(known(facts.builds))
        if (cuda := nvidia.cuda_of(facts, name)) and nvidia.driver_is_too_old(facts, cuda)
    }
    driver = known_or(facts.gpus.driver, None) or "?"
    if not unsupported:
        return Fine(say("Driver {driver} supports CUDA {cuda}.", driver=driver, cuda=supported))
    newest = max(map(nvidia.major, unsupported.values()))
    wanted = nvidia.OLDEST_DRIVER.get(newest, f"for CUDA {newest}")
    return Finding(
        title=say("The NVIDIA driver is too old for a framework, which falls back to the CPU."),
        evidence=(
            say(
                "Driver {driver} supports CUDA {cuda}; built for a later version: {names}.",
                driver=driver,
                cuda=supported,
                names=", ".join(f"{name} (CUDA {cuda})" for name, cuda in unsupported.items()),
            )
        ),
        remedy=comment(f"The driver {wanted} or a newer one; on Ubuntu:")
        + as_written("sudo ubuntu-drivers install\nsudo reboot"),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
