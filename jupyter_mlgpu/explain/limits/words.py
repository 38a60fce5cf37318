"""A limit in sentences: what the cell spent its time on, and one thing to do about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from jupyter_mlgpu.explain.limits.precision import told_share
from jupyter_mlgpu.explain.limits.shares import Cause, kind_of
from jupyter_mlgpu.measure.activity.activity import Call, Part
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Limit, LimitKind
from jupyter_mlgpu.record.sentence import Sentence, say, with_commas

T = TypeVar("T")

NOT_CLEAR = say("What held this cell up is not clear.")

#: The part of a kind's time that a line, or a call, must have for it to be named.
_MOST = 0.5


#: What a cell spent most of its time on, for people: it can stand after a share of the time.
KINDS: Mapping[LimitKind, Sentence] = {
    "compiling": say("compiling"),
    "waiting": say("waiting"),
    "python": say("Python"),
    "input": say("preparing input"),
    "transfer": say("copying"),
    "launch": say("launching"),
    "compute": say("computing"),
    "bandwidth": say("memory traffic"),
    "device": say("device work"),
    "native": say("native code"),
    "memory": say("memory shortage"),
    "contention": say("other programs"),
    "unknown": say("not known"),
}

#: The same of causes that have no kind of their own.
_CAUSES: Mapping[Cause, Sentence] = {
    "earlier": say("waiting for earlier cells' GPU work"),
}

#: What is said instead of *compiling* of a cell that mostly imported modules.
IMPORTING = say("importing")


def said(
    cause: Cause, value: float, looks: int | None, parts: Sequence[Part], device: str | None
) -> Sentence:
    """The answer, and the line it was mostly at.

    `value` is the share of the time, from `looks`, or exactly known without them; `device` is the name of a
    GPU that worked.
    """
    where = _where(parts)
    told = told_share(value, looks)
    match cause:
        case "compiling" if _mostly(parts, "importing"):
            return say("Importing modules took {share} of the time{where}.", share=told, where=where)
        case "compiling":
            return say("Tracing and compiling took {share} of the time{where}.", share=told, where=where)
        case "waiting":
            call = _call(parts)
            if call is not None:
                return say("Waited {share} of the time in {call}{where}.", share=told, call=call, where=where)
            return say("Waited {share} of the time{where}.", share=told, where=where)
        case "python":
            return say("Python itself took {share} of the time, on one core{where}.", share=told, where=where)
        case "input":
            return say("Preparing data took {share} of the time{where}.", share=told, where=where)
        case "transfer":
            return say(
                "Copies between host and device took {share} of the time{where}.", share=told, where=where
            )
        case "launch":
            return say("Launching small operations took {share} of the time{where}.", share=told, where=where)
        case "memory":
            return say("The machine was short of memory {share} of the time.", share=told)
        case "contention":
            return say("Other programs used the processors or the GPU {share} of the time.", share=told)
        case "unknown":
            return NOT_CLEAR
        case "native":
            return say("Native code on the CPU computed {share} of the time{where}.", share=told, where=where)
        case "earlier":
            return say(
                "Waited {share} of the time for the GPU to end earlier cells' work{where}.",
                share=told,
                where=where,
            )
        case "device" if device is not None and looks is None:
            return say(
                "{device} ran kernels {share} of the time{where}.", device=device, share=told, where=where
            )
        case "gpu":
            return say("Waited for the GPU {share} of the time{where}.", share=told, where=where)
        case _ if device is not None:
            return say(
                "{device} was working {share} of the time{where}.", device=device, share=told, where=where
            )
        case _:
            return say("Native code computed {share} of the time{where}.", share=told, where=where)


def mixed(parts: Mapping[Cause, float], looks: int) -> Sentence:
    """That nothing took most of the time, and what took how much of it: `about 30 % Python`."""
    told = [
        say("{share} {kind}", share=told_share(share, looks), kind=_CAUSES.get(cause, KINDS[kind_of(cause)]))
        for cause, share in parts.items()
    ]
    return say("No single cause: {parts}.", parts=with_commas(told)) if told else NOT_CLEAR


def bound(seconds: float, at_least: float) -> Sentence:
    """How long the cell would take at the least without what limits it."""
    return say(
        "Without it the cell would take at least {time} (at most {times} times as fast).",
        time=units.seconds(at_least),
        times=f"{seconds / at_least:.2g}",
    )


def shared_gpu(device: str, value: float, looks: int, parts: Sequence[Part]) -> Sentence:
    """What is known where others may have used the GPU, and nobody says how much."""
    return say(
        "{device} was working {share} of the time{where}, for this cell or for another program.",
        device=device,
        share=told_share(value, looks),
        where=_where(parts),
    )


WITHOUT_NEIGHBOURS = say("Run it again when no other program uses the GPU: `nvidia-smi` lists them.")

COMPILES_EACH_TIME = say(
    "An earlier run compiled it, too: the function is made anew in each run, or its shapes or Python numbers "
    "change. Make the function once, in a cell of its own, and give it arrays of the same shapes."
)

_NEXT: dict[LimitKind, Sentence] = {
    "compiling": say(
        "Run it again: what was compiled is kept. Changed shapes or Python numbers are compiled again."
    ),
    "waiting": say("Start what it waits for earlier or in parallel, or request less of it."),
    "python": say(
        "Replace the loop with one operation on whole arrays, or use Python's own profiler: `%prun`."
    ),
    "input": say("Prepare data ahead in other threads or processes, or reuse prepared data."),
    "transfer": say("Copy once, before the loop, and bring back only what is needed."),
    "launch": say("Put more into each operation: larger batches, or one compiled function for many steps."),
    "compute": say("It is near this machine's limit: fewer operations or a smaller number type help."),
    "bandwidth": say(
        "It is near this machine's memory bandwidth: fuse operations, or use a smaller number type."
    ),
    "device": say("Add `%%mlc_trace --ops` at the top of the cell to see this time by operation."),
    "native": say("Move this work to the GPU, or let other threads do it ahead of the GPU's work."),
    "memory": say("Use less memory at once: a smaller batch, or `del` for what is no longer needed."),
    "contention": say("Close other programs, or run it again when they are done."),
    "unknown": say("Add `%%mlc_trace --ops` at the top of the cell for details."),
}


def next_of(cause: Cause, parts: Sequence[Part]) -> Sentence:
    """One thing to do."""
    if cause == "compiling" and _mostly(parts, "importing"):
        return say("Modules are imported only once: the next run of this cell will not wait for that.")
    if cause == "earlier":
        return say("Earlier cells launched that work: their receipts show it.")
    return _NEXT[kind_of(cause)]


def is_to_profile(advice: Sentence | None) -> bool:
    """Return whether the advice is to profile the cell."""
    return advice is not None and advice in (_NEXT["device"], _NEXT["unknown"])


def is_importing(limit: Limit) -> bool:
    """Whether what counts as compiling was the import of modules, for the most part."""
    share = next((one.value for one in limit.evidence if one.quantity == "importing_share"), None)
    return share is not None and limit.share is not None and share > _MOST * limit.share


def _mostly(parts: Sequence[Part], doing: str) -> bool:
    whole = sum(part.seconds for part in parts)
    return sum(part.seconds for part in parts if part.doing == doing) > _MOST * whole


def _where(parts: Sequence[Part]) -> Sentence:
    """` (line 4)`, or nothing."""
    line = _most(parts, lambda part: part.line)
    if line is None:
        return Sentence("")
    if line.cell is not None:
        return say(" (line {line} of [{cell}])", line=str(line.number), cell=str(line.cell))
    return say(" (line {line})", line=str(line.number))


def _call(parts: Sequence[Part]) -> str | None:
    return _most(parts, lambda part: _text(part.line_call))


def _text(call: Call | None) -> str | None:
    return (call.text or None) if call is not None else None


def _most(parts: Sequence[Part], of: Callable[[Part], T | None]) -> T | None:
    """What most of the time has in common; None where nothing has most of it."""
    seconds: dict[T | None, float] = defaultdict(float)
    for part in parts:
        seconds[of(part)] += part.seconds
    found, most = max(seconds.items(), key=lambda one: one[1], default=(None, 0.0))
    return found if most >= _MOST * sum(seconds.values()) else None
