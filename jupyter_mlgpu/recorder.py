"""Measure one cell: `start` takes the first readings, `stop` the second, and a `Record` comes out.

Knows nothing of notebooks. A probe or backend that fails costs its own reading and nothing else: the
record then says what failed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.backends.base import Backend, Observation, Observed
from jupyter_mlgpu.clock import Clock
from jupyter_mlgpu.probes.base import Probe
from jupyter_mlgpu.record import (
    QUANTITIES,
    Cell,
    DeviceUse,
    Mode,
    Outcome,
    RanOn,
    Reading,
    Record,
    Run,
    missing,
)
from jupyter_mlgpu.redact import redact

if TYPE_CHECKING:
    from jupyter_mlgpu.ops.cell import CellProfile, Find

NO_FRAMEWORK = "No framework known to jupyter_mlgpu was loaded."


def new_run(notebook: str | None) -> Run:
    """A run for this process, with an id of its own."""
    digest = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]
    return Run(uuid.uuid4().hex, redact(notebook) if notebook else None, digest)


class Recorder:
    """Makes records of one run, numbered from 1. Measurements may be nested."""

    def __init__(
        self,
        run: Run,
        *,
        clock: Clock,
        probes: Sequence[Probe],
        backends: Callable[[], Sequence[Backend]],
        versions: Mapping[str, str],
        profilers: Find | None = None,
    ) -> None:
        """`profilers` gives a framework's profiler; left out, the frameworks' own."""
        self.run = run
        self.clock = clock
        self._probes = probes
        self._backends = backends
        self._versions = versions
        self._profilers = profilers
        self._sequence = 0
        self._open: list[Measurement] = []

    def start(
        self,
        name: str,
        *,
        source: str | None = None,
        cell_id: str | None = None,
        ops: bool = False,
    ) -> Measurement:
        """Begin a measurement; `source` is the cell's code, of which only a digest is kept.

        With `ops`, the frameworks' profilers are on: the record has times per operation, and is no timing.
        """
        self._sequence += 1
        digest = (
            hashlib.sha256(source.encode(errors="replace")).hexdigest()[:16] if source is not None else None
        )
        cell = Cell(self._sequence, cell_id, None, digest, shorten(redact(name)))
        measurement = Measurement(self, cell, self._cell_profile() if ops else None)
        self._open.append(measurement)
        try:
            measurement.begin(self._probes, self._backends())
        except BaseException:  # an interrupt, most likely: no profiler may stay on
            measurement.abandon()
            raise
        return measurement

    def framework_loaded(self, backend: Backend) -> None:
        """The user's code has just imported a framework: watch it from now on."""
        for measurement in self._open:
            measurement.observe(backend)

    def profiling(self) -> bool:
        """Whether a profiler is on in any measurement that is open: then none of them is a timing."""
        return any(measurement.profiling for measurement in self._open)

    def _cell_profile(self) -> CellProfile:
        # Seldom asked for, so loading waits until it is.
        from jupyter_mlgpu.backends import profiling
        from jupyter_mlgpu.ops.cell import CellProfile

        return CellProfile(self._profilers or profiling.find)

    def close(self, measurement: Measurement) -> dict[str, str]:
        """Used by a measurement that ends: gives up what was begun inside it; returns the versions."""
        while self._open and self._open[-1] is not measurement and measurement in self._open:
            self._open[-1].abandon()
        if measurement in self._open:
            self._open.remove(measurement)
        versions = dict(self._versions)
        for backend in self._backends():
            try:
                versions.update(backend.versions())
            except Exception:  # a version that cannot be told is left out
                continue
        return versions


