"""Detection of PyTorch operations, on any device, in a run that is not timed.

PyTorch has no counter of operations, and a mode that is called for each operation changes what is compiled
(adr/0009). Its profiler does not: it records the operations of all threads, and those made by
`torch.compile`. Its memory grows with each operation. So it is read and restarted repeatedly until it has
recorded one, which is enough. An operation during a restart would be missed, so a run with a restart is never
reported as having no operation. The profiler is not started if the user has one on, and ends before the user
starts one. If PyTorch finds a GPU, it is not started either, because it would take NVIDIA's activity records.
"""

from __future__ import annotations

import operator
import os
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.measure.frameworks import evidence
from jupyter_mlgpu.measure.frameworks.base import Device, Observation, Observed
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.torch import profiling

#: Seconds between two readings: at most 200,000 small operations, of 1 KB each (measured on 2.13.0).
SLICE_S = 0.2


class CountingObservation(Observation):
    """The observation of PyTorch in one run, with detection of operations."""

    def __init__(self, observation: Observation, cpu: Device) -> None:
        self._observation = observation
        self._cpu = cpu
        self._detector = OperationDetector.begin()

    def finish(self) -> Observed:
        """Return the observation, with the profiler's result if it does not say whether anything ran."""
        worked = None if self._detector is None else self._detector.finish()
        observed = self._observation.finish()
        if worked is None or observed.ran_on is not None:
            return observed
        if not worked:
            return replace(observed, ran_on=(), why_missing=None, only=None)
        if observed.only is not None:
            return replace(observed, ran_on=(evidence.only_device(self._cpu),), why_missing=None, only=None)
        return replace(observed, worked=True)


class OperationDetector:
    """PyTorch's profiler over all threads, which runs until it has recorded an operation.

    The calls of `begin` turn it on; `end` turns it off and returns its results.
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
        self._put_back = profiling.before(self._stop_for_user)
        self._thread = threading.Thread(target=self._poll, daemon=True)
        self._thread.start()
        _stop_in_forked_children(self)

    @classmethod
    def begin(cls) -> OperationDetector | None:
        """Start a detector; return None if that is impossible or would disturb the user's profiler."""
        if profiling.is_on() or module("torch.autograd.profiler")._is_profiler_enabled:
            return None
        try:
            with profiling.kineto_silent():
                return cls(*_profiler())
        except (AttributeError, ImportError, RuntimeError, TypeError):  # private, differs by version
            return None

    def finish(self) -> bool | None:
        """Return True if there was an operation, False if not, None if one may have been missed.

        It may be missed between two profiles, and after the user's profiler has ended this one.
        """
        self._finished.set()
        with self._lock:
            self._stop()
        self._thread.join()
        return self._worked or (None if self._has_gaps else self._worked)

    def _poll(self) -> None:
        while not self._finished.wait(SLICE_S):
            with self._lock:
                if not self._on:
                    return
                # Without Python code in between; PyTorch itself releases the GIL meanwhile.
                self._has_gaps = True
                results, *_ = map(operator.call, (self._end, *self._begin))
                if results.events():
                    self._worked = True
                    self._stop()

    def _stop_for_user(self) -> None:
        with self._lock:
            self._stop()
            self._worked = self._worked or None

    def _stop(self) -> None:
        if self._on:
            self._on = False
            self._put_back()
            self._worked = bool(self._end().events()) or self._worked

    def stop_in_child(self) -> None:
        """Stop in a forked child, where nobody reads the records."""
        self._lock = threading.Lock()
        self._stop()


def _profiler() -> tuple[tuple[Callable[[], object], ...], Callable[[], Any]]:
    """Return the calls that turn the profiler on for all threads, and the one that turns it off.

    They are private; verified on 2.13.0.
    """
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


def _stop_in_forked_children(detector: OperationDetector) -> None:
    # Such a registration cannot be undone, so it must not keep the detector alive.
    reference = weakref.ref(detector)

    def after_fork() -> None:
        alive = reference()
        if alive is not None:
            alive.stop_in_child()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
