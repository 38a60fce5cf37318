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
from jupyter_mlgpu.experiment.bench.bench_sentences import quantity
from jupyter_mlgpu.experiment.bench.budget import Budget, of_a_burn
from jupyter_mlgpu.experiment.bench.case import Case
from jupyter_mlgpu.experiment.bench.monitor import MachineMonitor, SensorReadings
from jupyter_mlgpu.experiment.bench.profiled import profiled
from jupyter_mlgpu.experiment.bench.result import CaseResult, Status
from jupyter_mlgpu.experiment.bench.unfinished import UnfinishedResult
from jupyter_mlgpu.experiment.timing import Repeats, seconds_of, steady_blocks
from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import Clock, seconds_between
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.record.sentence import Sentence, joined, of_error, say

#: The most steps in a block, because one step may be shorter than the clock's resolution.
MOST_STEPS = 1 << 20

INTERRUPTED = say("Interrupted; the measurements taken so far are kept.")


@dataclass(frozen=True, slots=True)
class MeasuringStep:
    """The state of a case: `doing` is preparing, warming up, measuring or profiling.

    While it is measuring, the repeat has the `number` of `repeats`. A burn has none: `doing` says how far it
    is, with its last readings.
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
    on_sample: Callable[[UnfinishedResult], None] = lambda unfinished: None,
) -> tuple[CaseResult, BaseException | None]:
    """Run a case, and return what was measured and the user's interrupt, if any, to be raised again.

    An error costs only this case: the result says what happened. `on_sample` is called between the samples
    of a burn, with the result so far.
    """
    unfinished = UnfinishedResult(case, device, guarded.hardware(backend, device))
    why = judging.why_not(case, device, monitor)
    if why is not None:
        return unfinished.finish("skipped", why), None
    begun = clock.monotonic_ns()
    try:
        if case.burn_s is not None:
            budget = of_a_burn(case.burn_s)
        _Driver(case, device, backend, monitor, clock, budget, on_step, on_sample, unfinished).run()
        ended: tuple[Status, Sentence | None, BaseException | None] = ("ok", None, None)
    except KeyboardInterrupt as error:
        ended = ("interrupted", INTERRUPTED, error)
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
    on_sample: Callable[[UnfinishedResult], None]
    unfinished: UnfinishedResult

    def run(self) -> None:
        self.on_step(MeasuringStep(self.case, say("preparing")))
        runner = self.case.prepare(self.device)
        try:
            self.unfinished.note_prepared(runner)
            self.on_step(MeasuringStep(self.case, say("warming up")))
            steps = self._block(runner)
            block = partial(self._time, runner, steps)
            if self.case.burn_s is None:  # warming up would take the burn's first seconds, on a cool device
                self.unfinished.timings.warm_up(block, steady_blocks(self.budget.warm_up_s))
            self._run_observed(runner)
            self.unfinished.steps = steps
            if self.case.burn_s is None:
                self._repeat(block, self._say_repeat)
                if self.case.profiled:
                    self.on_step(MeasuringStep(self.case, say("profiling")))
                    step_s = self.unfinished.timings.samples[-1] / steps
                    self.unfinished.note_profiled(profiled(self.case.framework, self.device, runner, step_s))
            else:
                self._burn(runner, steps)
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

    def _say_repeat(self, number: int) -> None:
        self.on_step(MeasuringStep(self.case, say("measuring"), number, self.budget.repeats))

    def _burn(self, runner: CaseRunner, steps: int) -> None:
        """Take one sample after another, and read the sensors during each."""
        read = self.monitor.sensors(self.device)
        begun = self.clock.monotonic_ns()

        def sample() -> float:
            readings: list[SensorReadings] = []

            def launch() -> None:
                runner.run(steps)
                if self.device.kind != "cpu":  # it works on while Python reads
                    readings.append(read())

            seconds = seconds_of(launch, runner.wait, self.clock)
            if not readings:
                readings.append(read())
            self.unfinished.moments.append((seconds_between(begun, self.clock.monotonic_ns()), readings[0]))
            return seconds

        self._repeat(sample, self._say_sample)

    def _say_sample(self, number: int) -> None:
        """Say how far the burn is and what the last sample showed, and offer the result so far."""
        moments, samples = self.unfinished.moments, self.unfinished.timings.samples
        if not samples:
            self.on_step(MeasuringStep(self.case, say("burning")))
            return
        ended, now = moments[-1]
        flops = (self.case.work.flops or 0.0) * self.unfinished.steps / samples[-1]
        sensors = (now.power, now.temperature, now.clock)
        known = [quantity(one) for one in sensors if one.value is not None]
        figures = ", ".join([units.decimal(flops, "FLOP/s"), *known])
        done, whole = units.seconds(ended), units.seconds(self.budget.seconds)
        self.on_step(
            MeasuringStep(
                self.case, say("{done} of {whole}, {figures}", done=done, whole=whole, figures=figures)
            )
        )
        self.on_sample(self.unfinished)

    def _repeat(self, block: Callable[[], float], on_repeat: Callable[[int], None]) -> None:
        budget = self.budget
        others = self.monitor.others(self.device)
        joules, whole = self.monitor.energy(self.device), False
        try:
            self.unfinished.timings.repeat(
                block,
                Repeats(budget.repeats, budget.seconds, budget.fewest),
                on_repeat,
            )
            whole = True
        finally:
            counted = joules()
            self.unfinished.others = others()
            if whole:  # otherwise the energy includes that of an unfinished sample
                self.unfinished.energy = counted

    def _time(self, runner: CaseRunner, steps: int) -> float:
        return seconds_of(partial(runner.run, steps), runner.wait, self.clock)
