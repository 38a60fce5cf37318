"""After an update the driver's library is new and the kernel's module still the old one, until a restart.

Sources: oddmario/NVIDIA-Ubuntu-Driver-Guide#4, lyulyul/shine-cluster#30 ("Driver/library version mismatch").
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.remedies import as_written
from jupyter_mlgpu.doctor.versions import release

ID = "driver-half-updated"
TITLE = "The parts of NVIDIA's driver are of one version"


def judge(facts: Facts) -> Verdict:
    """A finding where the loaded module's version differs from the library's."""
    module = known(facts.gpus.kernel_module)
    if module is None:
        return Skipped("No module of NVIDIA's is loaded.")
    driver, reason = known_or(facts.gpus.driver, None), known_or(facts.gpus.why_none, None) or ""
    # A container may bring a newer libcuda on purpose (CUDA's forward compatibility), so NVML is asked.
    if "version mismatch" not in reason.lower() and (driver is None or release(driver) == release(module)):
        return Fine(f"The driver is {module}.")
    return Finding(
        title="NVIDIA's driver was updated and the machine not restarted since.",
        evidence=f"The loaded module is {module}. {f'The library is {driver}.' if driver else reason}",
        remedy=as_written("sudo reboot"),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
