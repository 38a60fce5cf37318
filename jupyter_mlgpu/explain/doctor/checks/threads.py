"""If there are more threads than processors, they wait for each other; a control group's limit stops all.

Sources: uxlfoundation/oneTBB#190, onyx-dot-app/onyx#12351 (192 threads on 8 processors), llvm/llvm-
project#225493.
"""

from __future__ import annotations

import math

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, run
from jupyter_mlgpu.record.sentence import joined, say, say_count

TITLE = say("Threads do not outnumber the available processors")
_NAMES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the variables, or the defaults, start more threads than the limits allow."""
    usable, limit = known(facts.machine.usable_cores), known(facts.machine.cpu_limit)
    allowed = max(1, math.floor(usable if limit is None else min(usable, limit)))
    variables = known(facts.environment.variables)
    requested = {name: int(variables[name]) for name in _NAMES if variables.get(name, "").strip().isdecimal()}
    many = {name: count for name, count in requested.items() if count > allowed}
    # Without a setting, frameworks start a thread for each processor that they see.
    unlimited = usable > allowed and not requested
    if not many and not unlimited:
        return Fine(
            say_count(
                "{count} processor is available, and no more threads are requested.",
                "{count} processors are available, and no more threads are requested.",
                allowed,
            )
        )
    settings = [say("{name} is {value}.", name=name, value=str(count)) for name, count in many.items()]
    usable_here = say_count("{count} processor is available.", "{count} processors are available.", allowed)
    set_here = [name for name in _NAMES if name in many] or [_NAMES[0], _NAMES[-1]]
    return Finding(
        title=say("Threads would outnumber the available processors, which slows down every operation."),
        evidence=joined(usable_here, *(settings or [say("{count} are visible.", count=usable)])),
        remedy=run("export", *(f"{name}={allowed}" for name in set_here)) + FROM_THIS_SHELL,
        confidence="sure" if many else "likely",
        cause=Cause.ADVICE,
    )
