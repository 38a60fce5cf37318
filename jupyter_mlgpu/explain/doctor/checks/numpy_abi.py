"""Packages compiled for NumPy 1 cannot be imported beside NumPy 2.

Sources: tensorflow/tensorflow#102743 and #72888; pycroscopy/pyAutoMic#9 (torch 2.2). First versions for NumPy
2: TensorFlow 2.18, PyTorch 2.3, jaxlib 0.4.26 (their release notes).
"""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.doctor.check import (
    Cause,
    Facts,
    Finding,
    Fine,
    Verdict,
    installed,
    known,
    known_or,
)
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("NumPy matches the frameworks")
_FIRST_FOR_2 = {"tensorflow": "2.18", "torch": "2.3", "jaxlib": "0.4.26"}


def judge(facts: Facts) -> Verdict:
    """A finding where NumPy 2 stands beside a framework of NumPy 1's time."""
    packages = known(facts.packages)
    (numpy,) = installed(facts, "numpy")
    names = [
        name
        for name, first in _FIRST_FOR_2.items()
        if name in packages and older(packages[name].version, first)
    ]
    if older(numpy.version, "2") or not names:
        return Fine(say("NumPy {version} is installed.", version=numpy.version))
    early = [f"{name} {packages[name].version}" for name in names]
    requirements = (line for package in packages.values() for line in known_or(package.requires, ()))
    wants_2 = any(re.match(r"numpy>=2\b", line) for line in requirements)
    return Finding(
        title=say("NumPy 2 is installed alongside a framework compiled for NumPy 1."),
        evidence=say(
            "NumPy is {version}; compiled for NumPy 1: {names}.",
            version=numpy.version,
            names=", ".join(early),
        ),
        remedy=run("pip", "install", "--upgrade", *names) if wants_2 else run("pip", "install", "numpy<2"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
