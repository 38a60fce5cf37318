"""The flight recorder: a file with the state of a running kernel that survives it (see `record/flight`).

At the beginning and the end of a cell, the cell's thread stores a few bytes in mapped memory, without a
system call. The sampler's thread writes all else: every 0.75 s while cells run, and for 3 s after that.
"""

from __future__ import annotations

import mmap
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from jupyter_mlgpu.measure.memory_samples import MemorySamples
from jupyter_mlgpu.measure.probes.sampler import Sampler, Stop
from jupyter_mlgpu.measure.sizes import CodeForm, Named, SizesSeen, code_form
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.flight import flight_record
from jupyter_mlgpu.record.flight.flight_record import (
    At,
    CellName,
    KernelState,
    Pages,
    Phase,
)
from jupyter_mlgpu.record.record import Record, Run
from jupyter_mlgpu.record.redact import beginning

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy

#: Seconds between two samples, and seconds until the first sample of a cell that begins after a pause.
EVERY, FIRST = 0.75, 0.05
#: Seconds that a sample may come before it is due.
EARLY = 0.25
#: Seconds for which sampling goes on after a cell: the next cell mostly begins before that.
LINGER = 3.0
#: Seconds. A cell that has run for longer does not notice the milliseconds that rarely changing values take.
LONG = 10.0
#: A run is remembered with its sizes only if the cell made the process grow by this many bytes.
GROWN = 8 * 1024**2
#: Bytes of each stream whose last lines are kept. To redact them takes a quarter of a millisecond.
TAIL = 2048

#: Escape sequences and control characters, which a terminal does not print.
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-Z\\^-~])|[\x00-\x08\x0b-\x1f\x7f]"

#: Returns the last bytes of each stream of native output: at most so many, and only after these offsets.
Tails = Callable[[int, Mapping[str, int]], Mapping[str, bytes]]


class Streams(NamedTuple):
    """Access to the captured native output: the current offset of each stream, and its last bytes."""

    offsets: Callable[[], Mapping[str, int]]
    tails: Tails


