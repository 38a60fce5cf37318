"""After an update the driver's library is new and the kernel's module still the old one, until a restart.

Sources: oddmario/NVIDIA-Ubuntu-Driver-Guide#4, lyulyul/shine-cluster#30 ("Driver/library version mismatch").
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.versions import release

ID = "driver-half-updated"
TITLE = "The parts of NVIDIA's driver are of one version"


def judge(facts: Facts) -> Verdict:
    """A finding where the loaded module's version differs from the library's."""
    module = known(facts.gpus.kernel_module)
    if module is None:
        return Skipped("No module of NVIDIA's is loaded.")
    if known_or(facts.machine.container, False):
        return Skipped("In a container the driver's library comes from outside.")
    libcuda = [known_or(one.version, None) for one in known_or(facts.libraries, ()) if one.name == "libcuda"]
    told = [known_or(facts.gpus.driver, None), *libcuda]
    others = [one for one in told if one and one.count(".") >= 1 and release(one) != release(module)]
    if not others:
        return Fine(f"The driver is {module}.")
    return Finding(
        title="NVIDIA's driver was updated and the machine not restarted since.",
        evidence=f"The loaded module is {module}, the driver's library {others[0]}.",
        remedy="sudo reboot",
        confidence="sure",
        cause=Cause.DRIVERS,
    )
