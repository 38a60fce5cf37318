"""Keras 3 imports the framework in KERAS_BACKEND, and TensorFlow if it is not set.

Sources: keras-team/keras-core#455 (KERAS_BACKEND=pytorch, which is not its name), keras-team/keras#18888 (no
TensorFlow).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, as_written, run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("The Keras backend is installed")
# Keras's names for its backends are those of their packages.
_KNOWN = ("tensorflow", "jax", "torch", "numpy", "openvino")
_OURS = ("tensorflow", "jax", "torch")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the backend's name is unknown, or its package is missing."""
    packages = known(facts.packages)
    if "keras" not in packages or older(packages["keras"].version, "3"):
        return Skipped(say("Keras 3 is not installed."))
    setting = known(facts.environment.variables).get("KERAS_BACKEND")
    name = setting or "tensorflow"
    available = [one for one in _OURS if one in packages]
    if name == "openvino" or (name in _KNOWN and name in packages):
        return Fine(say("Keras runs on {name}.", name=name))
    choose = as_written("pip install tensorflow==2.19.1")
    if available:
        choose = run("export", f"KERAS_BACKEND={available[0]}") + FROM_THIS_SHELL
    if name not in _KNOWN:
        evidence = say("KERAS_BACKEND is {name}, which is not a Keras backend.", name=name)
    elif setting:
        evidence = say("KERAS_BACKEND is {name}, which is not installed.", name=name)
    else:
        evidence = say("KERAS_BACKEND is not set, and TensorFlow is not installed.")
    return Finding(
        title=say("Keras cannot be imported: its backend is not available."),
        evidence=evidence,
        remedy=choose,
        # Without the variable, ~/.keras/keras.json may set another backend.
        confidence="sure" if setting else "likely",
        cause=Cause.SETTINGS,
    )
