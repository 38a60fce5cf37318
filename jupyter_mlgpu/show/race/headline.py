"""The headline of a race: the faster device, from which size on, and by how much, if that is certain.

Of a single device, it is how the time changes with the size.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.experiment.race.crossover import compare
from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Size, Timing
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.show.page.scales import written


def headline(result: RaceResult) -> Sentence:
    """Return the verdict as one sentence, which begins with a remark if the race ended early."""
    verdict = _verdict(result)
    if result.outcome == "error":
        return say("Ended by an error: {verdict}", verdict=verdict)
    return verdict if result.outcome == "ok" else say("Interrupted: {verdict}", verdict=verdict)


def fastest(lanes: Sequence[Lane], timings: Sequence[Timing | None]) -> tuple[Lane, Lane, str] | None:
    """Return the lane that is certainly faster than all others, the next one, and the ratio of their times.

    Returns None if that is not certain, or if fewer than two were measured.
    """
    known = [(one, lane) for one, lane in zip(timings, lanes, strict=True) if one is not None]
    if len(known) < 2:
        return None
    (best, lane), *others = sorted(known, key=lambda pair: pair[0].median)
    if not all(compare(best, other) < 0 for other, _ in others):
        return None
    return lane, others[0][1], _times(others[0][0], best)


def _verdict(result: RaceResult) -> Sentence:
    lanes = [one for one in result.lanes if one.timings]
    if not lanes:
        return say("Nothing was measured.")
    if len(lanes) == 1:
        return _alone(lanes[0], result)
    if result.unused:
        return say(
            "This code ran no operation of {framework}, so no device was chosen for it.",
            framework=registry.title(result.framework),
        )
    if result.variable is None:
        return _once(lanes)
    return _over(lanes, result.variable, result.sizes)


def _alone(lane: Lane, result: RaceResult) -> Sentence:
    """Return by how much the time of the only measured device changes with the size, or just the time."""
    answer = _growth(lane, result.variable)
    if len(result.lanes) == 1:
        return answer
    return joined(answer, say("Only {device} was measured.", device=lane.device))


def _growth(lane: Lane, variable: str | None) -> Sentence:
    ordered = sorted(lane.timings, key=lambda one: one.size or 0)
    small, large = ordered[0], ordered[-1]
    took = units.duration(small.median)
    if variable is None:
        return say("It takes {time} on {device}.", time=took, device=lane.device)
    start = f"{variable}={_written(small.size)}"
    if small is large:
        return say("At {size} it takes {time} on {device}.", size=start, time=took, device=lane.device)
    ends = {"start": start, "end": f"{variable}={_written(large.size)}"}
    if small.interval is None or large.interval is None:
        times = _times(large, small)
        return say("From {start} to {end} it takes about {times} times as long.", **ends, times=times)
    if compare(small, large) < 0:
        times = _times(large, small)
        return say("From {start} to {end} it takes {times} times as long.", **ends, times=times)
    if compare(large, small) < 0:
        times = _times(small, large)
        return say("From {start} to {end} it is {times} times as fast.", **ends, times=times)
    return say("It is not certain that its time changes from {start} to {end}.", **ends)


def _times(slow: Timing, quick: Timing) -> str:
    """Return the ratio of two times in words."""
    times = slow.median / quick.median
    return f"{times:,.0f}" if times >= 100 else f"{times:.3g}"


def _once(lanes: Sequence[Lane]) -> Sentence:
    timings = [one.timings[0] for one in lanes]
    found = fastest(lanes, timings)
    if found is not None:
        best, following, times = found
        fields = {"device": best.device, "other": following.device, "times": times}
        if len(lanes) > 2:
            return say("{device} is the fastest: {times} times as fast as {other}.", **fields)
        return say("{device} is faster: {times} times as fast as {other}.", **fields)
    if any(one.interval is None for one in timings):
        return say("It is not certain which device is faster: a single run has no spread.")
    took = " / ".join(
        f"{one.device} {units.duration(timing.median)}" for one, timing in zip(lanes, timings, strict=True)
    )
    return say("It is not certain which device is faster: the spreads overlap ({times}).", times=took)


def _over(lanes: Sequence[Lane], variable: str, sizes: Sequence[Size]) -> Sentence:
    """Return the verdict for the largest size, and the size from which the same device was always faster."""
    raced = [
        (size, fastest(lanes, [one.at(size) for one in lanes]))
        for size in sizes
        if sum(one.at(size) is not None for one in lanes) > 1
    ]
    if not raced:
        return say("No size was measured on two devices, so there is nothing to compare.")
    size, last = raced[-1]
    if last is None:
        return _open(variable, [(at, found) for at, found in raced if found is not None], size)
    best, _, times = last
    since = len(raced)
    while since and (found := raced[since - 1][1]) is not None and found[0] is best:
        since -= 1
    fields = {
        "verdict": say("{device} is the fastest", device=best.device)
        if len(lanes) > 2
        else say("{device} is faster", device=best.device),
        "variable": variable,
        "size": _written(size),
        "times": times,
    }
    if len(raced) == 1:
        return say("{verdict} at {variable} = {size}: {times} times as fast.", **fields)
    if since == 0:
        return say("{verdict} at every size: {times} times as fast at {variable} = {size}.", **fields)
    if since == len(raced) - 1:
        return say(
            "{verdict} only at the largest size: {times} times as fast at {variable} = {size}.", **fields
        )
    return say(
        "{verdict} from {variable} = {start} on: {times} times as fast at {variable} = {size}.",
        **fields,
        start=_written(raced[since][0]),
    )


def _open(variable: str, certain: Sequence[tuple[Size, tuple[Lane, Lane, str]]], size: Size) -> Sentence:
    if not certain:
        return say("It is not certain at any size which device is faster.")
    at, (best, _, times) = certain[-1]
    return say(
        "It is not certain which device is faster at the largest size, {variable} = {size}; "
        "at {variable} = {at}, {device} is {times} times as fast.",
        variable=variable,
        size=_written(size),
        at=_written(at),
        device=best.device,
        times=times,
    )


def _written(size: Size) -> str:
    return "" if size is None else written(size)
