"""PyTorch keeps within a share of a Mac's memory, which two variables set; without it a full Mac freezes.

Sources: PyTorch's page on MPS's environment variables and MPSAllocator.mm (0 <= high <= 2, low <= high,
1.7 and 1.4 by default, high 0 for no limit); index-tts/index-tts#414 (a Mac that crashes),
kohya-ss/sd-scripts#603 ("invalid low watermark ratio 1.4").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import (
    Cause,
    Facts,
    Finding,
    Fine,
    Skipped,
    Verdict,
    installed,
    known,
    known_or,
)
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, run
from jupyter_mlgpu.record.sentence import Sentence, say

TITLE = say("PyTorch keeps its memory limit on the Mac's GPU")

HIGH, LOW = "PYTORCH_MPS_HIGH_WATERMARK_RATIO", "PYTORCH_MPS_LOW_WATERMARK_RATIO"
#: In parts of the memory that Metal recommends: PyTorch's greatest limit, and its low one on Apple silicon.
_MOST, _LOW_BY_DEFAULT = 2.0, 1.4


def judge(facts: Facts) -> Verdict:
    """A finding where the limit is off, or set to what PyTorch refuses, here or for a kernel."""
    if known(facts.machine.system) != "Darwin":
        return Skipped(say("This is not a Mac."))
    installed(facts, "torch")
    set_here = known(facts.environment.variables)
    for variables in (set_here, *(known_or(one.env, {}) for one in known_or(facts.kernel.specs, ()))):
        high, low = variables.get(HIGH), variables.get(LOW)
        if high is None:
            continue
        told = say("{name} is {value}.", name=HIGH, value=high)
        limit, least = _number(high), _LOW_BY_DEFAULT if low is None else _number(low)
        if limit == 0:
            return _found(
                say("PyTorch's memory limit on this GPU is off, so a full memory can freeze the Mac."), told
            )
        if limit is None or least is None or not 0 < limit <= _MOST or least > limit:
            return _found(say("PyTorch cannot use the memory limit that is set for the Mac's GPU."), told)
    return Fine(say("PyTorch's memory limit is not switched off."))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _found(title: Sentence, evidence: Sentence) -> Finding:
    return Finding(
        title=title,
        evidence=evidence,
        remedy=run("unset", HIGH, LOW) + FROM_THIS_SHELL,
        confidence="sure",
        cause=Cause.SETTINGS,
    )
