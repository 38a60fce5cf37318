"""How sure an answer is.

`sure` needs twelve looks, of which more than half saw the kind also at the low end of their interval, nothing
of it guessed, and clocks that agree; or that the kind was recorded, not sampled. `likely` is half of the
time, and a third at that low end; for data that is got ready, fewer than twelve looks must have seen more
than half there, too. `open` is a third, `unknown` less.
"""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_mlgpu.explain.limits.own_work import OwnWork
from jupyter_mlgpu.explain.limits.shares import Cause, Shares
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Part
from jupyter_mlgpu.record.limit import Confidence

#: Looks that `sure` needs.
_FEWEST_FOR_SURE = 12
#: Parts of the time from which on an answer is likely, from which on there is one, and from which on what was
#: recorded is sure.
LIKELY, OPEN, _SURELY = 0.5, 0.35, 0.6
#: The part of a kind that may be guessed, and of the time that may be unsampled, in an answer that is sure.
_GUESSED, _UNSEEN = 0.2, 0.3
#: Processor time over time from which on somebody was at work, and up to which nobody was.
_WORKED, _RESTED = 0.5, 0.4
#: The part of the machine, or of a GPU, that others must have had for a wait for it to be their doing.
OTHERS = 0.25


def confidence(
    cause: Cause, found: Shares, activity: Activity, own: OwnWork | None, *, on_gpu: bool
) -> Confidence:
    """How sure it is that this cause took most of the time."""
    value = found.share(cause)
    if cause == "unknown" or value < LIKELY:
        return "open"
    if found.exact == cause:
        # A neighbour on the GPU makes one's own kernels take longer.
        if activity.gpu_others is None and activity.gpu_neighbours:
            return "open"
        alone = activity.gpu_others is not None and activity.gpu_others < OTHERS
        return "sure" if alone and value >= _SURELY else "likely"
    if not _clocks_agree(cause, value, activity):
        return "open"
    if cause == "device" and activity.called_back and _python_elsewhere(found.parts[cause]):
        return "open"
    if cause in ("python", "launch") and others(activity) >= OTHERS and _late(found):
        return "open"
    if on_gpu and _is_gauged(cause, activity, own):
        return "likely"
    low, _ = share_interval(value * found.samples, found.samples)
    few = found.samples < _FEWEST_FOR_SURE
    # Who reads and decodes lets go of the interpreter's lock, over and over, and there a look that waits
    # for it gets in: a few looks see more of that than there was.
    needed = LIKELY if few and cause == "input" else OPEN
    if found.samples and low < needed and not _is_measured(cause, activity):
        return "open"
    guessed = found.guessed[cause] > _GUESSED * found.by_kind[cause]
    if cause == "waiting" and guessed and others(activity) >= OTHERS:
        return "open"  # in a call that nobody knows: perhaps for threads of its own that had no processor
    unsampled = activity.unsampled > _UNSEEN * activity.seconds
    return "likely" if few or low <= LIKELY or guessed or unsampled else "sure"


def others(activity: Activity) -> float:
    """The part of the machine's processors that other programs had."""
    return (activity.others_time or 0.0) / (activity.cores * activity.seconds)


def _is_gauged(cause: Cause, activity: Activity, own: OwnWork | None) -> bool:
    """Return whether the cause is a GPU's, and it is not known how much other programs used the GPU.

    Another program also makes this cell's kernels take longer.
    """
    if cause == "device" and activity.gpu_others is None:
        return True
    return cause in ("device", "transfer", "launch") and own is None and not activity.gpus


def _clocks_agree(cause: Cause, value: float, activity: Activity) -> bool:
    """Whether the processor's clocks say of all of the cell what the looks say of its moments."""
    own, whole, seconds = activity.thread_time, activity.process_time, activity.seconds
    if cause == "waiting":
        return own is None or own <= (1 - value + _RESTED) * seconds
    if cause in ("python", "launch"):
        # A thread beside the cell's may have done it.
        return whole is None or whole >= _WORKED * value * seconds
    if cause == "native" or (cause == "device" and not activity.gpus):
        return whole is None or whole >= _WORKED * value * seconds
    return True


def _python_elsewhere(parts: Iterable[Part]) -> bool:
    """Whether the cell's thread mostly waited for others: then one of these may have computed in Python.

    A function that native threads call (of a data pipeline, say) gives the lock up as it ends, unseen.
    """
    parts = list(parts)
    waiting = sum(part.seconds for part in parts if part.state == "idle beside others")
    return waiting > 0.5 * sum(part.seconds for part in parts)


def _is_measured(cause: Cause, activity: Activity) -> bool:
    """Whether clocks tell the share, however few looks there were."""
    compiled = (activity.compile_time or 0.0) >= LIKELY * activity.seconds
    return cause in ("contention", "memory") or (cause == "compiling" and compiled)


def _late(found: Shares) -> bool:
    """Whether much rests on looks that came late: for want of the lock, or of a processor?"""
    parts = [*found.parts["python"], *found.parts["launch"]]
    late = sum(part.seconds for part in parts if part.state == "kept lock")
    return late > _GUESSED * sum(part.seconds for part in parts)
