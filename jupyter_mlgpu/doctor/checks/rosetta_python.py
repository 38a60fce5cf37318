"""An Intel Python on Apple silicon runs translated: Metal's plug-ins and arm64 wheels cannot load there.

Source: apple/tensorflow_macos#81 (`Illegal instruction: 4` from an Intel build under Rosetta).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import as_written

ID = "rosetta-python"
TITLE = "Python was built for this processor"


def judge(facts: Facts) -> Verdict:
    """A finding where an x86_64 Python runs on an arm64 Mac."""
    if known(facts.machine.system) != "Darwin":
        return Skipped("This is not a Mac.")
    hardware, process = known(facts.machine.architecture), known(facts.python.architecture)
    if hardware != "arm64" or process == "arm64":
        return Fine(f"The processor is {hardware}, and so is Python.")
    return Finding(
        title="This Python was built for Intel Macs and runs translated by Rosetta.",
        evidence=f"The processor is {hardware}, Python is {process}.",
        remedy=as_written(
            "# In a terminal that does not run under Rosetta:\n"
            "brew install python@3.12\n"
            "/opt/homebrew/bin/python3.12 -m venv ~/mlgpu && ~/mlgpu/bin/pip install 'jupyter_mlgpu[metal]'"
        ),
        confidence="sure",
        cause=Cause.PYTHON,
    )
