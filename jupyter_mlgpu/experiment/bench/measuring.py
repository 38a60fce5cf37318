"""The driver: measure one case on one device, from its memory check to its result.

A run of the timing loop is a block of steps: as many as take `Budget.sample_s` together, so that reading the
clock and waiting for the device cost little. If the time for warm-up ends before blocks are steady, the
result says so. During the repeats only the energy counter and other programs are observed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from jupyter_mlgpu.experiment.bench import judging
from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.case import Case
from jupyter_mlgpu.experiment.bench.monitor import MachineMonitor
from jupyter_mlgpu.experiment.bench.result import CaseResult, Status
from jupyter_mlgpu.experiment.bench.unfinished import UnfinishedResult
from jupyter_mlgpu.experiment.timing import Repeats, seconds_of, steady_blocks
from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner
from jupyter_mlgpu.record.clock import Clock
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.record.sentence import Sentence, joined, of_error, say

#: The most steps in a block, because one step may be shorter than the clock's resolution.
MOST_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class MeasuringStep:
    """The state of a case: `doing` is preparing, warming up or measuring.

    While it is measuring, the repeat has the `number` of `repeats`.
    """

    case: Case
    doing: str
    number: int = 0
    repeats: int = 0


OnStep = Callable[[MeasuringStep], None]


def measure(
    case: Case,
    device: Device,
    *,
    backend: Backend,
    monitor: MachineMonitor,
    clock: Clock,
    budget: Budget,
    on_step: OnStep = lambda step: None,
) -> tuple[CaseResult, BaseException | None]:
    """Run a case, and return what was measured and the user's interrupt, if any, to be raised again.

    An error costs only this case: the result says what happened.
    """
    unfinished = UnfinishedResult(case, device, guarded.hardware(backend, device))
    why = judging.why_not(case, device, monitor)
    if why is not None:
        return unfinished.finish("skipped", why), None
    begun = clock.monotonic_ns()
    try:
        _Driver(case, device, backend, monitor, clock, budget, on_step, unfinished).run()
        ended: tuple[Status, Sentence | None, BaseException | None] = ("ok", None, None)
    except KeyboardInterrupt as error:
        ended = ("interrupted", say("Interrupted; the measurements taken so far are kept."), error)
    except BenchError as error:
        ended = ("skipped", joined(of_error(error)), None)
    except Exception as error:  # of any framework: one failed case must not cost the others
        ended = ("failed", judging.failure(error), None)
    status, why_ended, stop = ended
    unfinished.measured_s = (clock.monotonic_ns() - begun) / 1e9
    return unfinished.finish(status, why_ended), stop


@dataclass
class _Driver:
    """Runs one case."""

    case: Case
    device: Device
    backend: Backend
    monitor: MachineMonitor
    clock: Clock
    budget: Budget
    on_step: OnStep
    unfinished: UnfinishedResult

    def run(self) -> None:
        self.on_step(MeasuringStep(self.case, say("preparing")))
        runner = self.case.prepare(self.device)
        try:
            self.unfinished.note_prepared(runner)
            self.on_step(MeasuringStep(self.case, say("warming up")))
            steps = self._block(runner)
            block = partial(self._time, runner, steps)
            self.unfinished.timings.warm_up(block, steady_blocks(self.budget.warm_up_s))
            self._run_observed(runner)
            self.unfinished.steps = steps
            self._repeat(block)
        finally:
            # An error in closing must not hide an earlier one.
            with suppress(Exception):
                runner.close()

    def _block(self, runner: CaseRunner) -> int:
        """Return how many steps take `sample_s` together, without the first, which may compile."""
        self._time(runner, 1)
        steps, seconds = 1, self._time(runner, 1)
        if seconds > self.budget.longest_step_s:
            raise BenchError(judging.too_long(seconds, self.budget.longest_step_s))
        spent = seconds
        while seconds < self.budget.sample_s and steps < MOST_STEPS and spent < self.budget.warm_up_s:
            # At most eight times as many at once: the first steps are slower, so they predict badly.
            aim = self.budget.sample_s / max(seconds / steps, 1e-9)
            steps = min(MOST_STEPS, 8 * steps, max(steps + 1, math.ceil(1.05 * aim)))
            seconds = self._time(runner, steps)
            spent += seconds
        return steps

    def _run_observed(self, runner: CaseRunner) -> None:
        """Run one observed step that does not count: it shows where it ran, and the peak memory."""
        peak = self.monitor.peak_memory(self.device)
        observation = self.backend.observe()
        try:
            self._time(runner, 1)
        finally:
            self.unfinished.note_observed(self.device, observation.finish(), peak())
            self.backend.release()

    def _repeat(self, block: Callable[[], float]) -> None:
        budget = self.budget
        others = self.monitor.others(self.device)
        joules, whole = self.monitor.energy(self.device), False
        try:
            self.unfinished.timings.repeat(
                block,
                Repeats(budget.repeats, budget.seconds, budget.fewest),
                lambda number: self.on_step(
                    MeasuringStep(self.case, say("measuring"), number, budget.repeats)
                ),
            )
            whole = True
        finally:
            counted = joules()
            self.unfinished.others = others()
            if whole:  # otherwise the energy includes that of an unfinished sample
                self.unfinished.energy = counted

    def _time(self, runner: CaseRunner, steps: int) -> float:
        return seconds_of(partial(runner.run, steps), runner.wait, self.clock)
