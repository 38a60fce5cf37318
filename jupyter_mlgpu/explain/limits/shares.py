"""Divide a cell's time by cause: what each sample found, weighted by the time that it stands for.

A sample says what was called and how the thread was working. The samples at one place together say more:
native code that ran on while the sampler held the GIL was one long call, and a thread that never did so made
many short ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import calls
from jupyter_mlgpu.measure.activity.activity import Activity, Part
from jupyter_mlgpu.record.limit import LimitKind

#: Bytes of an array: an operation on at least the first is a long call, on at most the second a short one.
LARGE, SMALL = 1 << 20, 1 << 12
#: The share of the samples at a place that must be in native code for its calls to count as long.
_LONG = 0.25
#: The share of the time that a thread waits for processors from which on it counts as starved.
_STARVED = 0.2

#: A kind of limit, or a cause that is reported as one. earlier: waits for a GPU that worked on earlier cells.
#: gpu: the GPU's work while the time is being divided. importing: imports of modules.
Cause = LimitKind | Literal["earlier", "gpu", "importing"]
#: The line, call and activity that samples at the same operation have in common.
Where = tuple[object, ...]


def kind_of(cause: Cause) -> LimitKind:
    """Return the kind of limit as which a cause is reported."""
    match cause:
        case "earlier":
            return "waiting"
        case "gpu":
            return "device"
        case "importing":
            return "compiling"
    return cause


@dataclass(slots=True)
class Shares:
    """Seconds by cause, of `seconds` in all.

    Attributes:
        samples: how many were taken; unsampled time counts as the samples that would have fallen into it.
        parts: the parts of the activity that make up each cause.
        guessed: the seconds of a cause that rest on what was found after unsampled time, or on unknown names.
        exact: the cause whose time was recorded, not sampled; None if there is none.
    """

    seconds: float
    samples: int
    by_kind: dict[Cause, float] = field(default_factory=lambda: defaultdict(float))
    parts: dict[Cause, list[Part]] = field(default_factory=lambda: defaultdict(list))
    guessed: dict[Cause, float] = field(default_factory=lambda: defaultdict(float))
    exact: Cause | None = None
    _guesses: dict[Cause, list[bool]] = field(default_factory=lambda: defaultdict(list))

    def share(self, kind: Cause) -> float:
        """Return the share of the time, from 0 to 1."""
        return min(1.0, self.by_kind[kind] / self.seconds) if self.seconds > 0 else 0.0

    def add(self, kind: Cause, part: Part, *, guessed: bool = False) -> None:
        """Count a part for a cause."""
        self.by_kind[kind] += part.seconds
        self.parts[kind].append(part)
        self.guessed[kind] += part.seconds if guessed else 0.0
        self._guesses[kind].append(guessed)

    def move(
        self,
        old: Cause,
        new: Cause,
        which: Callable[[Part], bool],
        share: float = 1.0,
        *,
        guessed: bool = True,
    ) -> None:
        """Count parts, or a share of each, for another cause, because of evidence other than samples.

        They become guesses; if `guessed` is false, guesses stay guesses and the others stay certain.
        """
        guessing = guessed
        parts, guesses = self.parts.pop(old, []), self._guesses.pop(old, [])
        self.by_kind[old] = self.guessed[old] = 0.0
        for part, guessed in zip(parts, guesses, strict=True):
            moved = share if which(part) else 0.0
            if moved:
                self.add(new, replace(part, seconds=moved * part.seconds), guessed=guessing or guessed)
            if moved < 1:
                self.add(old, replace(part, seconds=(1 - moved) * part.seconds), guessed=guessed)

    def grant(self, old: Cause, new: Cause, which: Callable[[Part], bool], seconds: float) -> float:
        """Count up to so many seconds of the parts for another cause, and return how many were moved."""
        there = sum(part.seconds for part in self.parts[old] if which(part))
        granted = min(there, seconds)
        if granted > 0:
            self.move(old, new, which, granted / there, guessed=False)
        return max(0.0, granted)

    def fix(self, cause: Cause, seconds: float) -> None:
        """Set the recorded seconds of a cause; the other causes get at most the rest."""
        others = sum(self.by_kind.values()) - self.by_kind[cause]
        rest = min(1.0, max(0.0, self.seconds - seconds) / others) if others > 0 else 1.0
        for other in self.by_kind:
            self.by_kind[other] *= rest
        self.by_kind[cause], self.guessed[cause], self.exact = seconds, 0.0, cause

    def take(self, kind: Cause, share: float, *, but: Cause | None = None) -> None:
        """Give a share of all the time to a cause, taken from all other causes except `but`."""
        for other in self.by_kind:
            if other != but:
                self.by_kind[other] *= 1 - share
        self.by_kind[kind] += share * self.seconds


def of(activity: Activity, *, framework_worked: bool, on_gpu: bool) -> Shares:
    """Return the shares of a cell's activity.

    `framework_worked`: a framework is known to have computed in the cell. `on_gpu`: on a device other than
    the host.
    """
    every = (*activity.parts, *activity.unsampled_in)
    if not every:  # no sample could be taken
        found = Shares(activity.seconds, 0)
        kind: LimitKind = "python" if activity.unsampled_busy else "unknown"
        found.add(kind, Part("interpreter", activity.seconds, 0), guessed=True)
        return found
    seen = sum(part.seconds for part in activity.parts)
    missed = round(activity.unsampled * activity.samples / seen) if seen else 0
    found = Shares(seen + sum(part.seconds for part in activity.unsampled_in), activity.samples + missed)
    starved = (activity.processor_wait or 0.0) > _STARVED * activity.seconds
    reading = _Reading(_long(activity.parts), framework_worked, on_gpu, starved)
    for part in activity.parts:
        cause, guessed = reading.cause(part)
        found.add(cause, part, guessed=guessed)
    _backward_as_forward(found)
    for part in activity.unsampled_in:
        found.add(reading.cause_unseen(part), part, guessed=True)
    return found


def is_profiled(activity: Activity) -> bool:
    """Return True if the user's own profiler or debugger was active, in which case times say nothing."""
    return activity.traced or any(
        part.doing == "profiler" for part in (*activity.parts, *activity.unsampled_in)
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """The rules that assign a cause to a part of a cell.

    `long` are the places whose calls are long; `starved` means that the thread had to wait for processors.
    """

    long: frozenset[Where]
    framework_worked: bool
    on_gpu: bool
    starved: bool

    def cause(self, part: Part) -> tuple[Cause, bool]:
        """Return the cause of a part, and True if it is a guess."""
        if part.doing in ("compiling", "importing"):
            return part.doing, False
        if part.doing in ("loader", "input"):
            return "input", False
        if part.state == "idle beside Python":
            return "input", True  # data pipelines are what calls Python from native threads
        idle = part.state in ("idle", "idle beside others")
        if part.doing is None and calls.reads(part.call):
            return ("waiting", False) if idle else ("input", True)
        if part.state == "kept lock":
            return "python", True  # it ran before the call in which the sample was taken
        if part.doing == "copy" or (part.doing is None and calls.copies(part.call)):
            return ("transfer", False) if self.on_gpu else (self._computing(part), True)
        if self.framework_worked and part.doing is None and calls.waits_for_values(part):
            return "device", False
        if part.doing == "values" or (part.doing is None and calls.brings_values(part.call)):
            if self.on_gpu:
                return "device", False  # or a transfer, if the device was idle: `measured.gpu` corrects it
            if part.state == "idle":
                # A few numbers are computed at once, so the wait is for threads that pass them on.
                if _works_on(part, at_most=SMALL):
                    return "launch", True
                # An array in a local variable is not known, but a framework worked in this cell.
                computes = self.framework_worked and part.call is not None and part.call.module is None
                return ("device" if computes or calls.computes_lazily(part) else "waiting"), True
            return self._computing(part), False
        return self._by_state(part)

    def cause_unseen(self, part: Part) -> Cause:
        """Return the cause of a call that held the GIL, found where the thread released it in the end."""
        if part.state == "idle":
            return "unknown"
        if part.doing in ("compiling", "importing", "loader", "input"):
            return self.cause(part)[0]
        return "device" if calls.operates(part.call) and _works_on(part, at_least=LARGE) else "python"

    def _by_state(self, part: Part) -> tuple[LimitKind, bool]:
        match part.state:
            case "idle" if self.starved and calls.is_unnamed_wait(part):
                return self._short(part)[0], True  # it may have lacked a processor
            case "idle":
                return "waiting", calls.is_unnamed_wait(part)
            case "idle beside others":
                # A thread that sleeps does not wait for those that work meanwhile.
                return ("waiting", True) if calls.is_sleep(part.call) else ("device", part.doing == "waiting")
            case "native":
                return "device", False
            case "interpreter":
                # Long operations release the GIL; some libraries do not for short ones.
                small = calls.holds_gil(part) and _works_on(part, at_most=SMALL)
                if small or calls.operates(part.call):
                    return "launch", not small
                return "python", not calls.is_known(part)
            case "no processor":
                # Samples do not tell long calls from short ones here.
                known = _where(part) in self.long or _works_on(part, at_least=LARGE)
                known = known or _works_on(part, at_most=SMALL)
                return (self._short(part)[0] if known else "unknown"), True
            case _:
                return self._short(part)

    def _short(self, part: Part) -> tuple[LimitKind, bool]:
        """Return the cause of work during which the thread released the GIL again and again."""
        if _where(part) in self.long or _works_on(part, at_least=LARGE):
            return "device", False
        if calls.of_arrays(part):
            return "launch", False
        return ("launch", True) if self.framework_worked else ("python", True)

    def _computing(self, part: Part) -> LimitKind:
        """Return the cause of asking for values that the host itself computes."""
        native = part.state in ("native", "idle beside others", "idle") or _where(part) in self.long
        return "device" if native else "launch"


def _backward_as_forward(found: Shares) -> None:
    """Count a backward pass as launches if the forward operations were launches.

    It is one call of as many operations.
    """
    forward = {
        kind: sum(one.seconds for one in found.parts[kind] if not calls.goes_backward(one.call))
        for kind in ("launch", "device")
    }
    if forward["launch"] > forward["device"]:
        found.move("device", "launch", lambda part: calls.goes_backward(part.call))


def _long(parts: Iterable[Part]) -> frozenset[Where]:
    """Return the places whose calls are long."""
    native: dict[Where, int] = defaultdict(int)
    worked: dict[Where, int] = defaultdict(int)
    for part in parts:
        # Without a processor, nothing is known about the call.
        if part.state in ("native", "interpreter", "kept lock", "short calls"):
            worked[_where(part)] += part.samples
            native[_where(part)] += part.samples if part.state == "native" else 0
    return frozenset(where for where, samples in worked.items() if native[where] >= _LONG * samples)


def _where(part: Part) -> Where:
    return part.line, part.call and part.call.text, part.doing


def _works_on(part: Part, *, at_least: int = 0, at_most: int | None = None) -> bool:
    """Return True if an array of the call has a known size within these bounds, in bytes."""
    sizes = [call.size for call in (part.call, part.line_call) if call is not None and call.size is not None]
    return bool(sizes) and max(sizes) >= at_least and (at_most is None or max(sizes) <= at_most)
