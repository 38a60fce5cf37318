"""An Intel Python on Apple silicon runs translated: Metal's plug-ins and arm64 wheels cannot load there.

Source: apple/tensorflow_macos#81 (`Illegal instruction: 4` from an Intel build under Rosetta).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("Python was built for this processor")


def judge(facts: Facts) -> Verdict:
    """A finding where an x86_64 Python runs on an arm64 Mac."""
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
        remedy=as_written(
            "# In a terminal that does not run under Rosetta:\n"
            "brew install python@3.12\n"
            "/opt/homebrew/bin/python3.12 -m venv ~/mlgpu && ~/mlgpu/bin/pip install 'jupyter_mlgpu[metal]'"
        ),
        confidence="sure",
        cause=Cause.PYTHON,
    )
