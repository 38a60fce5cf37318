"""Keeps a kernel's account of itself (see `record/flight`) while it runs.

At the beginning and the end of a cell its thread stores a few bytes into mapped memory: no system call. All
else is written by the sampler's thread: some three times in two seconds while cells run, and a while longer.
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

#: Seconds from one look to the next, and until the first one of a cell that begins after a rest.
EVERY, FIRST = 0.75, 0.05
#: Seconds that a look may come before its time.
EARLY = 0.25
#: Seconds after the last cell for which looking goes on: the next cell mostly comes before.
LINGER = 3.0
#: Seconds from which on a cell does not feel it when milliseconds are taken for what hardly ever changes.
LONG = 10.0
#: Bytes by which a cell must have made the process grow to be remembered with its sizes.
GROWN = 8 * 1024**2
#: Bytes of each stream whose lines are kept; to redact them takes a quarter of a millisecond.
TAIL = 2048

#: What a terminal would not show.
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-Z\\^-~])|[\x00-\x08\x0b-\x1f\x7f]"

#: Gives the last bytes of each stream of native lines, at most so many, from these offsets on.
Tails = Callable[[int, Mapping[str, int]], Mapping[str, bytes]]


class Streams(NamedTuple):
    """What is asked of the capture of native lines: how far each stream has come, and its last bytes."""

    offsets: Callable[[], Mapping[str, int]]
    tails: Tails


class FlightRecorder:
    """The account of this process. Raises OSError where its file cannot be made."""

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
        """`tidy` is called once, by the sampler's thread: what others have left may be taken away then.

        `named` is called by that thread, too, or at a cell's end.
        """
        self.path = path
        self._named = named
        self._sizes = SizesSeen()
        self._form: tuple[int, CodeForm | None] | None = None
        self._bytes_before = 0  # bytes of the process when the cell began, or at the first look at it
        self._versions: Mapping[str, str] = {}
        self._tidy: Callable[[], None] | None = tidy
        self._pid = os.getpid()
        self._sampler = sampler
        self._streams = streams
        self._samples = MemorySamples(gpus)
        self._lock = threading.Lock()  # of the looking
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
        """A cell is about to run; `code` is looked at later, by the sampler's thread."""
        sequence = self._at.sequence + 1
        self._code = sequence, code
        self._put("running", sequence, execution_count)
        if self._end is None:
            with self._lock:
                if self._end is None:
                    self._end = self._sampler.add(self._sample, EVERY, FIRST, EARLY)

    def cell_ended(self) -> None:
        """No cell runs any more."""
        self._put("idle", self._at.sequence, self._at.execution_count)

    def record_made(self, record: Record) -> None:
        """The record of the cell that has just run, whose peak of memory is remembered with its size.

        A run that imported a framework does not count, for that takes memory whatever the size, nor one that
        hardly made the process grow.
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
        """The process is going to end in good order, as `phase` says: nothing else is stored after that."""
        self._put(phase, self._at.sequence, self._at.execution_count)

    @property
    def has_ended(self) -> bool:
        """Whether somebody has asked the kernel to shut down."""
        return self._at.phase == "ended"

    def close(self, *, remove: bool = True) -> None:
        """Write no more, and take the file away."""
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
        with self._storing:  # the end is told by the thread of the control channel
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
        """On the sampler's thread. What fails ends the looking until the next cell."""
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
        """The form of the newest cell; to find it takes as long as a look does."""
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
    """The last lines of streams, redacted, those of the last stream at the end."""
    texts = [
        beginning(line, flight_record.LONGEST_LINE)
        for tail in tails
        for line in re.sub(_TERMINAL, "", tail.decode(errors="replace")).splitlines()
        if line.strip()
    ]
    return tuple(texts[-flight_record.MOST_LINES :])


def process_started() -> float:
    """When this process began, in seconds since 1970: with its number that names it for good."""
    import psutil  # which ipykernel has loaded already

    return float(psutil.Process().create_time())


def is_alive(kernel: flight_record.FlightRecord, host_digest: str) -> bool | None:
    """Whether the process of an account lives; None where it is another machine's."""
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
    return abs(one - other) < 2.0  # psutil counts from the time of the start, which is set right now and then


def _mapped(path: Path) -> mmap.mmap:
    """The file, made afresh and with all its room taken: a full disk is noticed here, and never later."""
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
