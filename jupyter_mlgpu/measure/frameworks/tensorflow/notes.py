"""Notes on where TensorFlow's operations ran: on other devices, with copies, or not observed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import GraphParts
from jupyter_mlgpu.measure.frameworks.tensorflow.names import short_name
from jupyter_mlgpu.record.sentence import Sentence, joined, listed, say, say_count

#: An operation that ran: the device set when it was called (or None), the device it ran on, its type.
Placed = tuple[str | None, str, str]

#: The number of types that a sentence names; the others are counted.
NAMED = 5

# These run where their variable, data or queue is, whichever device is selected, so they say nothing about
# placement. Another note names weights on another device.
_FOLLOWS = ("Variable", "VarHandle", "VarIs", "Resource", "Iterator", "Dataset", "Optional", "HashTable")
# Operations that TensorFlow adds to each part of a partitioned loop or branch, and constants.
_PLUMBING = frozenset(
    {"_EagerConst", "Enter", "Exit", "Identity", "LoopCond", "Merge", "NextIteration", "Switch"}
)

_NUMBERED = re.compile(r"device:\w+:\d+$", re.IGNORECASE)


def placement_notes(counts: Mapping[Placed, int], *, complete: bool) -> list[Sentence]:
    """Return notes on operations that ran on another device than the one set at their call, by type.

    Operations that only pass values between devices are not counted at all. An operation whose arguments a
    GPU keeps in host memory counts as the GPU's, as TensorFlow reports it. Operations that follow their
    variable or data, and those of loops, are left out. Why an operation ran there (no kernel on the device, a
    `tf.device` inside a function) is not known. `complete` is False if not all operations were observed.
    """
    requested: Counter[str] = Counter()
    misplaced: dict[tuple[str, str], Counter[str]] = {}
    for (wanted, device, operation), count in counts.items():
        if not wanted or not _NUMBERED.search(wanted):  # a user's tf.device may name only a job
            continue
        requested[short_name(wanted)] += count
        if wanted != device and operation not in _PLUMBING and not _follows(operation):
            misplaced.setdefault((short_name(wanted), short_name(device)), Counter())[operation] += count
    return [
        say(
            "{ran} of {operations} ran on {device}, not on {wanted}: {types}.",
            ran=types.total(),
            operations=_operations(requested[wanted], complete),
            device=ran,
            wanted=wanted,
            types=_named(types),
        )
        for (wanted, ran), types in misplaced.items()
        if wanted != ran
    ]


def copy_notes(called: Sequence[tuple[str, int, GraphParts]]) -> list[Sentence]:
    """Return a note on variables copied between devices by the graph that copied most, and the other copies.

    `called` lists each graph's name, number of calls and parts.
    """
    totals = [(parts.copies.total() * times, name, times, parts) for name, times, parts in called]
    copying = sorted((one for one in totals if one[0]), key=lambda one: one[0], reverse=True)
    if not copying:
        return []
    _, name, times, parts = copying[0]
    ways = [
        say(
            "{count} from {leaves} to {reaches}",
            count=count,
            leaves=short_name(one),
            reaches=short_name(other),
        )
        for (one, other), count in parts.copies.most_common(3)
    ]
    most = say(
        "Variable values copied between devices in {often} to {name}: {ways}.",
        often=say_count("the only call", "each of {count} calls", times),
        name=plain(name),
        ways=listed(ways),
    )
    rest = sum(one[0] for one in copying[1:])
    return [joined(most, say("Other graphs copied {rest} more.", rest=rest)) if rest else most]


def unprepared_notes(graphs: Sequence[str], one_device: bool) -> list[Sentence]:
    """Return a note on graphs whose operations are not known; with one device, their place is known."""
    if not graphs:
        return []
    names = ", ".join(sorted({plain(name) for name in graphs})[:3])
    if one_device:
        return [
            say(
                "It is not known how many operations of {names} ran: TensorFlow prepared the "
                "graph while not being observed, and reports on it only then.",
                names=names,
            )
        ]
    return [
        say(
            "It is not known where the operations of {names} ran: TensorFlow prepared the "
            "graph while not being observed, and reports on it only then.",
            names=names,
        )
    ]


def unobserved_notes(*, other_threads: bool, sessions: bool) -> list[Sentence]:
    """Return notes on work that is not observed: of other threads, without a device, and of sessions."""
    reasons: list[Sentence] = []
    if other_threads:
        reasons.append(
            say(
                "Other threads used TensorFlow while this cell ran: the selected device does "
                "not apply to them, and it is not known where their operations ran."
            )
        )
    if sessions:
        reasons.append(
            say(
                "A tf.compat.v1.Session was used while this cell ran: it is not known where "
                "its operations ran."
            )
        )
    return reasons


def plain(function: str) -> str:
    """Return `train_step` of `__inference_train_step_42`."""
    return function.split("_", 3)[-1].rpartition("_")[0] or function


def _follows(operation: str) -> bool:
    return any(word in operation for word in _FOLLOWS)


def _named(types: Counter[str]) -> str:
    named = ", ".join(f"{operation} {count:,}" for operation, count in types.most_common(NAMED))
    more = len(types) - NAMED
    other = say_count("{count} more type", "{count} more types", more)
    return say("{one} and {other}", one=named, other=other) if more > 0 else named


def _operations(count: int, complete: bool) -> Sentence:
    if complete:
        return say_count("{count} operation", "{count} operations", count)
    return say_count("{count} observed operation", "{count} observed operations", count)
