"""What a cell's thread did when: samples put into bins, which become wider as the cell goes on."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import Doing, State
from jupyter_mlgpu.record.strip import (
    BINS,
    COMPILING,
    IMPORTING,
    NATIVE,
    NOT_SAMPLED,
    PYTHON,
    WAITING,
    HostLane,
    Spent,
)

#: Seconds of a bin at first.
_NARROWEST = 0.005

#: The letter for each state. A thread that waits while others of its process work counts as native code, for
#: they compute for it.
_BY_STATE: dict[State, str] = {
    "interpreter": PYTHON,
    "kept lock": PYTHON,
    "short calls": NATIVE,
    "native": NATIVE,
    "no processor": WAITING,
    "idle": WAITING,
    "idle beside others": NATIVE,
    "idle beside Python": PYTHON,
}


class Timeline:
    """Of one cell; moments are seconds since its begin."""

    def __init__(self) -> None:
        self._width = _NARROWEST
        self._bins: list[dict[str, float]] = []
        self._spent: dict[str, float] = {}

    def add(self, state: State, doing: Doing | None, until: float, seconds: float) -> None:
        """A sample that stands for so many seconds up to a moment."""
        did = {"importing": IMPORTING, "compiling": COMPILING}.get(doing or "") or _BY_STATE[state]
        self._spent[did] = self._spent.get(did, 0.0) + seconds
        while until > self._width * BINS:
            self._widen()
        at = max(0.0, until - seconds)
        while at < until:
            number = min(int(at / self._width + 1e-9), BINS - 1)
            end = min((number + 1) * self._width, until)
            self._bins += [{} for _ in range(number + 1 - len(self._bins))]
            self._bins[number][did] = self._bins[number].get(did, 0.0) + end - at
            if end <= at:
                break
            at = end

    def lane(self, until: float) -> HostLane:
        """The lane of a cell that ended at this moment."""
        number = max(1, min(BINS, -(-int(until * 1e6) // int(self._width * 1e6))))
        bins = [*self._bins, *({} for _ in range(number - len(self._bins)))][:number]
        letters = "".join(self._most(one) for one in bins)
        spent = sorted(self._spent.items(), key=lambda one: -one[1])
        return HostLane(self._width, letters, tuple(Spent(did, seconds) for did, seconds in spent))

    def _most(self, one: dict[str, float]) -> str:
        """Return the letter that has most of a bin, or a space where less than half of it was sampled."""
        did = max(one, key=one.__getitem__, default=NOT_SAMPLED)
        return did if sum(one.values()) >= self._width / 2 else NOT_SAMPLED

    def _widen(self) -> None:
        self._width *= 2
        halves = [*self._bins, {}]
        self._bins = [
            {did: one.get(did, 0.0) + other.get(did, 0.0) for did in (*one, *other)}
            for one, other in zip(halves[::2], halves[1::2], strict=False)
        ]
