"""PyTorch limits its share of a Mac's memory; without that limit, a Mac with full memory can freeze.

Two variables set the limit. Sources: PyTorch's page on MPS's environment variables and MPSAllocator.mm
(0 <= high <= 2, low <= high, 1.7 and 1.4 by default, high 0 for no limit); index-tts/index-tts#414 (a Mac
that crashes), kohya-ss/sd-scripts#603 ("invalid low watermark ratio 1.4").
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
#: PyTorch's highest limit, and its low one on Apple silicon, as multiples of the memory Metal recommends.
_MOST, _LOW_BY_DEFAULT = 2.0, 1.4


def judge(facts: Facts) -> Verdict:
    """Return a finding if the limit is off or invalid for PyTorch, here or for a kernel."""
    if known(facts.machine.system) != "Darwin":
        return Skipped(say("This is not a Mac."))
    installed(facts, "torch")
    set_here = known(facts.environment.variables)
    for variables in (set_here, *(known_or(one.env, {}) for one in known_or(facts.kernel.specs, ()))):
        high, low = variables.get(HIGH), variables.get(LOW)
        if high is None:
            continue
        setting = say("{name} is {value}.", name=HIGH, value=high)
        limit, least = _number(high), _LOW_BY_DEFAULT if low is None else _number(low)
        if limit == 0:
            return _finding(
                say("PyTorch's memory limit on this GPU is off, so a full memory can freeze the Mac."),
                setting,
            )
        if limit is None or least is None or not 0 < limit <= _MOST or least > limit:
            return _finding(
                say("PyTorch cannot use the memory limit that is set for the Mac's GPU."), setting
            )
    return Fine(say("PyTorch's memory limit is not switched off."))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _finding(title: Sentence, evidence: Sentence) -> Finding:
    return Finding(
        title=title,
        evidence=evidence,
        remedy=run("unset", HIGH, LOW) + FROM_THIS_SHELL,
        confidence="sure",
        cause=Cause.SETTINGS,
    )
