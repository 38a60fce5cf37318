"""The flight recorder: a file with the state of a Jupyter kernel that remains if the kernel dies.

`record/flight` has its format.

At the beginning and the end of a cell, the cell's thread stores a few bytes in mapped memory, without a
system call. The sampler's thread writes everything else, every 0.75 s while a cell runs and for 3 s after its
end.
"""

from __future__ import annotations

import mmap
import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

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

#: Seconds between two samples, and seconds from the beginning of a cell to the first sample if sampling had
#: stopped before the cell (`LINGER`).
EVERY, FIRST = 0.75, 0.05
#: Seconds that a sample may be taken before it is due, if the sampler's thread is awake for another one:
#: waking it up is the most expensive part of a sample.
EARLY = 0.25
#: Seconds for which sampling goes on after a cell. Most cells begin within this time of the previous one, and
#: then sampling need not be started again.
LINGER = 3.0
#: Seconds from which on a running cell counts as long. In a long cell, samples also read the values that
#: rarely change: this takes milliseconds, which hardly slow such a cell down.
LONG = 10.0
#: A cell's peak memory is remembered with its size only if the cell made the process grow by at least this
#: many bytes.
GROWN = 8 * 1024**2
#: Bytes at the end of each stream from which the last lines are kept. Redacting them takes a quarter of a
#: millisecond.
TAIL = 2048

#: Escape sequences and control characters, which a terminal does not print.
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-Z\\^-~])|[\x00-\x08\x0b-\x1f\x7f]"

