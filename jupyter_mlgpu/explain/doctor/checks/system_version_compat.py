"""Told that macOS is 10.16, pip refuses every wheel for macOS 11 and newer.

Sources: apple/tensorflow_macos#46 and #61, tensorflow/tensorflow#50108 ("is not a supported wheel on this
platform"; SYSTEM_VERSION_COMPAT=0 helps).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("Python sees the real version of macOS")


def judge(facts: Facts) -> Verdict:
    """A finding where this process is told macOS 10 on a later one."""
    real = known(facts.machine.macos)
    if real is None:
        return Skipped(say("This is not a Mac."))
    told = known(facts.python.macos_seen)
    if told is None or not told.startswith("10.") or older(real, "11"):
        return Fine(say("This is macOS {version}.", version=real))
    return Finding(
        title=say("This Python sees macOS as version 10, so pip rejects newer wheels."),
        evidence=say("This is macOS {real}, but Python sees {told}.", real=real, told=told),
        remedy=as_written("SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.19.1 tensorflow-metal==1.2.0"),
        confidence="sure",
        cause=Cause.PYTHON,
    )
