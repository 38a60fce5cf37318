"""Run a benchmark from its order to its results: frameworks, devices and cases, one after another."""

from __future__ import annotations

import importlib
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.experiment.bench import suite
from jupyter_mlgpu.experiment.bench.budget import FULL, QUICK, QUICK_MODEL, Budget
from jupyter_mlgpu.experiment.bench.case import Case, CaseRequest
from jupyter_mlgpu.experiment.bench.measuring import INTERRUPTED, MeasuringStep, measure
from jupyter_mlgpu.experiment.bench.monitor import MachineMonitor
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.experiment.bench.shares import with_shares
from jupyter_mlgpu.experiment.bench.unfinished import UnfinishedResult
from jupyter_mlgpu.measure.frameworks import hardware, registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.record.clock import Clock, seconds_between
from jupyter_mlgpu.record.device_request import AUTO, DeviceWord
from jupyter_mlgpu.record.errors import BenchError, DeviceError, RecordError, UsageError
from jupyter_mlgpu.record.extras import install_line, installed
from jupyter_mlgpu.record.option_parser import unknown
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: A quick benchmark has a minute for the small cases together and for each model, in seconds. What one of
#: them does not need is left to the next.
QUICK_S = 60.0
#: No case begins in the last seconds of the minute, so that on two cores all of them end within it.
LAST_BEGIN_S = 15.0
#: A case that compiles begins earlier. ResNet50 compiles for 40 s on an H200, so it takes 20 s more than the
#: minute; with a larger figure, torch.compile would be left out for it.
LAST_SLOW_BEGIN_S = 25.0
#: Seconds between two times that a burn's results so far are saved.
SAVE_EVERY_S = 5.0
OVER = say("The time limit of --quick was reached first; it runs without --quick.")


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a benchmark: families of cases, frameworks, the device, and whether it is quick.

    `minutes` is the length of a burn, None for the default.
    """

    cases: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    device: DeviceWord = AUTO
    quick: bool = False
    minutes: float | None = None


@dataclass(frozen=True, slots=True)
class BenchProgress:
    """Case `number` of `total` is at `step`; about `left_s` seconds are left, None before that is known."""

    number: int
    total: int
    step: MeasuringStep
    left_s: float | None


@dataclass(frozen=True, slots=True)
class FinishedBench:
    """The run, and the interrupt that ended it, to be raised again."""

    run: BenchRun
    error: BaseException | None


def frameworks(asked: Sequence[str], loaded: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the frameworks to measure: the named ones, else the loaded ones, else the first installed one.

    Raises BenchError for one that is not installed, or if none is.
    """
    available = [name for name, known in registry.FRAMEWORKS.items() if installed(known.module)]
    for name in asked:
        if name not in available:
            raise BenchError(
                f"{registry.title(name)} is not installed here, so it cannot be measured; "
                f"{registry.too_new_a_python(name) or f'`{install_line(name)}` installs it'}."
            )
    if asked or loaded:
        return tuple(dict.fromkeys(asked or loaded))
    if not available:
        known = ", ".join(map(registry.title, registry.FRAMEWORKS))
        first = registry.BENCHMARKED_FIRST
        raise BenchError(
            f"No framework is installed here ({known}), so nothing can be measured; "
            f"{registry.too_new_a_python(first) or f'`{install_line(first)}` installs one'}."
        )
    return (registry.BENCHMARKED_FIRST if registry.BENCHMARKED_FIRST in available else available[0],)


def check(order: Order) -> None:
    """Refuse unknown names of cases and frameworks, before anything is imported."""
    suite.choose(order.cases)
    for name in order.frameworks:
        if name not in registry.FRAMEWORKS:
            raise UsageError(unknown(say("framework"), name, registry.FRAMEWORKS))
    if order.minutes is not None and suite.BURN not in order.cases:
        raise UsageError(
            say("--minutes is for the case burn: `burn --minutes {minutes}`.", minutes=f"{order.minutes:g}")
        )


def run(
    order: Order,
    *,
    monitor: MachineMonitor,
    clock: Clock,
    loaded: Sequence[str] = (),
    on_progress: Callable[[BenchProgress], None] = lambda progress: None,
    started_ns: int | None = None,
    out: Path | None = None,
) -> FinishedBench:
    """Measure everything; an interrupt ends it with what there is.

    `started_ns` is when the user's wait began, by the clock; by default now. `out` is a file that has the
    results so far after each case and during a burn, marked as interrupted: it remains if the process is
    killed. The caller saves the finished run there.
    """
    check(order)
    begun = clock.monotonic_ns() if started_ns is None else started_ns
    session = _Session(order, monitor, clock, on_progress, begun, out)
    return session.run(frameworks(order.frameworks, loaded))


@dataclass(frozen=True, slots=True)
class _Planned:
    case: Case
    backend: Backend
    device: Device
    #: The model, or "small", whose minute of a quick benchmark it is.
    share: str


