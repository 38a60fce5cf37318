"""What a cell's thread did when: samples put into bins, which become wider as the cell goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from jupyter_mlgpu.measure.activity.activity import Doing, Line, State
from jupyter_mlgpu.record.strip import (
    BINS,
    COMPILING,
    IMPORTING,
    NATIVE,
    NOT_SAMPLED,
    PLACES,
    PYTHON,
    WAITING,
    HostLane,
    Spent,
    StripLine,
)

K = TypeVar("K", bound=Hashable)
#: Seconds of a bin, by what the thread did (a letter) and the line it was at.
_Bin = dict[tuple[str, Line | None], float]

#: Seconds of a bin at first.
_NARROWEST = 0.005

#: The letter for each state, of the time in which the thread had a processor. A thread that waits while
#: others of its process work counts as native code, for they compute for it.
_BY_STATE: dict[State, str] = {
    "interpreter": PYTHON,
    "kept lock": PYTHON,
    "short calls": NATIVE,
    "native": NATIVE,
    "no processor": NATIVE,
    "idle": WAITING,
    "idle beside others": NATIVE,
    "idle beside Python": PYTHON,
}


class Timeline:
    """Of one cell; moments are seconds since its begin."""

    def __init__(self) -> None:
        self._width = _NARROWEST
        self._bins: list[_Bin] = []
        self._spent: dict[str, float] = {}

    def add(
        self,
        state: State,
        doing: Doing | None,
        until: float,
        seconds: float,
        line: Line | None = None,
        *,
        waited: float = 0.0,
    ) -> None:
        """A sample that stands for so many seconds up to a moment, of which it `waited` for a processor.

        The sample saw the end of that time: one without a processor waited last, another one first.
        """
        did = {"importing": IMPORTING, "compiling": COMPILING}.get(doing or "") or _BY_STATE[state]
        parts = [(did, seconds - waited), (WAITING, waited)]
        for what, part in parts if state == "no processor" else reversed(parts):
            seconds -= part
            if part > 0:
                self._add(what, until - seconds, part, line)

    def _add(self, did: str, until: float, seconds: float, line: Line | None) -> None:
        self._spent[did] = self._spent.get(did, 0.0) + seconds
        while until > self._width * BINS:
            self._widen()
        at = max(0.0, until - seconds)
        while at < until:
            number = min(int(at / self._width + 1e-9), BINS - 1)
            end = min((number + 1) * self._width, until)
            self._bins += [{} for _ in range(number + 1 - len(self._bins))]
            self._bins[number][did, line] = self._bins[number].get((did, line), 0.0) + end - at
            if end <= at:
                break
            at = end

    def lane(self, until: float) -> HostLane:
        """The lane of a cell that ended at this moment."""
        letters = "".join(
            self._most(one, lambda key: key[0]) or NOT_SAMPLED for one in self._bins_until(until)
        )
        spent = sorted(self._spent.items(), key=lambda one: -one[1])
        return HostLane(self._width, letters, tuple(Spent(did, seconds) for did, seconds in spent))

    def lines(self, until: float) -> tuple[Line | None, ...]:
        """The line that ran most in each bin of that lane."""
        return tuple(self._most(one, lambda key: key[1]) for one in self._bins_until(until))

    def _bins_until(self, until: float) -> list[_Bin]:
        number = max(1, min(BINS, -(-int(until * 1e6) // int(self._width * 1e6))))
        return [*self._bins, *({} for _ in range(number - len(self._bins)))][:number]

    def _most(self, one: _Bin, part: Callable[[tuple[str, Line | None]], K]) -> K | None:
        """Return that part of the keys which has most of a bin; None if less than half was sampled."""
        sums: dict[K, float] = {}
        for key, seconds in one.items():
            sums[part(key)] = sums.get(part(key), 0.0) + seconds
        return max(sums, key=sums.__getitem__) if sum(one.values()) >= self._width / 2 else None

    def _widen(self) -> None:
        self._width *= 2
        halves = [*self._bins, {}]
        self._bins = [
            {did: one.get(did, 0.0) + other.get(did, 0.0) for did in (*one, *other)}
            for one, other in zip(halves[::2], halves[1::2], strict=False)
        ]


def with_lines(lane: HostLane | None, lines: Sequence[Line | None]) -> HostLane | None:
    """Return the lane with the lines of its bins, as the user sees them; lines of files are left out."""
    if lane is None:
        return None
    seen = [StripLine(one.number, one.cell) if one and one.file is None else None for one in lines]
    common = [one for one, _ in Counter(filter(None, seen)).most_common(len(PLACES))]
    places = {one: PLACES[place] for place, one in enumerate(common)}
    ran = "".join(places.get(one, " ") if one else " " for one in seen)
    return replace(lane, ran=ran if common else "", lines=tuple(common))
