"""tensorflow-metal calls routines of macOS 12; on macOS 11 the kernel dies at the first training step.

Source: tensorflow/tensorflow#50196 (`-[MPSGraph adamUpdateWithLearningRateTensor...]: unrecognized
selector`).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import as_written
from jupyter_mlgpu.doctor.versions import older

ID = "metal-macos"
TITLE = "macOS is new enough for the Metal plug-in"


def judge(facts: Facts) -> Verdict:
    """A finding where the plug-in stands on macOS 11 or older."""
    macos = known(facts.machine.macos)
    if macos is None:
        return Skipped("This is not a Mac.")
    plugin = known(facts.packages).get("tensorflow-metal")
    if plugin is None:
        return Skipped("tensorflow-metal is not installed.")
    if not older(macos, "12"):
        return Fine(f"macOS is {macos}.")
    return Finding(
        title="This macOS is too old for tensorflow-metal: training would end the kernel.",
        evidence=f"macOS is {macos}, tensorflow-metal {plugin.version} needs 12 or newer.",
        remedy=as_written(
            "softwareupdate --list\n# Or, to train on the CPU: pip uninstall -y tensorflow-metal"
        ),
        confidence="sure",
        cause=Cause.MACHINE,
    )
