"""After an update of the driver, its library is new, but the kernel module stays the old one until a restart.

Sources: oddmario/NVIDIA-Ubuntu-Driver-Guide#4, lyulyul/shine-cluster#30 ("Driver/library version mismatch").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("All parts of the NVIDIA driver have the same version")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the loaded module's version differs from the library's."""
    module = known(facts.gpus.kernel_module)
    if module is None:
        return Skipped(say("No NVIDIA kernel module is loaded."))
    driver, reason = known_or(facts.gpus.driver, None), known_or(facts.gpus.why_none, None) or ""
    # A container may contain a newer libcuda on purpose (CUDA's forward compatibility), so NVML decides.
    if "version mismatch" not in reason.lower() and (driver is None or release(driver) == release(module)):
        return Fine(say("The driver version is {version}.", version=module))
    return Finding(
        title=say("The NVIDIA driver was updated, but the machine has not been restarted since."),
        evidence=joined(
            say("The loaded kernel module is version {version}.", version=module),
            say("The library is version {version}.", version=driver) if driver else reason,
        ),
        remedy=as_written("sudo reboot"),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
