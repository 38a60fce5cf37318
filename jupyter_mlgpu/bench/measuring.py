"""The driver: one case on one device, from its need of memory to its result.

A run of the timing loop is a block of steps: as many as take `Budget.sample_s` together, so that reading the
clock and waiting for the device weigh little. Where the time for warm-up is over before `SteadyVariation`
calls it steady, the result says so. While repeats run nothing is watched but the counter of energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from jupyter_mlgpu.backends.base import Backend, Device
from jupyter_mlgpu.bench import judging
from jupyter_mlgpu.bench.around import Around
from jupyter_mlgpu.bench.budget import Budget
from jupyter_mlgpu.bench.case import Case, Runner
from jupyter_mlgpu.bench.result import Result, Status
from jupyter_mlgpu.bench.underway import UnderWay
from jupyter_mlgpu.clock import Clock
from jupyter_mlgpu.errors import BenchError
from jupyter_mlgpu.timing import CountWithinTime, SteadyVariation, seconds_of

#: A block never has more steps: one step may be shorter than the clock tells.
MOST_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Step:
    """How far a case is: `doing` is preparing, warming up or measuring; `number` of `repeats` then."""

    case: Case
    doing: str
    number: int = 0
    repeats: int = 0


OnStep = Callable[[Step], None]


def measure(
    case: Case,
    device: Device,
    *,
    backend: Backend,
    around: Around,
    clock: Clock,
    budget: Budget,
    on_step: OnStep = lambda step: None,
) -> tuple[Result, BaseException | None]:
    """Run a case; returns what was measured and, if the user interrupted it, the interrupt to be raised on.

    What goes wrong in a case costs that case alone: the result says what happened.
    """
    under_way = UnderWay(case, device, _hardware(backend, device))
    why = judging.why_not(case, device, around)
    if why is not None:
        return under_way.finish("skipped", why), None
    begun = clock.monotonic_ns()
    try:
        _Driver(case, device, backend, around, clock, budget, on_step, under_way).run()
        ended: tuple[Status, str | None, BaseException | None] = ("ok", None, None)
    except KeyboardInterrupt as error:
        ended = ("interrupted", "It was interrupted; what was measured until then is kept.", error)
    except BenchError as error:
        ended = ("skipped", str(error), None)
    except Exception as error:  # of any framework: a case that fails must not cost the others
        ended = ("failed", judging.failure(error), None)
    status, said, stop = ended
    under_way.measured_s = (clock.monotonic_ns() - begun) / 1e9
    return under_way.finish(status, said), stop


class _Driver:
    """The course of one case."""

    def __init__(
        self,
        case: Case,
        device: Device,
        backend: Backend,
        around: Around,
        clock: Clock,
        budget: Budget,
        on_step: OnStep,
        under_way: UnderWay,
    ) -> None:
        self._case = case
        self._device = device
        self._backend = backend
        self._around = around
        self._clock = clock
        self._budget = budget
        self._on_step = on_step
        self._made = under_way

    def run(self) -> None:
        self._on_step(Step(self._case, "preparing"))
        runner = self._case.prepare(self._device)
        try:
            self._made.ready(runner)
            self._on_step(Step(self._case, "warming up"))
            steps = self._block(runner)
            block = partial(self._time, runner, steps)
            self._made.timings.warm_up(block, SteadyVariation(self._budget.warm_up_s))
            self._watched(runner)
            self._made.steps = steps
            self._repeat(block)
        finally:
            # An error in closing must not hide the one that came before.
            with suppress(Exception):
                runner.close()

    def _block(self, runner: Runner) -> int:
        """How many steps take `sample_s` together; the first of all, which may compile, does not count."""
        self._time(runner, 1)
        steps, seconds = 1, self._time(runner, 1)
        if seconds > self._budget.longest_step_s:
            raise BenchError(judging.too_long(seconds, self._budget.longest_step_s))
        spent = seconds
        while seconds < self._budget.sample_s and steps < MOST_STEPS and spent < self._budget.warm_up_s:
            # At most eight times as many at once: the first ones are slower, and tell little.
            aim = self._budget.sample_s / max(seconds / steps, 1e-9)
            steps = min(MOST_STEPS, 8 * steps, max(steps + 1, math.ceil(1.05 * aim)))
            seconds = self._time(runner, steps)
            spent += seconds
        return steps

    def _watched(self, runner: Runner) -> None:
        """One step that is watched and does not count: where it ran, and the peak of memory."""
        peak = self._around.peak_memory(self._device)
        observation = self._backend.observe()
        try:
            self._time(runner, 1)
        finally:
            self._made.saw(self._device, observation.finish(), peak())
            self._backend.rest()

    def _repeat(self, block: Callable[[], float]) -> None:
        budget = self._budget
        others = self._around.others(self._device)
        joules, whole = self._around.energy(self._device), False
        try:
            self._made.timings.repeat(
                block,
                CountWithinTime(budget.repeats, budget.seconds, budget.fewest),
                lambda number: self._on_step(Step(self._case, "measuring", number, budget.repeats)),
            )
            whole = True
        finally:
            counted = joules()
            self._made.others = others()
            if whole:  # else it has the energy of a sample in it that is not there
                self._made.energy = counted

    def _time(self, runner: Runner, steps: int) -> float:
        return seconds_of(partial(runner.run, steps), runner.wait, self._clock)


def _hardware(backend: Backend, device: Device) -> str | None:
    try:
        return backend.details(device).hardware
    except Exception:  # a name that is not known is left out
        return None