@dataclass(eq=False, repr=False)
class _Session:
    order: Order
    monitor: MachineMonitor
    clock: Clock
    on_progress: Callable[[BenchProgress], None]
    begun: int
    out: Path | None

    def __post_init__(self) -> None:
        self._run = BenchRun((), this_machine(), {}, self.clock.utc(), self.clock.source, self.order.quick)
        self._saved_ns = self.clock.monotonic_ns()
        self._results: list[CaseResult] = []
        self._shares: set[str] = set()
        self._measured = 0
        self._spent = 0.0

    def run(self, names: Sequence[str]) -> FinishedBench:
        planned: list[_Planned] = []
        notes: list[Sentence] = []
        versions = {"python": platform.python_version(), "jupyter_mlgpu": __version__}
        machine = dict(self._run.machine)
        for name in names:
            backend = import_backend(name)
            device = self._device(backend)
            planned += self._plan(backend, device)
            versions |= backend.versions()
            machine["devices"] = {
                **machine.get("devices", {}),
                f"{name} {device.name}": _about(backend, device),
            }
            if device.name.startswith("cpu") and self.order.device == AUTO:
                notes.append(joined(backend.why_no_gpu()))
        self._run = replace(self._run, machine=machine, versions=versions, notes=tuple(dict.fromkeys(notes)))
        for number, one in enumerate(planned, 1):
            error = self._measure(number, planned, one)
            left = len(planned) - number
            if error is not None:
                return FinishedBench(self._so_far(self._results, left, len(planned)), error)
            self._save(self._results, left, len(planned))
        return FinishedBench(replace(self._run, results=with_shares(self._results)), None)

    def _so_far(self, results: Sequence[CaseResult], left: int, count: int) -> BenchRun:
        """Return an interrupted run of these results: `left` of `count` cases were not begun."""
        note = say("Interrupted: {left} of {count} cases were not started.", left=left, count=count)
        notes = (*self._run.notes, note) if left else self._run.notes
        return replace(self._run, results=with_shares(results), outcome="interrupted", notes=notes)

    def _save(self, results: Sequence[CaseResult], left: int, count: int) -> None:
        """Save the results so far, in case the process is killed."""
        # A FIFO or a device gets only the finished run. The caller reports a file that cannot be written.
        if self.out is not None and (self.out.is_file() or not self.out.exists()):
            with suppress(RecordError):
                self._so_far(results, left, count).save(self.out)
            self._saved_ns = self.clock.monotonic_ns()

    def _save_sample(self, unfinished: UnfinishedResult, left: int, count: int) -> None:
        if seconds_between(self._saved_ns, self.clock.monotonic_ns()) >= SAVE_EVERY_S:
            self._save([*self._results, unfinished.finish("interrupted", INTERRUPTED)], left, count)

    def _budget(self, one: _Planned) -> Budget:
        if not self.order.quick:
            return FULL
        return QUICK if one.share == "small" else QUICK_MODEL

    def _device(self, backend: Backend) -> Device:
        try:
            return self.order.device.find(backend.find_devices())
        except DeviceError as error:
            raise BenchError(f"{error} {backend.why_no_gpu()}") from None

    def _plan(self, backend: Backend, device: Device) -> list[_Planned]:
        memory = self.monitor.free_memory(device)
        asked = CaseRequest(backend.name, device, self.order.quick, memory, self.order.minutes)
        planned: dict[tuple[Any, ...], _Planned] = {}
        for family in suite.choose(self.order.cases):
            share = "small" if family in suite.SMALL else family
            for case in suite.cases(family, asked):
                identity = (case.name, tuple(case.parameters.items()), case.type_asked, case.options)
                planned.setdefault(identity, _Planned(case, backend, device, share))
        return list(planned.values())

    def _has_time(self, one: _Planned) -> bool:
        """Return True if a case may begin now, although the benchmark is to be quick."""
        self._shares.add(one.share)
        last = LAST_SLOW_BEGIN_S if one.case.slow_to_start else LAST_BEGIN_S
        spent = seconds_between(self.begun, self.clock.monotonic_ns())
        return spent <= len(self._shares) * QUICK_S - last

    def _measure(self, number: int, planned: Sequence[_Planned], one: _Planned) -> BaseException | None:
        if self.order.quick and not self._has_time(one):
            self._results.append(UnfinishedResult(one.case, one.device, None).finish("skipped", OVER))
            return None
        left = None
        if self._measured and one.case.burn_s is None:  # a burn says itself how far it is
            burns = [later.case.burn_s for later in planned[number:] if later.case.burn_s is not None]
            others = len(planned) - number + 1 - len(burns)
            left = self._spent / self._measured * others + sum(burns)
        result, error = measure(
            one.case,
            one.device,
            backend=one.backend,
            monitor=self.monitor,
            clock=self.clock,
            budget=self._budget(one),
            on_step=lambda step: self.on_progress(BenchProgress(number, len(planned), step, left)),
            on_sample=lambda now: self._save_sample(now, len(planned) - number, len(planned)),
        )
        self._results.append(result)
        if result.samples and result.burn is None:
            self._measured += 1
            self._spent += result.measured_s
        return error


def import_backend(name: str) -> Backend:
    """Return the backend of a framework, after importing the framework. Raises BenchError."""
    module = registry.FRAMEWORKS[name].module
    try:
        importlib.import_module(module)
    except Exception as error:
        raise BenchError(
            f"{registry.title(name)} is installed but does not import ({type(error).__name__}: {error}); "
            f"`python -c 'import {module}'` shows the whole message."
        ) from error
    if (why := registry.why_too_old(name)) is not None:
        raise BenchError(why)
    return registry.backend(name)


def this_machine() -> dict[str, Any]:
    """Return the processor, its cores, memory and system, without the host's or the user's name."""
    info = hardware.cpu()
    return {
        "processor": info.hardware,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": info.memory,
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
    }


def _about(backend: Backend, device: Device) -> dict[str, Any]:
    info = backend.details(device)
    return {
        "kind": device.kind,
        "hardware": info.hardware,
        "memory": info.memory,
        "driver": info.driver,
    }
