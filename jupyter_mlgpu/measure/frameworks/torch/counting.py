"""Whether PyTorch runs an operation, on whatever device, in a run that nobody times.

PyTorch counts nothing by itself, and a mode that sees each operation changes what is compiled (adr/0009). Its
profiler does not: it sees the operations of all threads, and what `torch.compile` has made. What it keeps of
them grows with each, so it is read, and begun anew, again and again until there is one; one is enough. An
operation between the two would be missed, so a run in which it was begun anew is never said to have had none.
It is left alone where the user has one on, and ends before the user begins one. Where PyTorch finds a GPU
there is none of ours, for it would take hold of NVIDIA's records.
"""

from __future__ import annotations

import operator
import os
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from jupyter_mlgpu.measure.frameworks import evidence
from jupyter_mlgpu.measure.frameworks.base import Device, Observation, Observed
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.torch import profiling

#: Seconds after which the profiler is read: 200,000 small operations at most, of 1 KB each (seen on 2.13.0).
SLICE_S = 0.2


class CountingObservation(Observation):
    """PyTorch's part in one run, with whether it had one."""

    def __init__(self, observation: Observation, cpu: Device) -> None:
        self._observation = observation
        self._cpu = cpu
        self._watch = OperationWatch.begin()

    def finish(self) -> Observed:
        """What the observation tells; where that does not say if anything ran, what the profiler saw."""
        worked = None if self._watch is None else self._watch.finish()
        seen = self._observation.finish()
        if worked is None or seen.ran_on is not None:
            return seen
        if not worked:
            return replace(seen, ran_on=(), why_missing=None, only=None)
        if seen.only is not None:
            return replace(seen, ran_on=(evidence.only_device(self._cpu),), why_missing=None, only=None)
        return replace(seen, worked=True)


class OperationWatch:
    """PyTorch's profiler over all threads, on until there is an operation.

    `begin` turns it on, in some calls; `end` turns it off and returns what it has seen.
    """

    def __init__(self, begin: tuple[Callable[[], object], ...], end: Callable[[], Any]) -> None:
        self._begin = begin
        self._end = end
        self._lock = threading.Lock()
        self._worked: bool | None = False
        self._has_gaps = False
        self._finished = threading.Event()
        for one in begin:
            one()
        self._on = True
        self._put_back = profiling.before(self._give_way)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        _in_forked_children(self)

    @classmethod
    def begin(cls) -> OperationWatch | None:
        """Begin to watch; None where that is not possible, or would disturb a profiler of the user's."""
        if profiling.is_on() or module("torch.autograd.profiler")._is_profiler_enabled:
            return None
        try:
            with profiling.kineto_silent():
                return cls(*_profiler())
        except (AttributeError, ImportError, RuntimeError, TypeError):  # other versions have other parts
            return None

    def finish(self) -> bool | None:
        """Whether there was an operation; None where one may have been missed.

        It may, between two profiles, and after a profiler of the user's has ended this.
        """
        self._finished.set()
        with self._lock:
            self._stop()
        self._thread.join()
        return self._worked or (None if self._has_gaps else self._worked)

    def _look(self) -> None:
        while not self._finished.wait(SLICE_S):
            with self._lock:
                if not self._on:
                    return
                # Without a step of Python's in between; PyTorch itself lets other threads run meanwhile.
                self._has_gaps = True
                seen, *_ = map(operator.call, (self._end, *self._begin))
                if seen.events():
                    self._worked = True
                    self._stop()

    def _give_way(self) -> None:
        with self._lock:
            self._stop()
            self._worked = self._worked or None

    def _stop(self) -> None:
        if self._on:
            self._on = False
            self._put_back()
            self._worked = bool(self._end().events()) or self._worked

    def forked(self) -> None:
        """In a forked child, where nobody reads what is recorded."""
        self._lock = threading.Lock()
        self._stop()


def _profiler() -> tuple[tuple[Callable[[], object], ...], Callable[[], Any]]:
    """What turns PyTorch's profiler on for operations of every thread, and off (private; run on 2.13.0)."""
    from torch._C import _autograd
    from torch._C import _profiler as parts

    options = parts._ExperimentalConfig(profile_all_threads=True)
    config = parts.ProfilerConfig(parts.ProfilerState.KINETO, *[False] * 5, options)
    wanted = {parts.ProfilerActivity.CPU}
    begin = (
        partial(_autograd._prepare_profiler, config, wanted),
        partial(_autograd._enable_profiler, config, wanted, {parts.RecordScope.FUNCTION}),
    )
    return begin, _autograd._disable_profiler


def _in_forked_children(watch: OperationWatch) -> None:
    # Such a registration cannot be taken back, so it must not keep the watch alive.
    reference = weakref.ref(watch)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.forked()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
