"""tensorflow-metal calls routines of macOS 12; on macOS 11 the kernel dies at the first training step.

Source: tensorflow/tensorflow#50196 (`-[MPSGraph adamUpdateWithLearningRateTensor...]: unrecognized
selector`).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("macOS is new enough for the Metal plug-in")


def judge(facts: Facts) -> Verdict:
    """A finding where the plug-in stands on macOS 11 or older."""
    macos = known(facts.machine.macos)
    if macos is None:
        return Skipped(say("This is not a Mac."))
    (plugin,) = installed(facts, "tensorflow-metal")
    if not older(macos, "12"):
        return Fine(say("This is macOS {version}.", version=macos))
    return Finding(
        title=say("This macOS is too old for tensorflow-metal: training would crash the kernel."),
        evidence=say(
            "This is macOS {version}; tensorflow-metal {plugin} needs 12 or newer.",
            version=macos,
            plugin=plugin.version,
        ),
        remedy=as_written(
            "softwareupdate --list\n# Or, to train on the CPU: pip uninstall -y tensorflow-metal"
        ),
        confidence="sure",
        cause=Cause.MACHINE,
    )
