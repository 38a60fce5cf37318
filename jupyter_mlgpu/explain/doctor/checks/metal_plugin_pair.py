"""An older or newer plug-in than TensorFlow's own lacks, or looks for, functions that the other side has not.

Sources: tensorflow/models#10617 (`symbol not found in flat namespace '_TF_AllocateOutput'`); Apple's page
"Get started with tensorflow-metal", whose table begins 1.1 with TensorFlow 2.14 and 1.2 with 2.18.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, installed
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("The Metal plug-in matches TensorFlow")


def judge(facts: Facts) -> Verdict:
    """A finding where the plug-in is older than 1.1 beside TensorFlow 2.14 or newer, or too new."""
    plugin, tensorflow = installed(facts, "tensorflow-metal", "tensorflow")
    if not older(tensorflow.version, "2.20"):
        return Skipped(say("tensorflow-metal cannot load into this TensorFlow."))
    too_old = older(plugin.version, "1.1") and not older(tensorflow.version, "2.14")
    too_new = not older(plugin.version, "1.1") and older(tensorflow.version, "2.14")
    too_new = too_new or (not older(plugin.version, "1.2") and older(tensorflow.version, "2.18"))
    found = say(
        "tensorflow-metal {plugin} is installed alongside TensorFlow {version}.",
        plugin=plugin.version,
        version=tensorflow.version,
    )
    if not (too_old or too_new):
        return Fine(found)
    return Finding(
        title=say(
            "The versions of tensorflow-metal and TensorFlow do not match, so they do not load together."
        ),
        evidence=found,
        remedy=as_written("pip install tensorflow==2.19.1 tensorflow-metal==1.2.0"),
        confidence="sure" if too_old else "likely",
        cause=Cause.PACKAGES,
    )
