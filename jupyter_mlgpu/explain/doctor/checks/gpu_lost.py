"""If the driver is loaded but lists no GPU, it has lost the GPU, or could not start it.

Sources: NVIDIA/nvidia-docker#933 and NVIDIA/open-gpu-kernel-modules#862 ("No devices were found"), #507
(fallen off the bus).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("The NVIDIA driver detects the GPU")


def judge(facts: Facts) -> Verdict:
    """Return a finding if GPU, module and device file exist, but the driver lists no GPU."""
    module = known(facts.gpus.kernel_module)
    if not nvidia.on_bus(facts) or module is None or known(facts.gpus.device_files) != "there":
        return Skipped(say("The NVIDIA GPU, kernel module and device file are not all present."))
    if known(facts.gpus.found):
        return Fine(say("The driver detects the GPU."))
    driver = known_or(facts.gpus.driver, None)
    if driver is None or release(driver) != release(module):
        return Skipped(say("The driver's library does not respond."))
    reason = known_or(facts.gpus.why_none, None)
    evidence = say("Kernel module {version} is loaded, and the PCI bus shows the GPU.", version=module)
    return Finding(
        title=say(
            "The NVIDIA driver is loaded but detects no GPU: the GPU was lost or could not be started."
        ),
        evidence=joined(evidence, reason) if reason else evidence,
        remedy=as_written("sudo dmesg | grep -i -e nvrm -e xid\nsudo reboot"),
        confidence="likely",
        cause=Cause.DRIVERS,
    )
