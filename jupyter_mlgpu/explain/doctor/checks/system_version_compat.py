"""If Python sees macOS as 10.16, a pip before 24.1 rejects every wheel for macOS 11 and newer.

From 24.1 on, pip asks for the real version in a process of its own (seen in its copy of packaging).

Sources: apple/tensorflow_macos#46 and #61, tensorflow/tensorflow#50108 ("is not a supported wheel on this
platform"; SYSTEM_VERSION_COMPAT=0 helps). TensorFlow's wheels for Intel Macs end at 2.16.2 (their names).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import Remedy, as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("Python sees the real version of macOS")

#: The first version of pip that asks for the real version of macOS if it sees 10.16.
_ASKS = "24.1"


def judge(facts: Facts) -> Verdict:
    """Return a finding if this process sees macOS 10 on a later version."""
    real = known(facts.machine.macos)
    if real is None:
        return Skipped(say("This is not a Mac."))
    reported = known(facts.python.macos_seen)
    if reported is None or not reported.startswith("10.") or older(real, "11"):
        return Fine(say("This is macOS {version}.", version=real))
    pip = known_or(facts.python.pip, None)
    if pip is not None and not older(pip, _ASKS) and reported.startswith("10.16"):
        return Fine(
            say("Python sees macOS {told}, and pip {pip} asks for the real version.", told=reported, pip=pip)
        )
    return Finding(
        title=say("This Python sees macOS as version 10, so pip rejects newer wheels."),
        evidence=say("This is macOS {real}, but Python sees {told}.", real=real, told=reported),
        remedy=_remedy(known_or(facts.python.architecture, None)),
        confidence="sure" if pip is not None else "likely",
        cause=Cause.PYTHON,
    )


def _remedy(architecture: str | None) -> Remedy:
    """Return the commands for the processor that Python was built for, or for both if it is unknown."""
    match architecture:
        case "x86_64":
            return as_written("SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.16.2")
        case "arm64":
            return as_written(
                "SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.19.1 tensorflow-metal==1.2.0"
            )
        case _:
            return as_written(
                "SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.19.1 tensorflow-metal==1.2.0\n"
                "# On an Intel Mac: SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.16.2"
            )
