"""Low Power Mode halves the speed of a Mac's GPU, and of a laptop's processor.

Source: tlkh/tf-metal-experiments#4 (61 % of the training speed at 15 W on an M1 Max).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The machine runs at full power")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the machine is in a power-saving mode."""
    if not known(facts.machine.low_power):
        return Fine(say("Power saving is off."))
    mac = known(facts.machine.system) == "Darwin"
    return Finding(
        title=say(
            "The machine is in a power-saving mode, so everything is slower and "
            "measurements are not comparable."
        ),
        evidence=say("macOS is in Low Power Mode.") if mac else say("The platform profile is low-power."),
        remedy=as_written("sudo pmset -a lowpowermode 0")
        if mac
        else as_written("powerprofilesctl set performance"),
        confidence="sure",
        cause=Cause.ADVICE,
    )
