"""Measures one cell: `start` takes the first readings, `end` the second, and `record` makes the `Record`.

The module does not depend on notebooks. A probe or backend that fails costs only its own reading, and the
record says what failed.
"""

from __future__ import annotations

import hashlib
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.measure import celltime, guarded
from jupyter_mlgpu.measure.celltime import Moment
from jupyter_mlgpu.measure.frameworks.base import Backend, Observation, Observed
from jupyter_mlgpu.measure.probes.base import Probe
from jupyter_mlgpu.measure.probes.sampled_peak import RESET
from jupyter_mlgpu.record.clock import Clock
from jupyter_mlgpu.record.errors import StillRunningError
from jupyter_mlgpu.record.gpu_work import GpuFigures, may_go_on
from jupyter_mlgpu.record.reading import IOREGISTRY, Reading
from jupyter_mlgpu.record.record import CHECKED, Cell, DeviceUse, Mode, Outcome, Record, Run
from jupyter_mlgpu.record.redact import beginning, redact
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.record.strip import StripSoFar

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.activity.stack import OfUser
    from jupyter_mlgpu.measure.activity.stack_sampler import StackSampler
    from jupyter_mlgpu.measure.gpu.meters import Meter, MeteredCell
    from jupyter_mlgpu.measure.ops.cell import CellProfile, Find
    from jupyter_mlgpu.measure.ops.events import Profile


#: Longest wait for GPU records at the end of a measurement that does not wait for the GPUs: this part of the
#: wall time, and at most so many seconds. Records of idle GPUs arrive within 0.2 ms.
_PATIENCE, _PATIENCE_S = 0.02, 0.005
#: The same in seconds for a patient recorder.
_LONGEST_S = 600.0


def new_run(notebook: str | None) -> Run:
    """Return a run with a new id for this process."""
    return Run(uuid.uuid4().hex, redact(notebook) if notebook else None, host_digest())


