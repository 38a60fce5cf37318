"""The GPU's device file belongs to a group that the user is not in.

Sources: AUTOMATIC1111/stable-diffusion-webui#3207, NVIDIA/nvidia-docker#284 ("Insufficient Permissions").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The GPU's device file is accessible")


def judge(facts: Facts) -> Verdict:
    """Return a finding if /dev/nvidia0 exists but may not be read and written."""
    files = known(facts.gpus.device_files)
    if files == "absent":
        return Skipped(say("No NVIDIA device file was found."))
    if files != "denied":
        return Fine(say("The GPU's device file is accessible."))
    return Finding(
        title=say("This user is not allowed to open the GPU's device file."),
        evidence=say("/dev/nvidia0 exists, but reading or writing it is denied."),
        remedy=as_written('ls -l /dev/nvidia*\nsudo usermod -aG video "$USER"\n# Then log out and in again.'),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
