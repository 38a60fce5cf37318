"""tensorflow-metal 1.2.0 is linked to symbols that TensorFlow 2.20 and newer no longer export.

Sources: tensorflow/tensorflow#126360, and the wheels themselves: of the 69 symbols that 1.2.0 needs,
TensorFlow 2.18.1 and 2.19.1 export all, 2.20 and newer lack 8.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.metal import APPLES, communitys
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("TensorFlow can load its Metal plug-in")


def judge(facts: Facts) -> Verdict:
    """A finding where the newest plug-in stands beside a TensorFlow that it cannot load into."""
    packages = known(facts.packages)
    plugin, tensorflow = installed(facts, "tensorflow-metal", "tensorflow")
    found = say(
        "tensorflow-metal {plugin} is installed alongside TensorFlow {version}.",
        plugin=plugin.version,
        version=tensorflow.version,
    )
    if older(tensorflow.version, "2.20"):
        return Fine(found)
    theirs = communitys(packages)
    if theirs:
        return Finding(
            title=say(
                "Apple's Metal plug-in, installed alongside the community's, cannot load "
                "into this TensorFlow."
            ),
            evidence=joined(found, theirs),
            remedy=run("pip", "uninstall", "-y", APPLES),
            confidence="sure",
            cause=Cause.PACKAGES,
        )
    return Finding(
        title=say("tensorflow-metal cannot load into this TensorFlow, so TensorFlow has no GPU."),
        evidence=joined(found, say("TensorFlow 2.20 and newer lack symbols that the plug-in needs.")),
        remedy=as_written("pip install tensorflow==2.19.1 tensorflow-metal==1.2.0"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