def host_digest() -> str:
    """Return a digest of this machine's name, which distinguishes its runs from those of other machines."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]


@dataclass(eq=False, repr=False)
class Recorder:
    """Makes the records of one run, numbered from 1. Measurements may be nested.

    `profilers` returns a framework's profiler; by default, the framework's own. `keep` receives the profiles
    of a cell with its record's key: a record holds only their table. `activity` starts the stack sampler of
    the current thread; without it, stacks are not sampled. `gpu` returns the GPU time meter, or None if no
    framework is loaded.
    """

    run: Run
    _: KW_ONLY
    clock: Clock
    probes: Sequence[Probe]
    backends: Callable[[], Sequence[Backend]]
    versions: Mapping[str, str]
    profilers: Find | None = None
    keep: Callable[[tuple[str, int], tuple[Profile, ...]], None] | None = None
    activity: Callable[[OfUser | None], StackSampler | None] | None = None
    gpu: Callable[[], Meter | None] = lambda: None
    #: True if a measurement ends only when its GPU time is known, for callers that read records at once.
    patient: bool = False

    def __post_init__(self) -> None:
        self._sequence = 0
        #: The measurements under way, the outermost first.
        self.open: list[Measurement] = []

    def start(
        self,
        name: str | Callable[[], str],
        *,
        source: str | None = None,
        cell_id: str | None = None,
        ops: bool = False,
        shapes: bool = False,
        of_user: OfUser | None = None,
        waits: bool = True,
        checked: bool = False,
    ) -> Measurement:
        """Begin a measurement. `source` is the cell's code, of which only a digest is kept.

        A function that returns the name is called when the name is needed, which is mostly after the cell.

        If `waits`, it waits for the devices at both ends. Otherwise it waits only for devices whose work is
        not recorded.

        `of_user` tells which files hold the user's code; by default, those of the notebook's cells.

        With `ops`, the frameworks' profilers are on: the record has times per operation, and its times are
        not comparable with others. `shapes` adds input shapes and FLOP, which are expensive to record.

        If the results of the code are `checked`, the record has no figures: they would be those of the check.
        """
        self._sequence += 1
        make_cell = partial(_cell, self._sequence, cell_id, source, name)
        profile = self._cell_profile(shapes) if ops else None
        measurement = Measurement(self, self._sequence, make_cell, profile, waits, checked)
        self.open.append(measurement)
        try:
            measurement.begin(self.probes, self.backends(), of_user)
        except BaseException:  # most likely an interrupt: no profiler may stay on
            measurement.abandon()
            raise
        return measurement

    def framework_loaded(self, backend: Backend) -> None:
        """Observe a framework from now on that the user's code has just imported."""
        for measurement in self.open:
            measurement.observe(backend)

    def stop_observing(self, why: Sentence) -> None:
        """Stop observing operations in all open measurements, since observing would add to times.

        The records then give `why` in place of the devices that ran operations and of the allocators' peaks.
        """
        for measurement in self.open:
            measurement.stop_observing(why)

    def set_observed(self, framework: str, observed: Observed) -> None:
        """Set what a caller has observed of a framework itself, after `stop_observing`."""
        for measurement in self.open:
            measurement.set_observed(framework, observed)

    def add_note(self, sentence: Sentence) -> None:
        """Add a note to every open measurement."""
        for measurement in self.open:
            measurement.notes.append(sentence)

    def profiling(self) -> bool:
        """Return True if a profiler or a check is on in any open measurement: then none is a timing."""
        return any(measurement.profiling for measurement in self.open)

    def mode(self) -> Mode:
        """Return the mode of a measurement that ends now."""
        if any(measurement.checked for measurement in self.open):
            return "checked"
        return "profiled" if self.profiling() else "light"

    def _cell_profile(self, shapes: bool) -> CellProfile:
        # Loaded here because it is seldom needed.
        from jupyter_mlgpu.measure.frameworks import registry
        from jupyter_mlgpu.measure.ops.cell import CellProfile

        return CellProfile(self.profilers or registry.profiler, shapes=shapes)

    def close(self, measurement: Measurement) -> None:
        """Close a measurement and abandon those that began inside it."""
        while self.open and self.open[-1] is not measurement and measurement in self.open:
            self.open[-1].abandon()
        if measurement in self.open:
            self.open.remove(measurement)

    def versions_in_use(self) -> dict[str, str]:
        """Return the versions of Python, of this package, and of the frameworks in use."""
        versions = dict(self.versions)
        for backend in self.backends():
            try:
                versions.update(backend.versions())
            except Exception:  # an unknown version is left out
                continue
        return versions


def _cell(sequence: int, cell_id: str | None, source: str | None, name: str | Callable[[], str]) -> Cell:
    digest = None if source is None else hashlib.sha256(source.encode(errors="replace")).hexdigest()[:16]
    return Cell(sequence, cell_id, None, digest, beginning(name if isinstance(name, str) else name()))


class _Ended(Struct, frozen=True):
    """The parts of a record that are read as soon as the code has ended."""

    readings: Sequence[Reading]
    device: DeviceUse
    mode: Mode
    gpu: GpuFigures
    notes: Sequence[Sentence]


