"""One device's part of a race: warm-up, repeats, and the clock, read only when the device is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.clock import Clock, seconds_between
from jupyter_mlgpu.frameworks import registry
from jupyter_mlgpu.frameworks.base import Backend, Device, Observed
from jupyter_mlgpu.race.result import Lane, Timing
from jupyter_mlgpu.race.statistics import median

#: Warm-up ends with three runs in succession that differ by no more than this share of the longest,
STEADY = 0.2
#: or after so many runs;
WARMUPS = 10
#: but runs that are shorter together go on for so many seconds, or
SHORTEST_S = 0.05
#: so many runs: threads, caches and clock rates settle with time, not with runs.
SHORT_WARMUPS = 1000
#: After so many seconds it ends in any case.
WARMUP_S = 10.0

#: Runs of nothing, which tell how much of each time is waiting.
_EMPTY_RUNS = 30


class RacingCell(Protocol):
    """What is raced. `quiet` swallows what a run prints; `None` for a size means that there are none."""

    def setup(self) -> None:
        """Make what the runs need; called once on each device, not timed."""
        ...

    def prepare(self, size: float | None) -> None:
        """Set the size; called before each run, not timed."""
        ...

    def run(self) -> object:
        """Run the cell once; returns the value of its last expression."""
        ...

    def quiet(self) -> AbstractContextManager[object]:
        """Entered around each run but a lane's first."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """What is about to run: `number` of `repeats`, 0 for warm-up."""

    device: str
    size: float | None
    number: int
    repeats: int


class Runner:
    """Runs a cell on one device after another, each time afresh."""

    def __init__(
        self,
        backend: Backend,
        cell: RacingCell,
        *,
        sizes: Sequence[float | None],
        repeats: int,
        clock: Clock,
        on_run: Callable[[Progress], None] = lambda progress: None,
        on_timing: Callable[[Timing], None] = lambda timing: None,
        on_seen: Callable[[Observed], None] = lambda seen: None,
    ) -> None:
        self._backend = backend
        self._cell = cell
        self._sizes = sizes
        self._repeats = repeats
        self._clock = clock
        self._on_run = on_run
        self._on_timing = on_timing
        self._on_seen = on_seen

    def lane(self, device: Device) -> tuple[Lane, BaseException | None]:
        """The lane of one device, and what ended it early: an error of the cell's, or an interrupt."""
        made = _Lane(device, self._hardware(device))
        error: BaseException | None = None
        try:
            scope = self._backend.enter(device)
        except Exception as problem:
            return made.finish(problem), problem
        try:
            self._measure(made)
        except BaseException as problem:
            error = problem
        finally:
            note = scope.leave()
        if note is not None:
            made.notes.append(f"{device.name}: {note}")
        return made.finish(error), error

    def _hardware(self, device: Device) -> str | None:
        try:
            return self._backend.details(device).hardware
        except Exception:  # a name that is not known is left out
            return None

    def _measure(self, made: _Lane) -> None:
        made.empty = self._empty()
        self._cell.setup()
        for size in self._sizes:
            made.begin(size)
            self._warm_up(made, size)
            for number in range(1, self._repeats + 1):
                self._on_run(Progress(made.device.name, size, number, self._repeats))
                made.samples.append(self._once(size, quiet=True))
            self._on_timing(made.keep())

    def _warm_up(self, made: _Lane, size: float | None) -> None:
        self._on_run(Progress(made.device.name, size, 0, self._repeats))
        times: list[float] = []
        while not _warm(times):
            times.append(self._once(size, quiet=True) if made.seen else self._first(made, size))
            made.warmups, made.steady = len(times), _steady(times)

    def _first(self, made: _Lane, size: float | None) -> float:
        """The lane's first run: it is heard and watched. Watching takes time, so no other run is."""
        made.seen = True
        observation = self._backend.observe()
        try:
            return self._once(size, quiet=False)
        finally:
            seen = observation.finish()
            made.notes += _where(made.device, seen)
            self._on_seen(seen)
            self._backend.rest()

    def _once(self, size: float | None, *, quiet: bool) -> float:
        """Seconds of one run, whose value is kept until then: JAX waits for what is still there."""
        self._cell.prepare(size)
        with self._cell.quiet() if quiet else nullcontext():
            self._backend.synchronize()
            begun = self._clock.monotonic_ns()
            value = self._cell.run()
            registry.evaluate(self._backend.name, value)
            self._backend.synchronize()
            ended = self._clock.monotonic_ns()
            del value
        return seconds_between(begun, ended)

    def _empty(self) -> float:
        times = []
        for _ in range(_EMPTY_RUNS):
            self._backend.synchronize()
            begun = self._clock.monotonic_ns()
            self._backend.synchronize()
            times.append(seconds_between(begun, self._clock.monotonic_ns()))
        return median(times)


class _Lane:
    """A lane under way: whatever ends it, what was measured until then is kept."""

    def __init__(self, device: Device, hardware: str | None) -> None:
        self.device = device
        self._hardware = hardware
        self._timings: list[Timing] = []
        self.notes: list[str] = []
        self.empty: float | None = None
        self.seen = False
        self.begin(None)

    def begin(self, size: float | None) -> None:
        self._size = size
        self.samples: list[float] = []
        self.warmups = 0
        self.steady = False

    def keep(self) -> Timing:
        timing = Timing(self._size, tuple(self.samples), self.warmups, self.steady)
        self._timings.append(timing)
        self.samples = []
        return timing

    def finish(self, error: BaseException | None) -> Lane:
        if self.samples:
            self.keep()
        return Lane(
            self.device.name,
            self.device.kind,
            self._hardware,
            tuple(self._timings),
            self.empty,
            None if error is None else _words(error),
            tuple(self.notes),
        )


def _steady(times: Sequence[float]) -> bool:
    last = times[-3:]
    return len(last) == 3 and max(last) - min(last) <= STEADY * max(last)


def _warm(times: Sequence[float]) -> bool:
    """Whether warm-up is over, after runs of so many seconds."""
    spent, runs = sum(times), len(times)
    if spent < SHORTEST_S:
        return runs >= SHORT_WARMUPS
    return spent >= WARMUP_S or runs >= WARMUPS or _steady(times)


def _words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"ended by {type(error).__name__}"


def _where(device: Device, seen: Observed) -> list[str]:
    """What is known of where the first run's work went: a device's lane may have run elsewhere."""
    if seen.ran_on is None:
        return [f"{device.name}: {seen.why_missing}"] if seen.why_missing else []
    places = {entry.device for entry in seen.ran_on}
    if not places or places == {device.name}:
        return []
    named = ", ".join(sorted(places))
    what = "only part of the work ran there" if device.name in places else "the work did not run there"
    return [f"{device.name}: {what}, but on {named}: what was made on another device may stay there."]
