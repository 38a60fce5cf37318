"""With ipykernel's capture turned off, lines that native code prints reach the terminal and not the cell.

Sources: ipython/ipykernel#752 (the option) and #110, jupyter/notebook#3078.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("ipykernel shows what native code prints")


def judge(facts: Facts) -> Verdict:
    """Return a finding if IPKernelApp.capture_fd_output is off."""
    if known(facts.kernel.capture):
        return Fine(say("ipykernel captures file descriptors 1 and 2."))
    return Finding(
        title=say("Native output does not reach the notebook: ipykernel's output capture is off."),
        evidence=say("IPKernelApp.capture_fd_output is set to False."),
        remedy=as_written(
            'echo "c.IPKernelApp.capture_fd_output = True" >> '
            '"$(ipython locate profile default)/ipython_kernel_config.py"'
        ),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
