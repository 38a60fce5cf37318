"""What clocks and counters say of the time that looks have shared out: a guess gives way to it."""

from __future__ import annotations

from jupyter_mlgpu.explain.limits import calls
from jupyter_mlgpu.explain.limits.shares import Shares
from jupyter_mlgpu.measure.activity.activity import Activity, Part

#: The part of the time in which a GPU must have worked for it to be what the cell waited for, and from which
#: on all that was started meanwhile was started in advance. Kernels of 1 µs, started as fast as a host can,
#: count as a fifth of the time, or a quarter (H100).
_BUSY, _FULL = 0.6, 0.8
#: The part of the time that measured compiling may exceed what was seen of it, and is left as it was seen.
_SAME = 0.05


def compiling(found: Shares, activity: Activity) -> None:
    """As much compiling as the frameworks have measured is not guessed; what nobody saw of it is added."""
    if activity.compile_time is None:
        return
    told = min(1.0, activity.compile_time / activity.seconds) * found.seconds
    seen = found.by_kind["compiling"]
    found.guessed["compiling"] = min(found.guessed["compiling"], max(0.0, seen - told))
    if told > seen + _SAME * found.seconds:
        found.take("compiling", (told - seen) / (found.seconds - seen))


def gpu(found: Shares, activity: Activity) -> str | None:
    """What the GPU's use says of waits and work; its name, where it worked most of the time."""
    label = max(activity.gpus, key=lambda one: activity.gpus[one][0], default=None)
    if label is None:
        return None
    busy = activity.gpus[label][0]
    if busy >= _BUSY:
        _worked(found, full=busy >= _FULL)
        return label
    found.move("device", "transfer", _asks)  # a wait for values of an idle GPU is taken for their copy
    return label if _started_by_others(found, busy) else None


def _worked(found: Shares, *, full: bool) -> None:
    """The GPU worked: who waits in a call that nobody knows waits for it, most likely."""
    found.move("waiting", "device", _waits_unnamed)
    if full:  # the host was ahead of it, whatever it did there
        found.move("transfer", "device", _waits)
        found.move("launch", "device", calls.of_arrays)
        found.move("python", "device", calls.of_arrays)


def _started_by_others(found: Shares, busy: float) -> bool:
    """A thread that waits for others, as for a backward pass, waits for the GPU as long as that works.

    Whether there was such a wait, of which the rest is counted for starting operations.
    """
    waited = sum(part.seconds for part in found.parts["device"] if _waits_for_others(part))
    idle = found.by_kind["device"] - busy * found.seconds
    if waited <= 0 or idle <= 0:
        return False
    found.move("device", "launch", _waits_for_others, min(1.0, idle / waited))
    return True


def _waits(part: Part) -> bool:
    return part.state in ("native", "idle", "idle beside others")


def _waits_unnamed(part: Part) -> bool:
    return part.doing is None and not calls.sleeps(part.call)


def _asks(part: Part) -> bool:
    return part.doing in ("values", "copy") or calls.brings_values(part.call) or calls.copies(part.call)


def _waits_for_others(part: Part) -> bool:
    return part.state == "idle beside others" and not _asks(part)
