"""Split a training step into compute and communication, by blocks of these names, and find the waiting in it.

    with jupyter_mlgpu.trace("compute"): ...
    with jupyter_mlgpu.trace("communicate"): ...

A communication block lasts from the moment at which this engine reaches the exchange until it has the result,
which is not before the last engine has reached it. So the time from its own start to the start of the last
engine is waiting; the rest is the exchange itself. This holds for exchanges in which all engines take part,
such as an all-reduce, where the n-th block of one engine belongs to the n-th block of each other. If the
blocks contradict this, no waiting is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record.sentence import say

COMPUTE, COMMUNICATE = "compute", "communicate"


@dataclass(frozen=True, slots=True)
class Phases:
    """The sums of one engine's blocks in nanoseconds, and their numbers.

    `waiting_ns` is the part of `communicate_ns` before the last engine reached the exchange, with an error of
    at most `unsure_ns`; None if it is not known.
    """

    engine: int
    compute_ns: int
    computes: int
    communicate_ns: int
    exchanges: int
    waiting_ns: int | None
    unsure_ns: int


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int


def phases(engines: Sequence[EngineReport]) -> tuple[tuple[Phases, ...], str | None]:
    """Return the phases of each engine that has such blocks, and the reason if the waiting is not known."""
    known = [one for one in engines if one.offset is not None]
    computed = {one.engine: _blocks(one, COMPUTE, 0) for one in known}
    clocks = _clocks(known)
    exchanged = {one.engine: _blocks(one, COMMUNICATE, clocks[one.engine][0]) for one in known}
    with_blocks = [one.engine for one in known if computed[one.engine] or exchanged[one.engine]]
    together = {number: exchanged[number] for number in with_blocks if exchanged[number]}
    why = _why_not(together, clocks) if together else None
    found = []
    for number in with_blocks:
        waited = None if why is not None or number not in together else _waited(number, together, clocks)
        found.append(
            Phases(
                number,
                _total_ns(computed[number]),
                len(computed[number]),
                _total_ns(exchanged[number]),
                len(exchanged[number]),
                *(waited or (None, 0)),
            )
        )
    return tuple(found), why


def _blocks(one: EngineReport, name: str, offset: int) -> list[_Block]:
    found = []
    for record in one.records:
        wall = record.reading("wall_time").value
        if record.cell.name == name and record.cell.source_digest is None and wall is not None:
            start = record.started_monotonic_ns - offset
            found.append(_Block(start, start + round(wall * 1e9)))
    return sorted(found, key=lambda block: block.start)


def _clocks(engines: Sequence[EngineReport]) -> dict[int, tuple[int, int, int]]:
    """Return, by engine, the offset of its clock, its uncertainty, and a number that identifies the clock.

    Processes of one machine share a clock (see `offsets.SAME_CLOCK`). Engines that name the same machine, and
    whose offsets do not contradict it, are exact relative to each other.
    """
    clocks: dict[int, tuple[int, int, int]] = {}
    firsts: list[EngineReport] = []
    for one in engines:
        assert one.offset is not None
        for number, first in enumerate(firsts):
            assert first.offset is not None
            near = abs(one.offset.ns - first.offset.ns)
            if one.host == first.host and near <= one.offset.uncertainty_ns + first.offset.uncertainty_ns:
                clocks[one.engine] = (first.offset.ns, first.offset.uncertainty_ns, number)
                break
        else:
            clocks[one.engine] = (one.offset.ns, one.offset.uncertainty_ns, len(firsts))
            firsts.append(one)
    return clocks


def _uncertainty(one: int, other: int, clocks: dict[int, tuple[int, int, int]]) -> int:
    """Return the largest error between the times of two engines."""
    same = clocks[one][2] == clocks[other][2]
    return 0 if same else clocks[one][1] + clocks[other][1]


def _why_not(blocks: dict[int, list[_Block]], clocks: dict[int, tuple[int, int, int]]) -> str | None:
    if len(blocks) < 2:
        return say(
            "How much of communicate was waiting is not known: only one engine has blocks with that name."
        )
    counts = {number: len(of_one) for number, of_one in blocks.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"engine {number}: {count:,}" for number, count in counts.items())
        return say(
            "How much of communicate was waiting is not known: the engines have different "
            "numbers of these blocks ({counts}).",
            counts=listed,
        )
    for nth in zip(*blocks.values(), strict=True):
        numbered = list(zip(blocks, nth, strict=True))
        for number, one in numbered:
            if any(one.end + _uncertainty(number, other, clocks) < their.start for other, their in numbered):
                return say(
                    "How much of communicate was waiting is not known: in one of these blocks, "
                    "an engine finished before another started, so it was not an exchange among "
                    "all engines."
                )
    return None


def _waited(
    number: int, blocks: dict[int, list[_Block]], clocks: dict[int, tuple[int, int, int]]
) -> tuple[int, int]:
    waited = unsure = 0
    for place, mine in enumerate(blocks[number]):
        last = max(blocks, key=lambda other: blocks[other][place].start)
        waited += max(0, min(blocks[last][place].start, mine.end) - mine.start)
        unsure += max(_uncertainty(number, other, clocks) for other in blocks)
    return waited, unsure


def _total_ns(blocks: Sequence[_Block]) -> int:
    return sum(one.end - one.start for one in blocks)