class FlightRecorder:
    """The flight recorder of this process. Raises OSError if its file cannot be created."""

    def __init__(
        self,
        path: Path,
        run: Run,
        *,
        sampler: Sampler,
        gpus: Lazy[Gpus],
        streams: Streams,
        tidy: Callable[[], None] = lambda: None,
        named: Named = lambda code: {},
    ) -> None:
        """Create the file and write the first state.

        `tidy` is called once, on the sampler's thread: files that other kernels left may be removed then.
        `named` is called on that thread or at the end of a cell.
        """
        self.path = path
        self._named = named
        self._sizes = SizesSeen()
        self._form: tuple[int, CodeForm | None] | None = None
        self._bytes_before = 0  # bytes of the process when the cell began, or at its first sample
        self._versions: Mapping[str, str] = {}
        self._tidy: Callable[[], None] | None = tidy
        self._pid = os.getpid()
        self._sampler = sampler
        self._streams = streams
        self._samples = MemorySamples(gpus)
        self._lock = threading.Lock()  # guards the start and the end of sampling
        self._storing = threading.Lock()
        self._end: Stop | None = None
        self._code: tuple[int, str] | None = None
        self._tails: Mapping[str, bytes] = {}
        self._memory = _mapped(path)
        self._pages = Pages(self._memory)
        self._at = At("starting", real_time.time())
        self._state = KernelState(
            schema=1,
            pid=self._pid,
            process_started=process_started(),
            run=run.id,
            host_digest=run.host_digest,
            opened_at=self._at.since,
        )
        self._pages.put_state(self._state)
        self._pages.put_at(self._at)

    def cell_begins(self, code: str, execution_count: int | None) -> None:
        """Note that a cell is about to run. `code` is read later, on the sampler's thread."""
        sequence = self._at.sequence + 1
        self._code = sequence, code
        self._put("running", sequence, execution_count)
        if self._end is None:
            with self._lock:
                if self._end is None:
                    self._end = self._sampler.add(self._sample, EVERY, FIRST, EARLY)

    def cell_ended(self) -> None:
        """Note that no cell runs any more."""
        self._put("idle", self._at.sequence, self._at.execution_count)

    def record_made(self, record: Record) -> None:
        """Remember the peak memory of the cell that has just run together with its size.

        Two kinds of runs are left out: those that imported a framework, which takes memory whatever the size,
        and those that hardly made the process grow.
        """
        imported = record.versions.keys() - self._versions.keys()
        self._versions = record.versions
        peak, cell = record.find("peak_memory_process"), self._state.cell
        if cell is None or cell.sequence != self._at.sequence or peak is None or peak.value is None:
            return
        if peak.value < self._bytes_before + GROWN or imported:
            return
        form = self._form_of(cell.sequence)
        if record.outcome == "ok" and record.mode == "light" and form is not None:
            self._sizes.remember(form, int(peak.value))

    def begins_to_end(self, phase: Phase) -> None:
        """Note that the process is about to end normally, with this phase. Nothing is stored after that."""
        self._put(phase, self._at.sequence, self._at.execution_count)

    @property
    def has_ended(self) -> bool:
        """True if the kernel has been asked to shut down."""
        return self._at.phase == "ended"

    def close(self, *, remove: bool = True) -> None:
        """Stop writing and remove the file."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self._end is not None:
                self._end()
                self._end = None
        self._samples.close()
        if remove:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _put(self, phase: Phase, sequence: int, execution_count: int | None) -> None:
        if os.getpid() != self._pid:  # a forked child, which has the same pages
            return
        offsets = self._streams.offsets()
        with self._storing:  # the thread of the control channel reports the shutdown
            if self._at.phase in ("ended", "exited"):
                return
            self._at = At(
                phase,
                real_time.time(),
                sequence,
                execution_count,
                offsets.get("stdout", 0),
                offsets.get("stderr", 0),
            )
            self._pages.put_at(self._at)

    def _sample(self) -> None:
        """Take a sample on the sampler's thread. An error ends the sampling until the next cell."""
        try:
            self._sample_once()
        except Exception:
            with self._lock:
                self._end = None
            raise

    def _sample_once(self) -> None:
        at, now = self._at, real_time.time()
        if at.phase != "running" and not 0 <= now - at.since < LINGER:
            with self._lock:
                if self._end is not None and self._at is at:
                    self._end()
                    self._end = None
            return
        state = self._state
        same = state.cell is not None and state.cell.sequence == at.sequence
        short = at.phase == "running" and now - at.since < LONG
        sample = self._samples.sample(now, afresh=not short)
        before = sample.process if state.sample is None else state.sample.process
        if not same:
            self._bytes_before = min(before, sample.process)
            state = replace(state, cell=self._cell(at.sequence), largest_step=0)
        else:
            state = replace(state, largest_step=max(state.largest_step, sample.process - before))
        self._state = replace(state, sample=sample, lines=self._lines(at))
        self._pages.put_state(self._state)
        tidy, self._tidy = self._tidy, None
        if tidy is not None:
            tidy()

    def _cell(self, sequence: int) -> CellName | None:
        code = self._code
        if code is None or code[0] != sequence:
            return None
        first = next((line.strip() for line in code[1].splitlines() if line.strip()), "")
        form = self._form_of(sequence) if self._sizes.any else None
        sizes = None if form is None else self._sizes.of(form, code[1])
        return CellName(sequence, beginning(first), sizes)

    def _form_of(self, sequence: int) -> CodeForm | None:
        """Return the form of the newest cell. To compute it takes about as long as a sample."""
        code = self._code
        if code is None or code[0] != sequence:
            return None
        if self._form is None or self._form[0] != sequence:
            self._form = sequence, code_form(code[1], self._named(code[1]))
        return self._form[1]

    def _lines(self, at: At) -> tuple[str, ...]:
        tails = self._streams.tails(TAIL, {"stdout": at.stdout, "stderr": at.stderr})
        if tails != self._tails:
            self._tails = tails
            return last_lines(tails.values())
        return self._state.lines


def last_lines(tails: Iterable[bytes]) -> tuple[str, ...]:
    """Return the last lines of the streams, redacted; the lines of the last stream come last."""
    texts = [
        beginning(line, flight_record.LONGEST_LINE)
        for tail in tails
        for line in re.sub(_TERMINAL, "", tail.decode(errors="replace")).splitlines()
        if line.strip()
    ]
    return tuple(texts[-flight_record.MOST_LINES :])


def process_started() -> float:
    """Return the start time of this process in seconds since 1970. Together with the pid it is unique."""
    import psutil  # which ipykernel has loaded already

    return float(psutil.Process().create_time())


def is_alive(kernel: flight_record.FlightRecord, host_digest: str) -> bool | None:
    """Return True if the process of a flight record is alive, None if it ran on another machine."""
    import psutil

    if kernel.state.host_digest != host_digest:
        return None
    try:
        process = psutil.Process(kernel.state.pid)
        return process.status() != psutil.STATUS_ZOMBIE and _same(
            process.create_time(), kernel.state.process_started
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None


def _same(one: float, other: float) -> bool:
    return abs(one - other) < 2.0  # psutil counts from the time of boot, which is corrected now and then


def _mapped(path: Path) -> mmap.mmap:
    """Create the file and map it. All its space is allocated here, so a full disk is noticed now."""
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.write(descriptor, bytes(flight_record.SIZE)) != flight_record.SIZE:
            raise OSError(f"{path} has no room for {flight_record.SIZE} bytes")
        return mmap.mmap(descriptor, flight_record.SIZE)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
