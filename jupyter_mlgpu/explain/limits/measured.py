"""Correct the sampled shares of the time with what clocks and driver counters measured."""

from __future__ import annotations

from jupyter_mlgpu.explain.limits import calls
from jupyter_mlgpu.explain.limits.shares import Shares
from jupyter_mlgpu.measure.activity.activity import Activity, Part

#: GPU utilization, as a share of the time: at least the first means that the cell waited for the GPU, at
#: least the second that the host launched ahead of it. Kernels of 1 µs, launched as fast as a host can, show
#: up as a fifth or a quarter (H100).
BUSY, _FULL = 0.6, 0.8
#: The share of the time by which measured compile time may exceed the sampled one without a correction.
_SAME = 0.05


def compiling(found: Shares, activity: Activity) -> None:
    """Mark as much compiling as the frameworks measured as not guessed, and add what samples missed."""
    if activity.compile_time is None:
        return
    measured = min(1.0, activity.compile_time / activity.seconds) * found.seconds
    sampled = found.by_kind["compiling"]
    found.guessed["compiling"] = min(found.guessed["compiling"], max(0.0, sampled - measured))
    if measured > sampled + _SAME * found.seconds:
        found.take("compiling", (measured - sampled) / (found.seconds - sampled))


def gpu(found: Shares, activity: Activity, *, shares_memory: bool) -> str | None:
    """Correct waits and work by the GPU utilization, and return the name of a GPU that mostly worked.

    `shares_memory`: the GPU works in the host's memory, so that values are not copied from it.
    """
    # Such a call runs for long only while it waits for a device.
    found.move("waiting", "device", lambda part: calls.converts(part.call), guessed=False)
    label = max(activity.gpus, key=lambda one: activity.gpus[one][0], default=None)
    if label is None:
        return None
    busy = activity.gpus[label][0]
    if busy >= BUSY:
        _count_gpu_work(found, full=busy >= _FULL)
        return label
    if not shares_memory:  # waiting for values of an idle GPU is counted as waiting for their copy
        found.move("device", "transfer", calls.asks)
    return label if _count_waits_for_threads(found, busy) else None


def _count_gpu_work(found: Shares, *, full: bool) -> None:
    """Count waits in unknown calls for the GPU, which worked most of the time."""
    found.move("waiting", "device", calls.is_unnamed_wait)
    if full:  # the host was ahead of the GPU, whatever the host did
        found.move("transfer", "device", _waits)
        found.move("launch", "device", calls.of_arrays)
        found.move("python", "device", calls.of_arrays)


def _count_waits_for_threads(found: Shares, busy: float) -> bool:
    """Count waits for other threads for the GPU as long as it worked, and for launches beyond that.

    A backward pass is such a wait. Return True if there was one that was longer than the GPU worked.
    """
    waited = sum(part.seconds for part in found.parts["device"] if _waits_for_others(part))
    idle = found.by_kind["device"] - busy * found.seconds
    if waited <= 0 or idle <= 0:
        return False
    found.move("device", "launch", _waits_for_others, min(1.0, idle / waited))
    return True


def _waits(part: Part) -> bool:
    return part.state in ("native", "idle", "idle beside others")


def _waits_for_others(part: Part) -> bool:
    return part.state == "idle beside others" and not calls.asks(part)
