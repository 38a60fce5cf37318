"""Decide the confidence of a limit.

`sure` means that the cause was recorded, not sampled, or that all of this holds: at least twelve samples,
more than half of the time even at the low end of the confidence interval, nothing guessed, and clocks that
agree. `likely` means half of the time, and more than a third at the low end. For input preparation with fewer
than twelve samples, the low end must be more than half, too. `open` means a third of the time, `unknown`
less.
"""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_mlgpu.explain.limits.own_work import OwnWork
from jupyter_mlgpu.explain.limits.precision import FEWEST_FOR_SURE
from jupyter_mlgpu.explain.limits.shares import Cause, Shares
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Part
from jupyter_mlgpu.record.limit import Confidence

#: Shares of the time: the least for `likely`, the least for any answer, and the least for `sure` where the
#: cause was recorded.
LIKELY, OPEN, _SURELY = 0.5, 0.35, 0.6
#: The largest share of a cause that may be guessed, and of the time that may be unsampled, in a `sure`
#: answer.
_GUESSED, _UNSEEN = 0.2, 0.3
#: Processor time divided by wall time: at least this much means working, at most this much means resting.
_WORKED, _RESTED = 0.5, 0.4
#: The share of the machine or of a GPU that other programs must have used to be blamed for a wait.
OTHERS = 0.25


def confidence(
    cause: Cause, found: Shares, activity: Activity, own: OwnWork | None, *, on_gpu: bool
) -> Confidence:
    """Return the confidence that this cause took most of the time."""
    value = found.share(cause)
    if cause == "unknown" or value < LIKELY:
        return "open"
    if found.exact == cause:
        # Another program on the GPU makes this cell's kernels take longer.
        if activity.gpu_others is None and activity.gpu_neighbours:
            return "open"
        alone = activity.gpu_others is not None and activity.gpu_others < OTHERS
        return "sure" if alone and value >= _SURELY else "likely"
    # While a GPU works, the processor may rest.
    of_gpu = cause == "device" and on_gpu
    if not of_gpu and not _clocks_agree(cause, value, activity):
        return "open"
    if cause == "device" and activity.called_back and _python_elsewhere(found.parts[cause]):
        return "open"
    if cause in ("python", "launch") and others(activity) >= OTHERS and _late(found):
        return "open"
    if on_gpu and _is_gauged(cause, activity, own):
        return "likely"
    low, _ = share_interval(value * found.samples, found.samples)
    few = found.samples < FEWEST_FOR_SURE
    # Code that reads and decodes releases the GIL again and again, and samples that wait for the GIL come in
    # at these moments. A few samples therefore overestimate its share.
    needed = LIKELY if few and cause == "input" else OPEN
    if found.samples and low < needed and not _is_measured(cause, activity):
        return "open"
    guessed = found.guessed[cause] > _GUESSED * found.by_kind[cause]
    if cause == "waiting" and guessed and others(activity) >= OTHERS:
        return "open"  # in an unknown call: perhaps it waited for its own threads, which had no processor
    unsampled = activity.unsampled > _UNSEEN * activity.seconds
    return "likely" if few or low <= LIKELY or guessed or unsampled else "sure"


def others(activity: Activity) -> float:
    """Return the share of the machine's processors that other programs used."""
    return (activity.others_time or 0.0) / (activity.cores * activity.seconds)


def _is_gauged(cause: Cause, activity: Activity, own: OwnWork | None) -> bool:
    """Return True if the cause is a GPU's and it is not known how much other programs used the GPU.

    Another program also makes this cell's kernels take longer.
    """
    if cause == "device" and activity.gpu_others is None:
        return True
    return cause in ("device", "transfer", "launch") and own is None and not activity.gpus


def _clocks_agree(cause: Cause, value: float, activity: Activity) -> bool:
    """Return True if the processor clocks of the whole cell agree with the samples."""
    own, whole, seconds = activity.thread_time, activity.process_time, activity.seconds
    if cause == "waiting":
        return own is None or own <= (1 - value + _RESTED) * seconds
    if cause in ("python", "launch"):
        # Another thread of the process may have done the work.
        return whole is None or whole >= _WORKED * value * seconds
    if cause == "native" or (cause == "device" and not activity.gpus):
        return whole is None or whole >= _WORKED * value * seconds
    return True


def _python_elsewhere(parts: Iterable[Part]) -> bool:
    """Return True if the cell's thread mostly waited for others, one of which may have run Python code.

    A function that native threads call, for example in a data pipeline, releases the GIL at its end without a
    sample.
    """
    parts = list(parts)
    waiting = sum(part.seconds for part in parts if part.state == "idle beside others")
    return waiting > 0.5 * sum(part.seconds for part in parts)


def _is_measured(cause: Cause, activity: Activity) -> bool:
    """Return True if clocks measured the share, so that the number of samples does not matter."""
    compiled = (activity.compile_time or 0.0) >= LIKELY * activity.seconds
    return cause in ("contention", "memory") or (cause == "compiling" and compiled)


def _late(found: Shares) -> bool:
    """Return True if many of the samples were delayed, by the GIL or by a lack of processors."""
    parts = [*found.parts["python"], *found.parts["launch"]]
    late = sum(part.seconds for part in parts if part.state == "kept lock")
    return late > _GUESSED * sum(part.seconds for part in parts)
