"""The headline of a collection: the engine that the others waited for, or the one that worked longest."""

from __future__ import annotations

from jupyter_mlgpu.explain.engines.collection import Collection, busy_ns
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, say


def headline(found: Collection) -> Sentence:
    """Return the verdict as one sentence, which begins with a remark if an engine is missing."""
    verdict = _verdict(found)
    if not found.partial:
        return verdict
    answered = sum(one.why is None for one in found.engines)
    return say(
        "Partial, {told} of {total} engines: {verdict}",
        told=answered,
        total=len(found.engines),
        verdict=verdict,
    )


def _verdict(found: Collection) -> Sentence:
    waited = [one for one in found.phases if one.waiting_ns is not None]
    if len(waited) > 1:
        ordered = sorted(waited, key=lambda one: one.waiting_ns or 0)
        first, last = ordered[0], ordered[-1]
        # The engine that waits least arrived last. The difference must exceed the clocks' uncertainty.
        if (last.waiting_ns or 0) - (first.waiting_ns or 0) > last.unsure_ns + first.unsure_ns:
            return say(
                "Engine {slow} kept the others waiting: engine {other} waited {time} for it.",
                slow=str(first.engine),
                other=str(last.engine),
                time=units.seconds((last.waiting_ns or 0) / 1e9),
            )
        return say("It is not certain that any engine kept the others waiting.")
    busy = {
        one.engine: busy_ns(placed for placed in found.timeline if placed.engine == one.engine)
        for one in found.engines
        if one.records
    }
    if not busy:
        return say("No engine has a record yet.")
    longest = max(busy, key=lambda engine: busy[engine])
    time = units.seconds(busy[longest] / 1e9)
    if len(busy) == 1:
        return say("Engine {engine} was busy for {time}.", engine=str(longest), time=time)
    least = units.seconds(min(busy.values()) / 1e9)
    if least == time:
        return say("All {count} engines were busy for the same time, {time}.", count=len(busy), time=time)
    return say(
        "Engine {engine} was busy longest, for {time}; the least busy engine for {least}.",
        engine=str(longest),
        time=time,
        least=least,
    )
