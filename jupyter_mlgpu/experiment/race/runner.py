"""Run one device's part of a race: warm-up and repeats, timed until the device is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Protocol

from jupyter_mlgpu.experiment.race.result import Lane, Size, Timing
from jupyter_mlgpu.experiment.timing import STEADY_RUNS, Repeats, Timings, seconds_of
from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Observed
from jupyter_mlgpu.record.clock import Clock
from jupyter_mlgpu.record.sentence import Sentence, say

#: The number of empty runs. Their median is the part of each time that waiting for an idle device takes.
_EMPTY_RUNS = 30


class RacingCell(Protocol):
    """The cell that is raced. If the race has no sizes, the size is None."""

    def setup(self) -> None:
        """Create what the runs need; called once on each device, not timed."""
        ...

    def prepare(self, size: float | None) -> None:
        """Set the size; called before each run, not timed."""
        ...

    def run(self) -> object:
        """Run the cell once and return the value of its last expression."""
        ...

    def quiet(self) -> AbstractContextManager[object]:
        """Return a context that hides what a run prints, unless the run fails.

        It is entered around every run except the first one on each device.
        """
        ...


@dataclass(frozen=True, slots=True)
class RaceProgress:
    """The next run: `number` of `repeats`, 0 for warm-up."""

    device: str
    size: Size
    number: int
    repeats: int


@dataclass
class RaceRunner:
    """Runs a race on one device after another.

    A lane is one device's part of the race. `racing.race` calls `lane` once for each device. All lanes of one
    runner share the cell's namespace.
    """

    backend: Backend
    cell: RacingCell
    _: KW_ONLY
    sizes: Sequence[float | None]
    repeats: int
    clock: Clock
    on_run: Callable[[RaceProgress], None] = lambda progress: None
    on_timing: Callable[[Timing], None] = lambda timing: None
    on_observed: Callable[[Observed], None] = lambda observed: None

    def lane(self, device: Device) -> tuple[Lane, BaseException | None]:
        """Return the lane of one device, and what ended it early: an error of the cell, or an interrupt."""
        lane = _UnfinishedLane(device, guarded.hardware(self.backend, device))
        error: BaseException | None = None
        try:
            scope = self.backend.enter(device)
        except Exception as enter_error:
            return lane.finish(enter_error), enter_error
        try:
            self._measure(lane)
        except BaseException as run_error:
            error = run_error
        finally:
            note = scope.leave()
        if note is not None:
            lane.notes.append(say("{device}: {note}", device=device.name, note=note))
        return lane.finish(error), error

    def _measure(self, lane: _UnfinishedLane) -> None:
        lane.empty_run_s = median([self._time(lambda: None) for _ in range(_EMPTY_RUNS)])
        self.cell.setup()
        for size in self.sizes:
            lane.size = size
            self._measure_at_size(lane, size)
            self.on_timing(lane.finish_size())

    def _measure_at_size(self, lane: _UnfinishedLane, size: float | None) -> None:
        """Run the cell at one size, first to warm up, then `repeats` times."""

        def on_run(number: int) -> None:
            self.on_run(RaceProgress(lane.device.name, size, number, self.repeats))

        def run_to_warm_up() -> float:
            return self._time_cell(size, quiet=True) if lane.first_run_begun else self._first_run(lane, size)

        on_run(0)
        lane.timings.warm_up(run_to_warm_up, STEADY_RUNS)
        lane.timings.repeat(partial(self._time_cell, size, quiet=True), Repeats(self.repeats), on_run)

    def _first_run(self, lane: _UnfinishedLane, size: float | None) -> float:
        """Run the cell on this device for the first time and return the seconds.

        It is the only run in which the cell may print and in which operations are observed. It is a warm-up,
        so observing does not change the measured times.
        """
        lane.first_run_begun = True
        observation = self.backend.observe_closely()
        try:
            return self._time_cell(size, quiet=False)
        finally:
            observed = observation.finish()
            lane.notes += _placement_notes(lane.device, observed)
            lane.unused, lane.use_known = observed.ran_on == (), observed.known
            self.on_observed(observed)
            self.backend.release()

    def _time_cell(self, size: float | None, *, quiet: bool) -> float:
        """Run the cell once and return the seconds."""
        self.cell.prepare(size)
        with self.cell.quiet() if quiet else nullcontext():
            return self._time(self._run_and_evaluate)

    def _run_and_evaluate(self) -> object:
        value = self.cell.run()
        # A lazy framework computes the value only now, and this belongs to the run.
        registry.evaluate(self.backend.name, value)
        return value

    def _time(self, run: Callable[[], object]) -> float:
        return seconds_of(run, self.backend.synchronize, self.clock)


@dataclass
class _UnfinishedLane:
    """A lane during the race. If the lane ends early, `finish` keeps what was measured before.

    `unused` is true if the first run had no operation of the framework. `use_known` is true if this is known.
    """

    device: Device
    hardware: str | None
    finished: list[Timing] = field(default_factory=list)
    notes: list[Sentence] = field(default_factory=list)
    empty_run_s: float | None = None
    first_run_begun: bool = False
    unused: bool = False
    use_known: bool = False
    size: float | None = None
    timings: Timings = field(default_factory=Timings)

    def finish_size(self) -> Timing:
        """Store and return what was measured at this size. It is not complete if the race was interrupted."""
        done, self.timings = self.timings, Timings()
        self.finished.append(Timing(self.size, tuple(done.samples), done.warmups, done.steady))
        return self.finished[-1]

    def finish(self, error: BaseException | None) -> Lane:
        if self.timings.samples:
            self.finish_size()
        return Lane(
            self.device.name,
            self.device.kind,
            self.hardware,
            tuple(self.finished),
            self.empty_run_s,
            None if error is None else _error_sentence(error),
            tuple(self.notes),
            self.unused,
            self.use_known,
        )


def _error_sentence(error: BaseException) -> Sentence:
    if isinstance(error, KeyboardInterrupt):
        return say("interrupted")
    return say("ended by {type}", type=type(error).__name__)


def _placement_notes(device: Device, observed: Observed) -> list[Sentence]:
    """Return a note if the first run used other devices than the lane's, or why this is not known."""
    if observed.ran_on is None:
        why = observed.why_missing
        return [say("{device}: {note}", device=device.name, note=why)] if why else []
    places = {entry.device for entry in observed.ran_on}
    if not places or places == {device.name}:
        return []
    names = {"device": device.name, "places": ", ".join(sorted(places))}
    if device.name in places:
        return [
            say(
                "{device}: only part of the work ran there; the devices used were {places}: "
                "objects created on another device may stay there.",
                **names,
            )
        ]
    return [
        say(
            "{device}: the work ran on {places} instead: objects created on another device may stay there.",
            **names,
        )
    ]
