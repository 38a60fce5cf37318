"""An Intel Python on Apple silicon runs translated: Metal's plug-ins and arm64 wheels cannot load there.

Source: apple/tensorflow_macos#81 (`Illegal instruction: 4` from an Intel build under Rosetta).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, path, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Python was built for this processor")

#: Our extra for each framework; TensorFlow's brings Apple's plug-in too.
_EXTRAS = {"jax": "jax", "tensorflow": "metal", "mlx": "mlx", "torch": "torch"}


def judge(facts: Facts) -> Verdict:
    """Return a finding if an x86_64 Python runs on an arm64 Mac."""
    if known(facts.machine.system) != "Darwin":
        return Skipped(say("This is not a Mac."))
    hardware, process = known(facts.machine.architecture), known(facts.python.architecture)
    if hardware != "arm64" or process == "arm64":
        return Fine(say("The processor and Python are both {hardware}.", hardware=hardware))
    return Finding(
        title=say("This Python was built for Intel Macs and runs under Rosetta."),
        evidence=say(
            "The processor is {hardware}, but Python is {process}.", hardware=hardware, process=process
        ),
        remedy=as_written("# In a terminal that does not run under Rosetta:\nbrew install python@3.12")
        + as_written("/opt/homebrew/bin/python3.12 -m venv ~/mlgpu")
        + run(path("~/mlgpu/bin/pip"), "install", _with_extras(facts)),
        confidence="sure",
        cause=Cause.PYTHON,
    )


def _with_extras(facts: Facts) -> str:
    """Return our package with the extras of the frameworks that are installed now."""
    packages = known_or(facts.packages, {})
    extras = sorted(extra for name, extra in _EXTRAS.items() if name in packages)
    return f"jupyter_mlgpu[{','.join(extras)}]" if extras else "jupyter_mlgpu"
