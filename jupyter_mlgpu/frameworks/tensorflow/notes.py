"""What is worth a sentence about where TensorFlow's operations ran: elsewhere, copied, not seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from jupyter_mlgpu.frameworks.tensorflow.graphs import Parts
from jupyter_mlgpu.frameworks.tensorflow.names import short_name

#: An operation that ran: the device set when it was called (None: none), the device it ran on, its type.
Placed = tuple[str | None, str, str]

#: Types that a sentence names; the others are counted.
NAMED = 5

# These run where the variable, the data or the queue is that they work on, whatever device is asked for:
# nothing was put elsewhere because of them. Weights on another device are told of apart.
_FOLLOWS = ("Variable", "VarHandle", "VarIs", "Resource", "Iterator", "Dataset", "Optional", "HashTable")
# What TensorFlow writes into each part of a loop or branch that it has cut up over devices, and constants.
_PLUMBING = frozenset(
    {"_EagerConst", "Enter", "Exit", "Identity", "LoopCond", "Merge", "NextIteration", "Switch"}
)

_NUMBERED = re.compile(r"device:\w+:\d+$", re.IGNORECASE)


def elsewhere(counts: Mapping[Placed, int], *, complete: bool) -> list[str]:
    """Operations that ran on another device than the one set when they were called, by type.

    Each is an operation that ran: what only passes values between devices is not counted at all, an
    operation whose arguments a GPU keeps in host memory counts as the GPU's, as TensorFlow says, and
    those that go where their variable or data is, and the plumbing of loops, are left out. Why one ran
    there (no kernel on the device, a `tf.device` inside a function) is not known. `complete` is false
    where not all operations were watched.
    """
    asked_for: Counter[str] = Counter()
    away: dict[tuple[str, str], Counter[str]] = {}
    for (asked, device, operation), count in counts.items():
        if not asked or not _NUMBERED.search(asked):  # a user's tf.device may name a job alone
            continue
        asked_for[short_name(asked)] += count
        if asked != device and operation not in _PLUMBING and not _follows(operation):
            away.setdefault((short_name(asked), short_name(device)), Counter())[operation] += count
    watched = "" if complete else " that were watched"
    return [
        f"{types.total():,} of {_many(asked_for[wanted], 'operation')}{watched} ran on {ran}, "
        f"not on {wanted}: {_named(types)}."
        for (wanted, ran), types in away.items()
        if wanted != ran
    ]


def copied(called: Sequence[tuple[str, int, Parts]]) -> list[str]:
    """Variables copied between devices by graphs: those of the graph that copied most, and how many else.

    `called` lists the graphs with how often each was called.
    """
    totals = [(parts.copies.total() * times, name, times, parts) for name, times, parts in called]
    copying = sorted((one for one in totals if one[0]), key=lambda one: one[0], reverse=True)
    if not copying:
        return []
    _, name, times, parts = copying[0]
    ways = " and ".join(
        f"{count:,} from {short_name(leaves)} to {short_name(reaches)}"
        for (leaves, reaches), count in parts.copies.most_common(3)
    )
    often = "the one call" if times == 1 else f"each of {times:,} calls"
    rest = sum(one[0] for one in copying[1:])
    more = f" Other graphs copied {rest:,}." if rest else ""
    return [f"Values of variables copied between devices in {often} of {plain(name)}: {ways}.{more}"]


def unprepared(graphs: Sequence[str], one_device: bool) -> list[str]:
    """Graphs that ran, and of which nobody heard what they do; with one device, where they ran is known."""
    if not graphs:
        return []
    names = ", ".join(sorted({plain(name) for name in graphs})[:3])
    if one_device:
        return [
            f"How many operations of {names} ran is not known: "
            "TensorFlow prepared the graph while it was not watched, and tells of it only then."
        ]
    return [
        f"Where the operations of {names} ran is not known: "
        "TensorFlow prepared the graph while it was not watched, and tells of it only then."
    ]


def not_seen(*, other_threads: bool, sessions: bool) -> list[str]:
    """Work that nobody watches: of other threads, where no device is set, and of sessions."""
    reasons = []
    if other_threads:
        reasons.append(
            "Other threads used TensorFlow while this cell ran: the device asked for does not hold there, "
            "and where their operations ran is not seen."
        )
    if sessions:
        reasons.append(
            "A tf.compat.v1.Session worked while this cell ran: where its operations ran is not seen."
        )
    return reasons


def plain(function: str) -> str:
    """`train_step` of `__inference_train_step_42`."""
    return function.split("_", 3)[-1].rpartition("_")[0] or function


def _follows(operation: str) -> bool:
    return any(word in operation for word in _FOLLOWS)


def _named(types: Counter[str]) -> str:
    named = ", ".join(f"{operation} {count:,}" for operation, count in types.most_common(NAMED))
    more = len(types) - NAMED
    return f"{named} and {_many(more, 'more type')}" if more > 0 else named


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
