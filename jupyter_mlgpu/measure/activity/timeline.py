"""Samples of a cell's thread over time, in bins that become wider as the cell goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from jupyter_mlgpu.measure.activity.activity import Doing, Line, State
from jupyter_mlgpu.record.limit import LimitKind
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
#: Seconds of a bin, by the thread's activity (a letter) and its line.
_Bin = dict[tuple[str, Line | None], float]

#: Initial width of a bin, in seconds.
_NARROWEST = 0.005

#: Letters until the cell's limit is known. Samples do not tell how much of the time of short calls was Python
#: between the calls and how much was native code in them, nor whether a thread that waits while others of its
#: process work waits for them.
_SHORT_CALLS, _BESIDE_OTHERS = "s", "o"
#: Letters by state. Time in which the thread waited for a CPU is counted apart, as waiting.
_BY_STATE: dict[State, str] = {
    "interpreter": PYTHON,
    "kept lock": PYTHON,
    "short calls": _SHORT_CALLS,
    "native": NATIVE,
    "no processor": NATIVE,
    "idle": WAITING,
    "idle beside others": _BESIDE_OTHERS,
    "idle beside Python": PYTHON,
}


class Timeline:
    """The timeline of one cell. Times are in seconds since its beginning."""

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
        """Count a sample that stands for the `seconds` up to `until`, `waited` of them without a CPU.

        The sample shows the end of that time. If it is without a CPU, the wait came last, else first.
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
        """Return the lane of a cell that ended at this time."""
        letters = "".join(
            self._most(entries, lambda key: key[0]) or NOT_SAMPLED for entries in self._bins_until(until)
        )
        spent = sorted(self._spent.items(), key=lambda entry: -entry[1])
        return HostLane(self._width, letters, tuple(Spent(did, seconds) for did, seconds in spent))

    def lines(self, until: float) -> tuple[Line | None, ...]:
        """Return the line that ran most in each bin of the lane."""
        return tuple(self._most(entries, lambda key: key[1]) for entries in self._bins_until(until))

    def _bins_until(self, until: float) -> list[_Bin]:
        number = max(1, min(BINS, -(-int(until * 1e6) // int(self._width * 1e6))))
        return [*self._bins, *({} for _ in range(number - len(self._bins)))][:number]

    def _most(self, entries: _Bin, part: Callable[[tuple[str, Line | None]], K]) -> K | None:
        """Return the part of the keys with the most time in a bin; None if less than half was sampled."""
        sums: dict[K, float] = {}
        for key, seconds in entries.items():
            sums[part(key)] = sums.get(part(key), 0.0) + seconds
        return max(sums, key=sums.__getitem__) if sum(entries.values()) >= self._width / 2 else None

    def _widen(self) -> None:
        self._width *= 2
        halves = [*self._bins, {}]
        self._bins = [
            {did: left.get(did, 0.0) + right.get(did, 0.0) for did in (*left, *right)}
            for left, right in zip(halves[::2], halves[1::2], strict=False)
        ]


def finished(lane: HostLane | None, lines: Sequence[Line | None], limit: LimitKind | None) -> HostLane | None:
    """Return the lane with the lines of its bins as the user sees them. Lines of files are left out.

    `limit` is the kind of the cell's limit. Time that the samples leave open is shown as the limit counts it.
    """
    if lane is None:
        return None
    letters = {
        _SHORT_CALLS: PYTHON if limit == "python" else NATIVE,
        _BESIDE_OTHERS: WAITING if limit == "waiting" else NATIVE,
    }
    spent: dict[str, float] = {}
    for one in lane.spent:
        did = letters.get(one.did, one.did)
        spent[did] = spent.get(did, 0.0) + one.seconds
    sums = sorted(spent.items(), key=lambda entry: -entry[1])
    lane = replace(
        lane,
        did="".join(letters.get(letter, letter) for letter in lane.did),
        spent=tuple(Spent(did, seconds) for did, seconds in sums),
    )
    strip_lines = [
        StripLine(line.number, line.cell) if line and line.file is None else None for line in lines
    ]
    common = [line for line, _ in Counter(filter(None, strip_lines)).most_common(len(PLACES))]
    places = {line: PLACES[place] for place, line in enumerate(common)}
    ran = "".join(places.get(line, " ") if line else " " for line in strip_lines)
    return replace(lane, ran=ran if common else "", lines=tuple(common))
