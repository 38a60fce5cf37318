"""tensorflow-text is linked to the TensorFlow of its own number, and loads into no other.

Sources: keras-team/keras-hub#2159 (`undefined symbol: _ZN3tsl5mutexC1Ev` from TensorFlow 2.19 with an older
one); tensorflow/text#1541 and keras-team/keras-hub#2979 (2.21.0 itself cannot be imported).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import minor, release
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("tensorflow-text matches TensorFlow's version")


def judge(facts: Facts) -> Verdict:
    """A finding where the two differ in their minor version, or where the broken 2.21.0 is installed."""
    text, tensorflow = installed(facts, "tensorflow-text", "tensorflow")
    here = minor(tensorflow.version)
    broken = release(text.version) == release("2.21.0")
    found = say(
        "tensorflow-text {text} is installed alongside TensorFlow {version}.",
        text=text.version,
        version=tensorflow.version,
    )
    if minor(text.version) == here and not broken:
        return Fine(found)
    wanted = ["tensorflow==2.19.1", "tensorflow-text==2.19.0"] if broken else [f"tensorflow-text=={here}.*"]
    return Finding(
        title=say("tensorflow-text cannot load into this TensorFlow."),
        evidence=joined(found, say("tensorflow-text 2.21.0 itself lacks a symbol.")) if broken else found,
        remedy=run("pip", "install", *wanted),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