class Measurement:
    """A measurement under way, made by `Recorder.start`."""

    def __init__(self, recorder: Recorder, cell: Cell, profile: CellProfile | None) -> None:
        self._recorder = recorder
        self._profile = profile
        self.cell = cell
        self._thread = threading.get_ident()
        self._observations: dict[str, Observation | str] = {}
        self._readings: list[Callable[[], Reading]] = []
        self._backends: dict[str, Backend] = {}
        self.started_at = ""
        self._started_ns = 0

    def begin(self, probes: Sequence[Probe], backends: Sequence[Backend]) -> None:
        """Take the first readings, the clock last, so that our own work is not counted."""
        for backend in backends:
            _wait(backend)  # work sent to the device earlier belongs to earlier cells
            self.observe(backend)
        self.started_at = self._recorder.clock.utc()
        for probe in reversed(
            probes
        ):  # and taken back the other way round: the first one listed is innermost
            self._readings.insert(0, _begin(probe))
        if self._profile is not None:
            self._profile.cell_begins()
        self._started_ns = self._recorder.clock.monotonic_ns()

    def observe(self, backend: Backend) -> None:
        """Watch where this framework's operations run, if this is the thread that is being measured."""
        if backend.name in self._observations or threading.get_ident() != self._thread:
            return
        self._backends[backend.name] = backend
        try:
            self._observations[backend.name] = backend.observe()
        except Exception as error:
            self._observations[backend.name] = f"{backend.name} could not be watched ({_words(error)})."
        if self._profile is not None:
            self._profile.begin(backend.name)

    @property
    def profiling(self) -> bool:
        """Whether a profiler is on in this measurement."""
        return self._profile is not None and self._profile.on

    def elapsed(self) -> float:
        """Seconds since the start."""
        return (self._recorder.clock.monotonic_ns() - self._started_ns) / 1e9

    def stop(
        self,
        outcome: Outcome = "ok",
        *,
        requested: str | None = None,
        execution_count: int | None = None,
        notes: Sequence[str] = (),
    ) -> Record:
        """Wait for the devices, take the second readings, and give the record.

        `requested` is the device asked for, `execution_count` the number the front end shows; both are
        known for certain only now.
        """
        for backend in self._backends.values():
            _wait(backend)
        wall = Reading("wall_time", self.elapsed(), "s", "cell", self._recorder.clock.source, 1)
        if self._profile is not None:
            self._profile.cell_ended()
        readings = [wall, *(take() for take in self._readings)]
        readings += [one for backend in self._backends.values() for one in _held(backend)]
        ran_on, why, more = self._finish_observations()
        mode: Mode = "profiled" if self._recorder.profiling() else "light"
        profiled = None if self._profile is None else self._profile.finish()
        return Record(
            run=self._recorder.run,
            cell=dataclasses.replace(self.cell, execution_count=execution_count),
            started_at=self.started_at,
            started_monotonic_ns=self._started_ns,
            outcome=outcome,
            device=DeviceUse(requested, ran_on, why),
            # The profile first: where it knows no time of the device, its reason is the one that counts.
            readings=_in_order([*profiled.readings, *readings, *more] if profiled else [*readings, *more]),
            ops=profiled.ops if profiled else (),
            facts=profiled.facts if profiled else {},
            versions=self._recorder.close(self),
            mode=mode,
            notes=(*notes, *(map(redact, profiled.notes) if profiled else ())),
        )

    def abandon(self) -> None:
        """Stop measuring without a record."""
        for take in self._readings:
            take()
        self._finish_observations()
        if self._profile is not None:
            self._profile.abandon()
        self._recorder.close(self)

    def _finish_observations(self) -> tuple[tuple[RanOn, ...] | None, str | None, list[Reading]]:
        if not self._observations:
            return None, NO_FRAMEWORK, []
        ran_on: list[RanOn] = []
        reasons: list[str] = []
        readings: list[Reading] = []
        known = False
        for name, observation in self._observations.items():
            seen = _finish(name, observation)
            if seen.ran_on is not None:
                known = True
                ran_on.extend(seen.ran_on)
            if seen.why_missing is not None:
                reasons.append(seen.why_missing)
            readings.extend(seen.readings)
        return tuple(ran_on) if known else None, " ".join(reasons) or None, readings


def shorten(text: str, limit: int = 80) -> str:
    """The text, cut to `limit` characters with an ellipsis where it is longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _wait(backend: Backend) -> None:
    try:
        backend.synchronize()
    except Exception:  # the device's own error reaches the user through the cell's own code
        return


def _held(backend: Backend) -> list[Reading]:
    try:
        if not backend.started():
            return [missing("memory_allocator", f"{backend.name} has not used a device yet.", scope="device")]
        return [reading for device in backend.devices() for reading in backend.memory(device)]
    except Exception as error:
        return [_failed("memory_allocator", error)()]


def _begin(probe: Probe) -> Callable[[], Reading]:
    try:
        stop = probe.start()
    except Exception as error:
        return _failed(probe.quantity, error)

    def end() -> Reading:
        try:
            return stop()
        except Exception as error:
            return _failed(probe.quantity, error)()

    return end


def _failed(quantity: str, error: Exception) -> Callable[[], Reading]:
    return lambda: missing(quantity, f"The measurement failed ({_words(error)}).")


def _finish(name: str, observation: Observation | str) -> Observed:
    if isinstance(observation, str):
        return Observed(None, observation)
    try:
        return observation.finish()
    except Exception as error:
        return Observed(None, f"{name} could not be watched to the end ({_words(error)}).")


def _in_order(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """All quantities in the order of `QUANTITIES`; one that nobody measured says so."""
    ordered: list[Reading] = []
    for quantity in QUANTITIES:
        of_this = [reading for reading in readings if reading.quantity == quantity]
        known = [reading for reading in of_this if reading.value is not None]
        ordered.extend(known or of_this[:1] or [missing(quantity, NO_FRAMEWORK)])
    return tuple(ordered)


def _words(error: BaseException) -> str:
    text = redact(str(error))
    return f"{type(error).__name__}: {shorten(text, 120)}" if text else type(error).__name__
