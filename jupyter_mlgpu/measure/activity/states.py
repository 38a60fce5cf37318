"""How a thread was at work, from its clocks and from how late the interpreter's lock was to be had."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import State
from jupyter_mlgpu.measure.activity.stack import Stack

#: Switch intervals of waiting for the lock: after these, code that works in Python has given it up because it
#: was asked to; from these on it was kept at all, for less is within what looks come late by themselves.
_ASKED, KEPT = 0.8, 0.03
#: The part of the time for which a thread had a processor, from which on it was at work.
AT_WORK = 0.5
#: The part of a look in which a thread's clock must go on for the thread to have gone on.
WENT_ON = 0.3
#: The part of the time below which no other thread can have kept the lock for long.
_NOBODY = 0.1
#: States in which the thread does not need the interpreter's lock.
ELSEWHERE: frozenset[State] = frozenset(("native", "idle", "idle beside others", "idle beside Python"))
#: States in which it stands still as long as the lock is ours, and until it is awake again.
STOPPED: frozenset[State] = frozenset(("interpreter", "kept lock"))


def state_of(own: float | None, asked: float, *, running: bool, went_on: float | None) -> State:
    """How a thread worked.

    `own` is the part of the time since the last look for which it had a processor, `asked` for how many
    switch intervals the look waited for the lock; `running`: it ran on while the lock was ours, and `went_on`
    is the part of that moment for which it had a processor. None: not known.
    """
    if running:
        return "native" if went_on is not None and went_on > WENT_ON else "no processor"
    if own is not None and own < AT_WORK:
        return "idle"
    if own is None or asked < KEPT:
        return "short calls"
    return "interpreter" if asked >= _ASKED else "kept lock"


def nobody_else_kept_it(own: float | None, asked: float, others: float, went_on: float | None) -> bool:
    """Whether the thread itself must have kept the lock until it was asked for it, and so waits for it now.

    Most looks at a loop of Python are of this kind, and to ask the system costs the loop as much as the look.
    """
    if own is None or went_on is None:
        return False
    return own >= AT_WORK and asked >= _ASKED and went_on <= WENT_ON and others < _NOBODY


def of_other_thread(stack: Stack, others: float, asked: float, idle: State) -> State:
    """How a thread worked whose own clock was not read: by the time of all but the cell's."""
    if stack.doing is not None:
        return idle
    if others < AT_WORK:
        return "idle"
    return "interpreter" if asked >= _ASKED else "short calls"
