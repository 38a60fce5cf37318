"""Measure one cell: `start` takes the first readings, `stop` the second, and a `Record` comes out.

Knows nothing of notebooks. A probe or backend that fails costs its own reading and nothing else: the
record then says what failed.
"""

from __future__ import annotations

import hashlib
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from jupyter_mlgpu.measure import celltime, guarded
from jupyter_mlgpu.measure.celltime import Moment
from jupyter_mlgpu.measure.frameworks.base import Backend, Observation, Observed
from jupyter_mlgpu.measure.probes.base import Probe
from jupyter_mlgpu.measure.probes.cell.peak_memory_process import RESET
from jupyter_mlgpu.record.clock import Clock
from jupyter_mlgpu.record.gpu_work import GpuFigures, may_go_on
from jupyter_mlgpu.record.reading import IOREGISTRY, Reading
from jupyter_mlgpu.record.record import Cell, DeviceUse, Mode, Outcome, Record, Run
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


#: How long the end of a measurement waits for records where it does not wait for the GPUs: a part of the wall
#: time, and the longest, in seconds. Those of idle GPUs are there after 0.2 ms.
_PATIENCE, _PATIENCE_S = 0.02, 0.005
#: The same for one who is patient.
_LONGEST_S = 600.0


def new_run(notebook: str | None) -> Run:
    """A run for this process, with an id of its own."""
    digest = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]
    return Run(uuid.uuid4().hex, redact(notebook) if notebook else None, digest)


@dataclass(eq=False, repr=False)
class Recorder:
    """Makes records of one run, numbered from 1. Measurements may be nested.

    `profilers` gives a framework's profiler; left out, the frameworks' own. `keep` is given the profiles of a
    cell by its record's key: a record holds only their table. `activity` begins to look at what this thread
    does; left out, nobody looks. `gpu` gives what measures the GPUs' time, None where no framework is loaded.
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
    #: Whether the end of a measurement waits until its GPU time is known: for who reads records at once.
    patient: bool = False

    def __post_init__(self) -> None:
        self._sequence = 0
        #: What is being measured now, the outermost first.
        self.open: list[Measurement] = []

    def start(
        self,
        name: str,
        *,
        source: str | None = None,
        cell_id: str | None = None,
        ops: bool = False,
        shapes: bool = False,
        of_user: OfUser | None = None,
        waits: bool = True,
    ) -> Measurement:
        """Begin a measurement; `source` is the cell's code, of which only a digest is kept.

        It `waits` for the devices at both ends. Otherwise it does so only where it has to, because nobody
        keeps records of what they do.

        `of_user` tells which files hold the user's code; left out, the notebook's cells do.

        With `ops`, the frameworks' profilers are on: the record has times per operation, and is no timing.
        With `shapes`, too, they record what is dear: input shapes and FLOP.
        """
        self._sequence += 1
        digest = (
            hashlib.sha256(source.encode(errors="replace")).hexdigest()[:16] if source is not None else None
        )
        cell = Cell(self._sequence, cell_id, None, digest, beginning(name))
        measurement = Measurement(self, cell, self._cell_profile(shapes) if ops else None, waits)
        self.open.append(measurement)
        try:
            measurement.begin(self.probes, self.backends(), of_user)
        except BaseException:  # an interrupt, most likely: no profiler may stay on
            measurement.abandon()
            raise
        return measurement

    def framework_loaded(self, backend: Backend) -> None:
        """The user's code has just imported a framework: watch it from now on."""
        for measurement in self.open:
            measurement.observe(backend)

    def stop_watching(self, why: Sentence) -> None:
        """Watch operations no more in what is being measured: for who takes times that watching would add to.

        The records then give `why` in place of where the operations ran and of the allocators' peaks.
        """
        for measurement in self.open:
            measurement.stop_watching(why)

    def saw(self, framework: str, observed: Observed) -> None:
        """Where a framework worked: for who watches what is being measured himself (see `stop_watching`)."""
        for measurement in self.open:
            measurement.saw(framework, observed)

    def add_note(self, sentence: Sentence) -> None:
        """Say something of what is being measured."""
        for measurement in self.open:
            measurement.notes.append(sentence)

    def profiling(self) -> bool:
        """Whether a profiler is on in any measurement that is open: then none of them is a timing."""
        return any(measurement.profiling for measurement in self.open)

    def _cell_profile(self, shapes: bool) -> CellProfile:
        # Seldom asked for, so loading waits until it is.
        from jupyter_mlgpu.measure.frameworks import registry
        from jupyter_mlgpu.measure.ops.cell import CellProfile

        return CellProfile(self.profilers or registry.profiler, shapes=shapes)

    def close(self, measurement: Measurement) -> dict[str, str]:
        """Used by a measurement that ends: gives up what was begun inside it; returns the versions."""
        while self.open and self.open[-1] is not measurement and measurement in self.open:
            self.open[-1].abandon()
        if measurement in self.open:
            self.open.remove(measurement)
        versions = dict(self.versions)
        for backend in self.backends():
            try:
                versions.update(backend.versions())
            except Exception:  # a version that cannot be told is left out
                continue
        return versions