#: Called with a number of bytes and an offset for each stream of native output. Returns the last bytes of
#: each stream: at most that number, and only those after the offset.
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
        remove_old_files: Callable[[], None] = lambda: None,
        numbers_in: Named = lambda code: {},
    ) -> None:
        """Create the file and write the first state.

        `remove_old_files` is called once, on the sampler's thread, to remove files that other Jupyter kernels
        left. `numbers_in` returns the variables with whole numbers that a cell's code names. It is called on
        the sampler's thread, or on the cell's thread at the end of a cell.
        """
        self.path = path
        self._numbers_in = numbers_in
        self._sizes = SizesSeen()
        self._newest_form: tuple[int, CodeForm | None] | None = None  # with the cell's sequence number
        # Bytes of the process at the cell's first sample or at the last one before it, whichever are fewer.
        self._bytes_before = 0
        self._versions: Mapping[str, str] = {}
        self._remove_old_files: Callable[[], None] | None = remove_old_files
        self._pid = os.getpid()
        self._sampler = sampler
        self._streams = streams
        self._samples = MemorySamples(gpus)
        self._sampling_lock = threading.Lock()  # guards the start and the end of sampling
        self._phase_lock = threading.Lock()
        self._stop_sampling: Stop | None = None
        self._newest_code: tuple[int, str] | None = None  # with the cell's sequence number
        self._tails: Mapping[str, bytes] = {}
        self._memory = _mapped(path)
        self._pages = Pages(self._memory)
        self._at = At("starting", real_time.time())  # the phase as stored last
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
        """Record the beginning of a cell. `code` is read later, on the sampler's thread."""
        sequence = self._at.sequence + 1
        self._newest_code = sequence, code
        self._put("running", sequence, execution_count)
        if self._stop_sampling is None:
            with self._sampling_lock:
                if self._stop_sampling is None:
                    self._stop_sampling = self._sampler.add(self._sample, EVERY, FIRST, EARLY)

    def cell_ended(self) -> None:
        """Record the end of the cell."""
        self._put("idle", self._at.sequence, self._at.execution_count)

    def record_made(self, record: Record) -> None:
        """Remember the size and the peak memory of the cell that has just run.

        A later cell with the same code and another size is compared with it. Cells that failed, and cells in
        other modes than `light`, are not remembered. Neither are cells that imported a framework, which takes
        memory whatever the size, and cells that hardly made the process grow.
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

    def process_ends(self, phase: Literal["ended", "exited"]) -> None:
        """Record that the process is about to end normally.

        `phase` is `ended` if the kernel was asked to shut down, `exited` if its own code ended it. The phase
        does not change after that; a sample may still write the state.
        """
        self._put(phase, self._at.sequence, self._at.execution_count)

    @property
    def is_shutting_down(self) -> bool:
        """True if the kernel has been asked to shut down."""
        return self._at.phase == "ended"

    def close(self, *, remove: bool = True) -> None:
        """Stop sampling. Also remove the file, unless `remove` is false."""
        if os.getpid() != self._pid:
            return
        with self._sampling_lock:
            if self._stop_sampling is not None:
                self._stop_sampling()
                self._stop_sampling = None
        self._samples.close()
        if remove:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)

    def _put(self, phase: Phase, sequence: int, execution_count: int | None) -> None:
        if os.getpid() != self._pid:  # a forked child, which shares the mapped memory with its parent
            return
        offsets = self._streams.offsets()
        # The thread of the control channel may report a shutdown while the cell's thread is here.
        with self._phase_lock:
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
            with self._sampling_lock:
                self._stop_sampling = None
            raise

    def _sample_once(self) -> None:
        at, now = self._at, real_time.time()
        if at.phase != "running" and not 0 <= now - at.since < LINGER:
            with self._sampling_lock:
                # If a cell has begun since, sampling goes on.
                if self._stop_sampling is not None and self._at is at:
                    self._stop_sampling()
                    self._stop_sampling = None
            return
        state = self._state
        is_first_of_cell = state.cell is None or state.cell.sequence != at.sequence
        is_short = at.phase == "running" and now - at.since < LONG
        # Between cells and in a long cell, there is time to read the values that rarely change, too.
        sample = self._samples.sample(now, afresh=not is_short)
        before = sample.process if state.sample is None else state.sample.process
        if is_first_of_cell:
            self._bytes_before = min(before, sample.process)
            state = replace(state, cell=self._cell(at.sequence), largest_step=0)
        else:
            state = replace(state, largest_step=max(state.largest_step, sample.process - before))
        self._state = replace(state, sample=sample, lines=self._lines(at))
        self._pages.put_state(self._state)
        remove_old_files, self._remove_old_files = self._remove_old_files, None
        if remove_old_files is not None:
            remove_old_files()

    def _cell(self, sequence: int) -> CellName | None:
        code = self._newest_code
        if code is None or code[0] != sequence:
            return None
        first = next((line.strip() for line in code[1].splitlines() if line.strip()), "")
        form = self._form_of(sequence) if self._sizes.any else None
        sizes = None if form is None else self._sizes.of(form, code[1])
        return CellName(sequence, beginning(first), sizes)

    def _form_of(self, sequence: int) -> CodeForm | None:
        """Return the form of the cell's code, or None if it has none or if the cell is not the newest.

        It is computed once for each cell, which takes about as long as a sample.
        """
        code = self._newest_code
        if code is None or code[0] != sequence:
            return None
        if self._newest_form is None or self._newest_form[0] != sequence:
            self._newest_form = sequence, code_form(code[1], self._numbers_in(code[1]))
        return self._newest_form[1]

    def _lines(self, at: At) -> tuple[str, ...]:
        tails = self._streams.tails(TAIL, {"stdout": at.stdout, "stderr": at.stderr})
        if tails != self._tails:
            self._tails = tails
            return last_lines(tails.values())
        return self._state.lines


def last_lines(tails: Iterable[bytes]) -> tuple[str, ...]:
    """Return the last lines of the streams, redacted, in the order of the streams."""
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


def is_alive(recorded: flight_record.FlightRecord, host_digest: str) -> bool | None:
    """Return True if the process of a flight record is alive.

    Return None if it ran on another machine, or if psutil cannot tell. `host_digest` is this machine's.
    """
    import psutil

    if recorded.state.host_digest != host_digest:
        return None
    try:
        process = psutil.Process(recorded.state.pid)
        return process.status() != psutil.STATUS_ZOMBIE and _is_same_start(
            process.create_time(), recorded.state.process_started
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return None


def _is_same_start(one: float, other: float) -> bool:
    # psutil computes start times from the time of boot, which the system corrects now and then.
    return abs(one - other) < 2.0


def _mapped(path: Path) -> mmap.mmap:
    """Create the file and map it. All its space is allocated here, so a full disk is noticed now."""
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.write(descriptor, bytes(flight_record.SIZE)) != flight_record.SIZE:
            raise OSError(f"There is no room on the disk for {path} ({flight_record.SIZE} bytes).")
        return mmap.mmap(descriptor, flight_record.SIZE)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
