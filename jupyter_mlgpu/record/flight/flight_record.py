"""The flight record of a kernel: its last cell, its last memory sample and its last native lines.

It is a small file, mapped into the kernel's memory and rewritten in place, so that nothing has to be done
when the kernel dies. It has two parts, each written by one thread. The cells' thread writes the phase at the
beginning and the end of a cell. The sampler's thread writes the state from time to time. Each part has two
slots with a number and a checksum, which are written in turn. If the kernel dies during a write, one slot is
damaged and the other still holds the earlier value.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import MutableSequence
from typing import Annotated, Any, Literal

from msgspec import DecodeError, Meta, Struct, json
from msgspec.structs import replace

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.errors import RecordError

#: `ended`: the kernel was asked to shut down. `exited`: its own code ended it regularly.
Phase = Literal["starting", "running", "idle", "ended", "exited"]
PHASES: tuple[Phase, ...] = ("starting", "running", "idle", "ended", "exited")

#: The number of earlier runs of a cell's code that are kept, and the largest number that counts as a size.
MOST_RUNS, LARGEST_SIZE = 8, 10**12
#: The number of native lines that are kept, and the most characters of one.
MOST_LINES = 20
LONGEST_LINE = 300

_MAGIC = b"MLGA"
#: Number of the write, phase, sequence of the cell, its execution count (-1: none), time of the phase's
#: beginning (s, Unix), and the bytes written to stdout and stderr by then.
_PHASE = struct.Struct("<4sQBQqdQQ")
#: Number of the write, length of the JSON behind it in bytes, checksum of the JSON.
_STATE = struct.Struct("<4sQII")
#: Bytes of a checksum.
_CHECK = 4
_PHASE_ROOM, _STATE_ROOM = 128, 16 * 1024
_PHASE_SLOTS = (0, _PHASE_ROOM)
_STATE_SLOTS = (4096, 4096 + _STATE_ROOM)
#: Bytes of the file.
SIZE = 4096 + 2 * _STATE_ROOM

Text = Annotated[str, Meta(max_length=LONGEST_LINE)]


class DeviceMemorySample(Struct, frozen=True):
    """Memory of a device in bytes, summed over all programs that use it."""

    label: Text
    used: Count
    total: Count


class OomKills(Struct, frozen=True):
    """The number of processes that Linux killed for lack of memory, in this control group and in the machine.

    They are read from memory.events (cgroup v2) or memory.oom_control (v1), and from /proc/vmstat. None:
    unknown, or not read, as the machine's number if the group's is known.
    """

    container: Count | None = None
    machine: Count | None = None


class MemorySample(Struct, frozen=True):
    """One sample of memory use in bytes. None: unknown. `at` is in seconds since 1970.

    `container_limit` is the lowest limit of this process's control groups that is below the machine's total.
    """

    at: Measured
    process: Count
    machine_used: Count
    machine_total: Count
    container_used: Count | None = None
    container_limit: Count | None = None
    swap_used: Count | None = None
    swap_total: Count | None = None
    devices: Annotated[tuple[DeviceMemorySample, ...], Meta(max_length=64)] = ()
    oom_kills: OomKills = OomKills()


Size = Annotated[int, Meta(ge=1, le=LARGEST_SIZE)]


class SizeRun(Struct, frozen=True):
    """An earlier run of a cell's code that ended normally: its size, and the process's peak memory, bytes."""

    size: Size
    peak: Count


class Sizes(Struct, frozen=True):
    """The one whole number in which a cell and its earlier runs differ, such as the batch size.

    `size` is the cell's own, `runs` are the earlier ones, oldest first. `name` is the number's name in the
    code, None if it has no name.
    """

    size: Size
    runs: Annotated[tuple[SizeRun, ...], Meta(max_length=MOST_RUNS)]
    name: Text | None = None


class CellName(Struct, frozen=True):
    """The first line of the cell with this `sequence`, redacted.

    `sizes` is set if the cell ran before with other sizes.
    """

    sequence: Count
    name: Text
    sizes: Sizes | None = None


class KernelState(Struct, frozen=True):
    """The state that the sampler's thread writes. `schema` is the version of this format.

    `process_started` is the time of the process's start (s, Unix), which distinguishes it from a later
    process with the same id. `largest_step` is the largest growth of the process between two samples of this
    cell, in bytes.
    """

    schema: Literal[1]
    pid: Count
    process_started: Measured
    run: Text
    host_digest: Text
    opened_at: Measured
    cell: CellName | None = None
    sample: MemorySample | None = None
    largest_step: Count = 0
    lines: Annotated[tuple[Text, ...], Meta(max_length=MOST_LINES)] = ()


class At(Struct, frozen=True):
    """The phase of the kernel and the time of its beginning (s, Unix).

    `sequence` counts cells from 1. It is 0 before the first cell. `stdout` and `stderr` are the bytes that
    native code had written to them by then.
    """

    phase: Phase
    since: Measured
    sequence: Count = 0
    execution_count: Count | None = None
    stdout: Count = 0
    stderr: Count = 0


class FlightRecord(Struct, frozen=True):
    """The phase and the state that were written last."""

    at: At
    state: KernelState

    @property
    def latest(self) -> float:
        """The time of the last write (s, Unix), at which the kernel was still alive."""
        return max(self.at.since, 0.0 if self.state.sample is None else self.state.sample.at)

    @property
    def cell(self) -> CellName | None:
        """The last cell, or None if no sample was taken while it ran."""
        cell = self.state.cell
        return cell if cell is not None and cell.sequence == self.at.sequence else None

    @property
    def first_line(self) -> str | None:
        """The first line of the last cell, or None if no sample was taken while it ran."""
        return None if self.cell is None else self.cell.name


class Pages:
    """Writes the parts of a flight record into memory that is mapped from its file."""

    def __init__(self, memory: MutableSequence[int] | Any) -> None:
        self._memory = memory
        self._phases = self._states = 0

    def put_at(self, at: At) -> None:
        """Write the phase. It is a few bytes and takes half a microsecond."""
        self._phases += 1
        count = -1 if at.execution_count is None else at.execution_count
        packed = _PHASE.pack(
            _MAGIC,
            self._phases,
            PHASES.index(at.phase),
            at.sequence,
            count,
            at.since,
            at.stdout,
            at.stderr,
        )
        start = _PHASE_SLOTS[self._phases % 2]
        self._memory[start : start + len(packed) + _CHECK] = packed + zlib.crc32(packed).to_bytes(
            _CHECK, "little"
        )

    def put_state(self, state: KernelState) -> None:
        """Write the state. If it is too long, the oldest of its lines are left out."""
        data = _encoded(state)
        while len(data) > _STATE_ROOM - _STATE.size and state.lines:
            state = replace(state, lines=state.lines[1:])
            data = _encoded(state)
        if len(data) <= _STATE_ROOM - _STATE.size:
            self.put_text(data)

    def put_text(self, data: bytes) -> None:
        """Write the JSON of a state that is short enough for its slot."""
        self._states += 1
        packed = _STATE.pack(_MAGIC, self._states, len(data), zlib.crc32(data)) + data
        start = _STATE_SLOTS[self._states % 2]
        self._memory[start : start + len(packed)] = packed


def _encoded(state: KernelState) -> bytes:
    try:
        return json.encode(state)  # ten times as fast as decoding.to_bytes, and this runs during a cell
    except UnicodeEncodeError:
        return decoding.to_bytes(state)


def decode(data: bytes) -> FlightRecord:
    """Return the flight record in the bytes of a file from any source.

    Raises RecordError, whose text is half a sentence.
    """
    return FlightRecord(_at(data), _state(data))


def _at(data: bytes) -> At:
    newest: tuple[int, At] | None = None
    for start in _PHASE_SLOTS:
        packed = data[start : start + _PHASE.size]
        check = data[start + _PHASE.size : start + _PHASE.size + _CHECK]
        if len(packed) + len(check) < _PHASE.size + _CHECK or check != zlib.crc32(packed).to_bytes(
            _CHECK, "little"
        ):
            continue
        magic, number, phase, sequence, count, since, stdout, stderr = _PHASE.unpack(packed)
        if magic != _MAGIC or phase >= len(PHASES) or (newest is not None and number < newest[0]):
            continue
        fields = {
            "phase": PHASES[phase],
            "since": since,
            "sequence": sequence,
            "execution_count": None if count == -1 else count,
            "stdout": stdout,
            "stderr": stderr,
        }
        newest = number, decoding.decode(At, fields, "the phase")
    if newest is None:
        raise RecordError("it holds no account of a kernel")
    return newest[1]


def _state(data: bytes) -> KernelState:
    slots = []
    for start in _STATE_SLOTS:
        packed = data[start : start + _STATE.size]
        if len(packed) < _STATE.size:
            continue
        magic, number, length, check = _STATE.unpack(packed)
        written = data[start + _STATE.size : start + _STATE.size + min(length, _STATE_ROOM)]
        if magic == _MAGIC and zlib.crc32(written) == check:
            slots.append((number, written))
    if not slots:
        raise RecordError("it holds no account of a kernel")
    try:
        read = json.decode(max(slots)[1])
    except (DecodeError, ValueError, RecursionError) as error:  # ValueError: not UTF-8
        raise RecordError("it holds no JSON") from error
    return decoding.decode(KernelState, read, "the state")
