"""pip before 20.3 knows neither wheels for macOS 11 and newer nor those of manylinux_2_28.

Sources: apple/tensorflow_macos#46 and #61; PEP 600 and pip's changelog, 20.3.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("pip supports current wheels")


def judge(facts: Facts) -> Verdict:
    """A finding where pip is older than 20.3."""
    version = known(facts.python.pip)
    if version is None:
        return Skipped(say("pip is not installed in this Python."))
    if not older(version, "20.3"):
        return Fine(say("pip {version} is installed.", version=version))
    return Finding(
        title=say("pip is too old to find current wheels, so it builds from source or gives up."),
        evidence=say("pip is {version}; wheels for macOS 11 and manylinux_2_28 need 20.3.", version=version),
        remedy=as_written("python -m pip install --upgrade pip"),
        confidence="sure",
        cause=Cause.PYTHON,
    )
