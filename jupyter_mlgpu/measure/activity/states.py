"""The state of a thread, from its clocks and from how long the sampler waited for the GIL."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import State
from jupyter_mlgpu.measure.activity.stack import Stack

#: Waits for the GIL in switch intervals: from the first on, Python code has released the GIL on request; from
#: the second on, it was kept at all, since a sample is delayed by less than that anyway.
_ON_REQUEST, KEPT = 0.8, 0.03
#: The least part of the time on a CPU at which a thread counts as working.
WORKING = 0.5
#: The part of a sample's duration that a thread's clock must advance if the thread was running.
MIN_PROGRESS = 0.3
#: The part of the time on CPUs below which no other thread can have kept the GIL for long.
_NO_OTHER = 0.1
#: States in which the thread does not need the GIL.
WITHOUT_GIL: frozenset[State] = frozenset(("native", "idle", "idle beside others", "idle beside Python"))
#: States in which the thread stops while the sampler holds the GIL, and until it is awake again.
PAUSED_BY_SAMPLES: frozenset[State] = frozenset(("interpreter", "kept lock"))


def state_of(cpu_share: float | None, gil_wait: float, *, running: bool, progress: float | None) -> State:
    """Return how a thread worked.

    `cpu_share` is the part of the time since the last sample that it was on a CPU. `gil_wait` is how many
    switch intervals the sample waited for the GIL. `running`: it ran on while the sampler held the GIL, and
    `progress` is the part of that moment that it was on a CPU. None: unknown.
    """
    if running:
        return "native" if progress is not None and progress > MIN_PROGRESS else "no processor"
    if cpu_share is not None and cpu_share < WORKING:
        return "idle"
    if cpu_share is None or gil_wait < KEPT:
        return "short calls"
    return "interpreter" if gil_wait >= _ON_REQUEST else "kept lock"


def must_have_kept_gil(
    cpu_share: float | None, gil_wait: float, others: float, progress: float | None
) -> bool:
    """Return True if the thread itself must have kept the GIL until the request, and so waits for it now.

    Most samples of a Python loop are of this kind. To ask the system as well would double their cost.
    """
    if cpu_share is None or progress is None:
        return False
    kept_until_request = cpu_share >= WORKING and gil_wait >= _ON_REQUEST
    return kept_until_request and progress <= MIN_PROGRESS and others < _NO_OTHER


def state_of_other_thread(stack: Stack, others: float, gil_wait: float, idle: State) -> State:
    """Return how a thread worked without reading its clock: from the CPU share of all other threads."""
    if stack.doing is not None:
        return idle
    if others < WORKING:
        return "idle"
    return "interpreter" if gil_wait >= _ON_REQUEST else "short calls"
