"""A framework alone takes 0.6 to 1 GiB; if less is free, the system kills the kernel without a message.

Sources: ubcs3/2017-Fall#4 (a container of 1 GB), happylun/SketchModeling#5, ibab/tensorflow-wavenet#283; a
bare kernel with TensorFlow and Keras was measured at 653 MiB.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.sizes import GIB, gigabytes
from jupyter_mlgpu.record.sentence import say

TITLE = say("Enough memory is free for a framework")
_NEEDED = GIB


def judge(facts: Facts) -> Verdict:
    """Return a finding if less than 1 GiB is left of the machine's memory or the container's limit."""
    available = known(facts.machine.memory_available)
    limit, used = known_or(facts.machine.memory_limit, None), known_or(facts.machine.memory_limit_used, None)
    left = None if limit is None else limit - (used or 0)
    if min(available, available if left is None else left) >= _NEEDED:
        return Fine(
            say("{size} is left.", size=gigabytes(min(available, available if left is None else left)))
        )
    if left is not None and left < available:
        return Finding(
            title=say("This container's memory limit leaves too little for a framework."),
            evidence=say(
                "Its limit is {limit}; {left} is left.",
                limit=gigabytes(limit or 0),
                left=gigabytes(left),
            ),
            remedy=as_written("# Outside of the container: docker run --memory=8g IMAGE"),
            confidence="likely",
            cause=Cause.MACHINE,
        )
    mac = known_or(facts.machine.system, "") == "Darwin"
    return Finding(
        title=say("Too little memory is free for a framework: the system may kill the kernel."),
        evidence=say("{size} is free.", size=gigabytes(available)),
        remedy=(as_written("top -o mem") if mac else as_written("ps aux --sort=-rss | head"))
        + as_written(
            "# Close what is not needed; shut down other kernels first (Running Terminals and Kernels)."
        ),
        confidence="likely",
        cause=Cause.MACHINE,
    )
