"""How a thread was at work, from its clocks and from how late the interpreter's lock was to be had."""

from __future__ import annotations

import sys

from jupyter_mlgpu.measure.activity.activity import State
from jupyter_mlgpu.measure.activity.stack import Stack

#: Switch intervals after which a thread has the lock that asked for it, from code that works in Python, and
#: from which on a look that came late tells that the lock was kept: it comes 0.2 ms late by itself.
_ASKED, KEPT = 0.8, 0.06
#: The part of the time for which a thread had a processor, from which on it was at work.
AT_WORK = 0.5
#: The part of a look in which a thread's clock must go on for the thread to have gone on.
WENT_ON = 0.3
#: States in which the thread does not need the interpreter's lock.
ELSEWHERE: frozenset[State] = frozenset(("native", "idle", "idle beside others", "idle beside Python"))


def state_of(own: float | None, asked: float, *, running: bool, went_on: float | None) -> State:
    """How a thread worked.

    `own` is the part of the time since the last look for which it had a processor, `asked` how many switch
    intervals late the look came; `running`: it ran on while the lock was ours, and `went_on` is the part of
    that moment for which it had a processor. None: not known.
    """
    if running:
        return "native" if went_on is not None and went_on > WENT_ON else "no processor"
    if own is not None and own < AT_WORK:
        return "idle"
    if own is None or asked < KEPT:
        return "short calls"
    return "interpreter" if asked >= _ASKED else "kept lock"


def of_other_thread(stack: Stack, others: float, late: float, idle: State) -> State:
    """How a thread worked whose own clock was not read: by the time of all but the cell's."""
    if stack.doing is not None:
        return idle
    if others < AT_WORK:
        return "idle"
    return "interpreter" if late >= _ASKED * sys.getswitchinterval() else "short calls"
