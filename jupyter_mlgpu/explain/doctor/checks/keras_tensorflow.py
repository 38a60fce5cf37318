"""Keras 3 belongs to TensorFlow 2.16 and newer, tf-keras (Keras 2) to the TensorFlow of its own number.

Sources: keras-team/keras#19069, tensorflow/tensorflow#62825, keras-team/tf-keras#756.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import (
    Cause,
    Confidence,
    Facts,
    Finding,
    Fine,
    Skipped,
    Verdict,
    known,
)
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import minor, older
from jupyter_mlgpu.record.sentence import say

TITLE = say("Keras matches TensorFlow")


def judge(facts: Facts) -> Verdict:
    """A finding where Keras or tf-keras stands beside a TensorFlow of another time."""
    packages = known(facts.packages)
    tensorflow, keras, legacy = (packages.get(name) for name in ("tensorflow", "keras", "tf-keras"))
    if tensorflow is None or (keras is None and legacy is None):
        return Skipped(say("TensorFlow and Keras are not both installed."))
    here = minor(tensorflow.version)
    if legacy is not None and minor(legacy.version) != here:
        return _found(f"tf-keras {legacy.version}", tensorflow.version, f"tf-keras=={here}.*")
    if keras is not None and older(keras.version, "3") != older(here, "2.16"):
        wanted = f"keras=={here}.*" if older(here, "2.16") else "keras>=3.5"
        # Keras 3 itself may be imported beside an older TensorFlow; `tf.keras` is then another Keras.
        how_sure: Confidence = "likely" if older(here, "2.16") else "sure"
        return _found(f"Keras {keras.version}", tensorflow.version, wanted, how_sure)
    return Fine(say("Keras matches TensorFlow {version}.", version=tensorflow.version))


def _found(what: str, tensorflow: str, wanted: str, how_sure: Confidence = "sure") -> Finding:
    return Finding(
        title=say("The versions of Keras and TensorFlow do not match."),
        evidence=say("{what} is installed alongside TensorFlow {version}.", what=what, version=tensorflow),
        remedy=run("pip", "install", wanted),
        confidence=how_sure,
        cause=Cause.PACKAGES,
    )