class Measurement:
    """A measurement under way, made by `Recorder.start`."""

    def __init__(
        self,
        recorder: Recorder,
        sequence: int,
        make_cell: Callable[[], Cell],
        profile: CellProfile | None,
        waits: bool = True,
        checked: bool = False,
    ) -> None:
        #: True if the results of the code are checked.
        self.checked = checked
        self._recorder = recorder
        self._profile = profile
        self._waits = waits or profile is not None
        #: The number of the record among those of the run.
        self.sequence = sequence
        self._make_cell = make_cell
        self._thread = threading.get_ident()
        self._observations: dict[str, Observation | Observed | Sentence] = {}
        self._readings: list[Callable[[], Sequence[Reading]]] = []
        self._backends: dict[str, Backend] = {}
        self._why_not_observed: Sentence | None = None
        self._stack_sampler: StackSampler | None = None
        self._gpu: MeteredCell | None = None
        #: The samples of the code, once it has ended; None for a short cell.
        self.activity: Activity | None = None
        self.observed: Mapping[str, Observed] = {}
        self.notes: list[Sentence] = []
        self.started_at = ""
        self._started_ns = 0
        #: Seconds after the end of the code that `end` did not count as wall time.
        self.left_out_s = 0.0
        self._ended: _Ended | None = None

    def begin(
        self, probes: Sequence[Probe], backends: Sequence[Backend], of_user: OfUser | None = None
    ) -> None:
        """Take the first readings, the clock last, so that the measurement itself is not counted."""
        with suppress(Exception):  # then the GPU time is unknown
            meter = self._recorder.gpu()
            self._gpu = None if meter is None else meter.cell_begins()
        self._waits = self._waits or self._gpu is None or not self._gpu.recorded
        self._waits = self._waits or not all(map(guarded.is_recorded, backends))
        for backend in backends:
            if self._waits:
                guarded.wait(backend)  # work sent to the device earlier belongs to earlier cells
            self.observe(backend)
        self.started_at = self._recorder.clock.utc()
        if self._recorder.activity is not None:
            # This wakes the sampler's thread, which needs the GIL for a moment. The probes come later: those
            # that write to system files release the GIL, and the user's code would have to wait for it.
            with suppress(Exception):  # then the cell's limit is unknown
                self._stack_sampler = self._recorder.activity(of_user)
        # In reverse, and stopped in the order of the list: the first probe listed is the innermost.
        for probe in reversed(probes):
            self._readings.insert(0, guarded.begin(probe))
        if self._profile is not None:
            self._profile.cell_begins()
        if self._gpu is not None:
            with suppress(Exception):
                self._gpu.starts()
        if self._stack_sampler is not None:
            self._stack_sampler.starts()
        self._started_ns = self._recorder.clock.monotonic_ns()

    def observe(self, backend: Backend) -> None:
        """Observe where this framework's operations run. Does nothing on threads that are not measured."""
        if backend.name in self._observations or threading.get_ident() != self._thread:
            return
        self._backends[backend.name] = backend
        if self._why_not_observed is not None:
            self._observations[backend.name] = self._why_not_observed
            return
        try:
            self._observations[backend.name] = backend.observe()
        except Exception as error:
            self._observations[backend.name] = say(
                "{name} could not be observed ({error}).", name=backend.name, error=guarded.words(error)
            )
        if self._profile is not None:
            self._profile.begin(backend.name)

    @cached_property
    def cell(self) -> Cell:
        """The cell that is measured. Its name is redacted, which takes a while."""
        return self._make_cell()

    @property
    def profiling(self) -> bool:
        """True if a profiler or a check is on in this measurement."""
        return self.checked or (self._profile is not None and self._profile.on)

    @property
    def mode(self) -> Mode:
        """The mode of this measurement, as far as it has gone."""
        if self.checked:
            return "checked"
        return "profiled" if self.profiling else "light"

    @property
    def is_open(self) -> bool:
        """True until the measurement ends or is abandoned with the one that encloses it."""
        return self in self._recorder.open

    @property
    def is_innermost(self) -> bool:
        """True if the measurement is open and none that began later is."""
        return self.is_open and self._recorder.open[-1] is self

    def stop_observing(self, why: Sentence) -> None:
        """Stop observing all frameworks and record `why` as the reason."""
        self._finish_observations()
        self._why_not_observed = why
        self._observations = dict.fromkeys(self._observations, why)

    def set_observed(self, framework: str, observed: Observed) -> None:
        """Set what was observed of a framework."""
        self._observations[framework] = observed

    def moment(self) -> Moment:
        """Return the current moment, to pass to `stop` as the end of the code."""
        return celltime.moment(self._recorder.clock)

    def code_may_end(self) -> Moment:
        """Return the current moment, at which an exception may end the code; `stop` learns if it did."""
        now = self.moment()
        if self._stack_sampler is not None:
            with suppress(Exception):  # then what comes after it is sampled, too
                self._stack_sampler.code_may_end()
        return now

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return (self._recorder.clock.monotonic_ns() - self._started_ns) / 1e9

    def strip_so_far(self) -> StripSoFar:
        """Return the strip until now. Called on the sampler's thread."""
        sampler, gpu = self._stack_sampler, self._gpu
        host = None if sampler is None else sampler.lane_so_far()
        gpus = () if gpu is None else gpu.lanes_so_far()
        return StripSoFar(self.sequence, self.elapsed(), host, gpus)

    def begun(self, why: Sentence) -> Record:
        """Return a record without figures, with the reason `why`, while the measurement is under way."""
        return Record(
            run=self._recorder.run,
            cell=self.cell,
            started_at=self.started_at,
            started_monotonic_ns=self._started_ns,
            outcome="interrupted",
            device=DeviceUse({}, None, why),
            readings=guarded.in_order([], why),
        )

    def stop(
        self,
        outcome: Outcome = "ok",
        *,
        requested: Mapping[str, str] = {},
        notes: Sequence[Sentence] = (),
        code_ended: Moment | None = None,
    ) -> Record:
        """End the measurement and return the record; see `end` and `record`."""
        self.end(code_ended)
        return self.record(outcome, requested=requested, notes=notes)

    def end(self, code_ended: Moment | None = None) -> None:
        """Wait for the devices and take the second readings.

        After `code_ended`, only work of devices counts.
        """
        before_waiting = self._recorder.clock.monotonic_ns()
        self._wait_at_the_end()
        now = self.moment()
        self._end_sampling(code_ended=code_ended is not None)
        if self._profile is not None:
            self._profile.cell_ended()
        readings = [reading for take in self._readings for reading in take()]
        if code_ended is not None:
            readings = celltime.without_cpu_time(readings, now.processor_ns - code_ended.processor_ns)
        still_at_work = now.wall_ns - before_waiting > celltime.STILL_AT_WORK_NS
        ended = now if code_ended is None or still_at_work else code_ended
        readings.insert(0, celltime.wall_time(self._recorder.clock, self._started_ns, ended.wall_ns))
        self.left_out_s = (now.wall_ns - ended.wall_ns) / 1e9
        gpu = self._end_gpu((ended.wall_ns - self._started_ns) / 1e9)
        readings += [
            reading for backend in self._backends.values() for reading in guarded.allocator_memory(backend)
        ]
        device, more, notes = self._finish_observations(gpu.readings)
        mode = self._recorder.mode()
        if self._profile is not None:
            self._profile.turn_off()
        self._ended = _Ended([*readings, *more], device, mode, gpu, notes)
        self._recorder.close(self)

    def record(
        self,
        outcome: Outcome = "ok",
        *,
        requested: Mapping[str, str] = {},
        execution_count: int | None = None,
        notes: Sequence[Sentence] = (),
    ) -> Record:
        """Return the record, after `end`.

        `requested` are the selected devices, `execution_count` is the number that the front end shows; both
        are certain only after the cell.
        """
        ended = self._ended
        if ended is None:
            raise StillRunningError("A measurement has a record only after its end.")
        gpu, profiled = ended.gpu, None if self._profile is None else self._profile.finish()
        # The profile comes first: if it has no device time, its reason is the one to show.
        readings = [*(profiled.readings if profiled else ()), *gpu.readings, *ended.readings]
        if profiled and self._recorder.keep is not None:
            self._recorder.keep((self._recorder.run.id, self.sequence), profiled.profiles)
        reset = [RESET] if any(reading.why_missing == RESET for reading in readings) else []
        all_notes = [*self.notes, *notes, *ended.notes, *reset]
        why = guarded.NOT_USED if self._backends else guarded.NO_FRAMEWORK
        if checked := ended.mode == "checked":
            readings, why = [], CHECKED
        return Record(
            run=self._recorder.run,
            cell=replace(self.cell, execution_count=execution_count),
            started_at=self.started_at,
            started_monotonic_ns=self._started_ns,
            outcome=outcome,
            device=replace(ended.device, requested=requested),
            readings=guarded.in_order(readings, why),
            ops=profiled.ops if profiled else (),
            facts=profiled.facts if profiled else {},
            gpu_work=() if checked else gpu.work,
            asynchronous=not checked and not self._waits and may_go_on(gpu),
            versions=self._recorder.versions_in_use(),
            mode=ended.mode,
            notes=(*all_notes, *(map(redact, profiled.notes) if profiled else ())),
        )

    def _end_sampling(self, *, code_ended: bool = False) -> None:
        sampler, self._stack_sampler = self._stack_sampler, None
        if sampler is not None:
            with suppress(Exception):
                self.activity = sampler.finish(code_ended=code_ended)

    def _wait_at_the_end(self) -> None:
        gpu = self._gpu
        if gpu is not None and not self._waits:
            with suppress(Exception):
                gpu.ends()
        for backend in self._backends.values():
            guarded.wait(backend, recorded=not self._waits)
        if gpu is not None and self._waits:
            with suppress(Exception):  # work whose results were dropped, and that of other libraries
                gpu.wait()
                gpu.ends()

    def _end_gpu(self, wall_s: float) -> GpuFigures:
        if self._gpu is None:
            return GpuFigures((), ())
        try:
            if self._waits:
                return self._gpu.finish()
            patience = _LONGEST_S if self._recorder.patient else min(_PATIENCE_S, wall_s * _PATIENCE)
            return self._gpu.finish_within(patience)
        except Exception as error:
            return GpuFigures([guarded.failed("device_time", error)], ())

    def when_gpu_done(self, tell: Callable[[GpuFigures], None]) -> None:
        """Call `tell` with the GPU figures once the GPUs have done what the ended cell launched."""
        if self._gpu is not None:
            self._gpu.when_done(tell)

    def abandon(self) -> None:
        """Stop measuring without a record."""
        self._end_sampling()
        gpu, self._gpu = self._gpu, None
        if gpu is not None:
            gpu.abandon()
        for take in self._readings:
            take()
        self._finish_observations()
        if self._profile is not None:
            self._profile.abandon()
        self._recorder.close(self)

    def _finish_observations(
        self, gpu_readings: Sequence[Reading] = ()
    ) -> tuple[DeviceUse, list[Reading], list[Sentence]]:
        if not self._observations:
            return DeviceUse({}, None, guarded.NO_FRAMEWORK), [], []
        results = {
            name: guarded.finish(name, observation) for name, observation in self._observations.items()
        }
        if any(reading.source == IOREGISTRY and reading.value for reading in gpu_readings):
            from jupyter_mlgpu.measure.frameworks.driver_evidence import with_driver_evidence

            results = with_driver_evidence(results, self._backends, gpu_readings)
        self.observed = results
        ran_on = tuple(entry for observed in results.values() for entry in observed.ran_on or ())
        unknown = {name: observed for name, observed in results.items() if observed.ran_on is None}
        reasons = [observed.why_missing for observed in results.values() if observed.why_missing is not None]
        bounded = all(observed.only is not None for observed in unknown.values())
        device = DeviceUse(
            {},
            # If one framework ran nothing, another whose work is unknown may still have run something.
            ran_on if ran_on or not unknown else None,
            joined(*reasons) if reasons else None,
            {name: observed.only for name, observed in unknown.items() if observed.only is not None}
            if bounded
            else {},
        )
        readings = [reading for observed in results.values() for reading in observed.readings]
        return device, readings, [note for observed in results.values() for note in observed.notes]