class Measurement:
    """A measurement under way, made by `Recorder.start`."""

    def __init__(
        self, recorder: Recorder, cell: Cell, profile: CellProfile | None, waits: bool = True
    ) -> None:
        self._recorder = recorder
        self._profile = profile
        self._waits = waits or profile is not None
        self.cell = cell
        self._thread = threading.get_ident()
        self._observations: dict[str, Observation | Observed | Sentence] = {}
        self._readings: list[Callable[[], Sequence[Reading]]] = []
        self._backends: dict[str, Backend] = {}
        self._unwatched: Sentence | None = None
        self._watch: StackSampler | None = None
        self._gpu: MeteredCell | None = None
        #: What was seen of the code while it ran, once it has ended; None for a short cell.
        self.activity: Activity | None = None
        self.notes: list[Sentence] = []
        self.started_at = ""
        self._started_ns = 0
        #: Seconds after the end of the code that `stop` has left out of the wall time.
        self.left_out_s = 0.0

    def begin(
        self, probes: Sequence[Probe], backends: Sequence[Backend], of_user: OfUser | None = None
    ) -> None:
        """Take the first readings, the clock last, so that our own work is not counted."""
        with suppress(Exception):  # then the GPU's time is not known
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
            # It wakes the sampler's thread up, which needs the interpreter's lock for a moment: probes that
            # write to files of the system's give it away for as long, and the user's code would have to wait.
            with suppress(Exception):  # then it is not known what limits the cell
                self._watch = self._recorder.activity(of_user)
        for probe in reversed(
            probes
        ):  # and taken back the other way round: the first one listed is innermost
            self._readings.insert(0, guarded.begin(probe))
        if self._profile is not None:
            self._profile.cell_begins()
        if self._gpu is not None:
            with suppress(Exception):
                self._gpu.starts()
        if self._watch is not None:
            self._watch.starts()
        self._started_ns = self._recorder.clock.monotonic_ns()

    def observe(self, backend: Backend) -> None:
        """Watch where this framework's operations run, if this is the thread that is being measured."""
        if backend.name in self._observations or threading.get_ident() != self._thread:
            return
        self._backends[backend.name] = backend
        if self._unwatched is not None:
            self._observations[backend.name] = self._unwatched
            return
        try:
            self._observations[backend.name] = backend.observe()
        except Exception as error:
            self._observations[backend.name] = say(
                "{name} could not be observed ({error}).", name=backend.name, error=guarded.words(error)
            )
        if self._profile is not None:
            self._profile.begin(backend.name)

    @property
    def profiling(self) -> bool:
        """Whether a profiler is on in this measurement."""
        return self._profile is not None and self._profile.on

    @property
    def is_open(self) -> bool:
        """Whether it has neither ended nor been given up with one that it began in."""
        return self in self._recorder.open

    @property
    def is_innermost(self) -> bool:
        """Whether it is open, and nothing that began later is."""
        return self.is_open and self._recorder.open[-1] is self

    def stop_watching(self, why: Sentence) -> None:
        """Watch no framework any more, for the reason `why`."""
        self._finish_observations()
        self._unwatched = why
        self._observations = dict.fromkeys(self._observations, why)

    def saw(self, framework: str, observed: Observed) -> None:
        """Take over where a framework worked."""
        self._observations[framework] = observed

    def moment(self) -> Moment:
        """Now: given to `stop`, it is when the code ended."""
        return celltime.moment(self._recorder.clock)

    def code_may_end(self) -> Moment:
        """The same; an exception that may end the code comes now, and `stop` is told whether it did."""
        now = self.moment()
        if self._watch is not None:
            with suppress(Exception):  # then what comes after it is looked at, too
                self._watch.code_may_end()
        return now

    def elapsed(self) -> float:
        """Seconds since the start."""
        return (self._recorder.clock.monotonic_ns() - self._started_ns) / 1e9

    def strip_so_far(self) -> StripSoFar:
        """The strip until now, for the sampler's thread."""
        watch, gpu = self._watch, self._gpu
        host = None if watch is None else watch.lane_so_far()
        gpus = () if gpu is None else gpu.lanes_so_far()
        return StripSoFar(self.cell.sequence, self.elapsed(), host, gpus)

    def begun(self, why: Sentence) -> Record:
        """What is known while it is under way: a record without figures, for which `why` is the reason."""
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
        execution_count: int | None = None,
        notes: Sequence[Sentence] = (),
        code_ended: Moment | None = None,
    ) -> Record:
        """Wait for the devices, take the second readings, and give the record.

        `requested` are the devices asked for, `execution_count` the number the front end shows; both are
        known for certain only now. Of what came after `code_ended`, only work of devices counts.
        """
        before_waiting = self._recorder.clock.monotonic_ns()
        self._wait_at_the_end()
        now = self.moment()
        self._end_watch(code_ended=code_ended is not None)
        if self._profile is not None:
            self._profile.cell_ended()
        readings = [one for take in self._readings for one in take()]
        if code_ended is not None:
            readings = celltime.without(readings, now.processor_ns - code_ended.processor_ns)
        still_at_work = now.wall_ns - before_waiting > celltime.STILL_AT_WORK_NS
        ended = now if code_ended is None or still_at_work else code_ended
        readings.insert(0, celltime.wall_time(self._recorder.clock, self._started_ns, ended.wall_ns))
        self.left_out_s = (now.wall_ns - ended.wall_ns) / 1e9
        gpu = self._end_gpu((ended.wall_ns - self._started_ns) / 1e9)
        readings += [one for backend in self._backends.values() for one in guarded.held(backend)]
        device, more, seen_notes = self._finish_observations(gpu.readings)
        mode: Mode = "profiled" if self._recorder.profiling() else "light"
        profiled = None if self._profile is None else self._profile.finish()
        # The profile first: where it knows no time of the device, its reason is the one that counts.
        readings = [*(profiled.readings if profiled else ()), *gpu.readings, *readings, *more]
        if profiled and self._recorder.keep is not None:
            self._recorder.keep((self._recorder.run.id, self.cell.sequence), profiled.profiles)
        reset = [RESET] if any(one.why_missing == RESET for one in readings) else []
        seen_notes = [*self.notes, *notes, *seen_notes, *reset]
        return Record(
            run=self._recorder.run,
            cell=replace(self.cell, execution_count=execution_count),
            started_at=self.started_at,
            started_monotonic_ns=self._started_ns,
            outcome=outcome,
            device=replace(device, requested=requested),
            readings=guarded.in_order(readings, guarded.NOT_USED if self._backends else guarded.NO_FRAMEWORK),
            ops=profiled.ops if profiled else (),
            facts=profiled.facts if profiled else {},
            gpu_work=gpu.work,
            asynchronous=not self._waits and may_go_on(gpu),
            versions=self._recorder.close(self),
            mode=mode,
            notes=(*seen_notes, *(map(redact, profiled.notes) if profiled else ())),
        )

    def _end_watch(self, *, code_ended: bool = False) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            with suppress(Exception):
                self.activity = watch.finish(code_ended=code_ended)

    def _wait_at_the_end(self) -> None:
        gpu = self._gpu
        if gpu is not None and not self._waits:
            with suppress(Exception):
                gpu.ends()
        for backend in self._backends.values():
            guarded.wait(backend, recorded=not self._waits)
        if gpu is not None and self._waits:
            with suppress(Exception):  # work whose results are gone, and that of other libraries
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
        """Tell what the GPUs did, once they have done what the cell launched; it has ended."""
        if self._gpu is not None:
            self._gpu.when_done(tell)

    def abandon(self) -> None:
        """Stop measuring without a record."""
        self._end_watch()
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
        seen = {name: guarded.finish(name, observation) for name, observation in self._observations.items()}
        if any(one.source == IOREGISTRY and one.value for one in gpu_readings):
            from jupyter_mlgpu.measure.frameworks.driver_evidence import with_driver_evidence

            seen = with_driver_evidence(seen, self._backends, gpu_readings)
        ran_on = tuple(entry for one in seen.values() for entry in one.ran_on or ())
        unknown = {name: one for name, one in seen.items() if one.ran_on is None}
        reasons = [one.why_missing for one in seen.values() if one.why_missing is not None]
        bounded = all(one.only is not None for one in unknown.values())
        device = DeviceUse(
            {},
            # That one framework ran nothing says nothing of another, whose work is not known.
            ran_on if ran_on or not unknown else None,
            joined(*reasons) if reasons else None,
            {name: one.only for name, one in unknown.items() if one.only is not None} if bounded else {},
        )
        readings = [reading for one in seen.values() for reading in one.readings]
        return device, readings, [note for one in seen.values() for note in one.notes]
