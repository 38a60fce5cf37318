"""Keras 3 imports the framework that KERAS_BACKEND names, TensorFlow where nothing is said.

Sources: keras-team/keras-core#455 (KERAS_BACKEND=pytorch, which is not its name), keras-team/keras#18888 (no
TensorFlow).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, as_written, run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("The Keras backend is installed")
# Keras's names for its backends are their packages' own.
_KNOWN = ("tensorflow", "jax", "torch", "numpy", "openvino")
_OURS = ("tensorflow", "jax", "torch")


def judge(facts: Facts) -> Verdict:
    """A finding where the backend's name is unknown, or its package is missing."""
    packages = known(facts.packages)
    if "keras" not in packages or older(packages["keras"].version, "3"):
        return Skipped(say("Keras 3 is not installed."))
    told = known(facts.environment.variables).get("KERAS_BACKEND")
    name = told or "tensorflow"
    there = [one for one in _OURS if one in packages]
    if name == "openvino" or (name in _KNOWN and name in packages):
        return Fine(say("Keras runs on {name}.", name=name))
    choose = as_written("pip install tensorflow==2.19.1")
    if there:
        choose = run("export", f"KERAS_BACKEND={there[0]}") + FROM_THIS_SHELL
    if name not in _KNOWN:
        evidence = say("KERAS_BACKEND is {name}, which is not a Keras backend.", name=name)
    elif told:
        evidence = say("KERAS_BACKEND is {name}, which is not installed.", name=name)
    else:
        evidence = say("KERAS_BACKEND is not set, and TensorFlow is not installed.")
    return Finding(
        title=say("Keras cannot be imported: its backend is not available."),
        evidence=evidence,
        remedy=choose,
        # Without the variable ~/.keras/keras.json may name another one.
        confidence="sure" if told else "likely",
        cause=Cause.SETTINGS,
    )
