"""Write a limit as a sentence: what the cell spent its time on, and on which line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.explain.limits.kinds import IMPORTING, KINDS
from jupyter_mlgpu.explain.limits.most import MOST, common
from jupyter_mlgpu.explain.limits.precision import rounded_share
from jupyter_mlgpu.explain.limits.shares import Cause, kind_of
from jupyter_mlgpu.measure.activity.activity import Part
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.sentence import Sentence, say, with_commas

NOT_CLEAR = say("What held this cell up is not clear.")

#: Words of the causes that are not kinds of limits.
_CAUSES: Mapping[Cause, Sentence] = {
    "earlier": say("waiting for earlier cells' GPU work"),
    "importing": IMPORTING.word,
}


def sentence(
    cause: Cause,
    value: float,
    samples: int | None,
    parts: Sequence[Part],
    device: str | None,
    *,
    certain: bool,
) -> Sentence:
    """Return the answer as a sentence, with the line on which most of the time was spent.

    `value` is the share of the time. It was estimated from `samples`, or measured exactly if `samples` is
    None. `device` is the name of a GPU that worked.
    """
    where = _where(parts)
    rounded = rounded_share(value, samples, certain=certain)
    match cause:
        case "importing":
            return say("Importing modules took {share} of the time{where}.", share=rounded, where=where)
        case "compiling":
            return say("Tracing and compiling took {share} of the time{where}.", share=rounded, where=where)
        case "waiting":
            call = _call(parts)
            if call is not None:
                return say(
                    "Waited {share} of the time in {call}{where}.", share=rounded, call=call, where=where
                )
            return say("Waited {share} of the time{where}.", share=rounded, where=where)
        case "python":
            return say(
                "Python itself took {share} of the time, on one core{where}.", share=rounded, where=where
            )
        case "input":
            return say("Preparing data took {share} of the time{where}.", share=rounded, where=where)
        case "transfer":
            return say(
                "Copies between host and device took {share} of the time{where}.", share=rounded, where=where
            )
        case "launch":
            return say(
                "Launching small operations took {share} of the time{where}.", share=rounded, where=where
            )
        case "memory":
            return say("The machine was short of memory {share} of the time.", share=rounded)
        case "contention":
            return say("Other programs used the processors or the GPU {share} of the time.", share=rounded)
        case "unknown":
            return NOT_CLEAR
        case "native":
            return say(
                "Native code on the CPU computed {share} of the time{where}.", share=rounded, where=where
            )
        case "earlier":
            return say(
                "Waited {share} of the time for the GPU to end earlier cells' work{where}.",
                share=rounded,
                where=where,
            )
        case "device" if device is not None and samples is None:
            return say(
                "{device} ran kernels {share} of the time{where}.", device=device, share=rounded, where=where
            )
        case "gpu":
            return say("Waited for the GPU {share} of the time{where}.", share=rounded, where=where)
        case _ if device is not None:
            return say(
                "{device} was working {share} of the time{where}.", device=device, share=rounded, where=where
            )
        case _:
            return say("Native code computed {share} of the time{where}.", share=rounded, where=where)


def mixed(parts: Mapping[Cause, float], samples: int) -> Sentence:
    """Return a sentence with several shares, such as "No single cause: about 30 % Python"."""
    causes = [
        say(
            "{share} {kind}",
            share=rounded_share(share, samples),
            kind=_CAUSES.get(cause, KINDS[kind_of(cause)].word),
        )
        for cause, share in parts.items()
    ]
    return say("No single cause: {parts}.", parts=with_commas(causes)) if causes else NOT_CLEAR


def bound(seconds: float, at_least: float) -> Sentence:
    """Return a sentence on how long the cell would take at least without its limit."""
    return say(
        "Without it the cell would take at least {time} (at most {times} times as fast).",
        time=units.seconds(at_least),
        times=f"{seconds / at_least:.2g}",
    )


def shared_gpu(device: str, value: float, samples: int, parts: Sequence[Part]) -> Sentence:
    """Return a sentence on a GPU that may have worked for other programs, too."""
    return say(
        "{device} was working {share} of the time{where}, for this cell or for another program.",
        device=device,
        share=rounded_share(value, samples),
        where=_where(parts),
    )


def is_importing(limit: Limit) -> bool:
    """Return whether a limit of the kind *compiling* is the import of modules."""
    share = next((one.value for one in limit.evidence if one.quantity == "importing_share"), None)
    # Records of versions that did not count imports apart have the share of both.
    return share is not None and limit.share is not None and share > MOST * limit.share


def is_waiting_for_gpu(limit: Limit) -> bool:
    """Return whether a limit of the kind *device* is the wait for a GPU whose work is unknown."""
    return any(one.quantity == "gpu_wait_share" for one in limit.evidence)


def _where(parts: Sequence[Part]) -> Sentence:
    """Return ` (line 4)`, or an empty sentence if no line took most of the time."""
    line = common(parts, lambda part: part.line)
    if line is None:
        return Sentence("")
    if line.cell is not None:
        return say(" (line {line} of [{cell}])", line=str(line.number), cell=str(line.cell))
    return say(" (line {line})", line=str(line.number))


def _call(parts: Sequence[Part]) -> str | None:
    return common(parts, lambda part: None if part.line_call is None else part.line_call.text or None)
