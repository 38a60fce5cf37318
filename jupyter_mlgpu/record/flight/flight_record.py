"""What a kernel that died was at: its last cell, memory at the last look, its last native lines.

The account is a small file, mapped into the kernel's memory and rewritten in place, so that nothing has to be
done when the kernel dies. It has two parts, each written by one hand: the phase, which the cells' thread
stores at the beginning and the end of a cell, and the state, which the sampler's thread writes from time to
time. Each part has two slots with a number and a checksum, written in turn: a death in the middle of a write
spoils one slot, and the other one still holds what was true before.
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

#: `ended`: somebody has asked the kernel to shut down. `exited`: its own code has ended it in good order.
Phase = Literal["starting", "running", "idle", "ended", "exited"]
PHASES: tuple[Phase, ...] = ("starting", "running", "idle", "ended", "exited")

#: Earlier runs of a cell's code that are kept, and the largest number that is taken for a size.
MOST_RUNS, LARGEST_SIZE = 8, 10**12
#: The newest native lines that are kept, and how long one may be.
MOST_LINES = 20
LONGEST_LINE = 300

_MAGIC = b"MLGA"
#: Number of the write, phase, sequence of the cell, its execution count (-1: none), since when (s, Unix), and
#: how many bytes had been written to stdout and stderr by then.
_PHASE = struct.Struct("<4sQBQqdQQ")
#: Number of the write, bytes of JSON behind it, their checksum.
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
    """Memory of a device in bytes, of all programs that use it."""

    label: Text
    used: Count
    total: Count


class OomKills(Struct, frozen=True):
    """How many processes Linux has killed for want of memory: in this control group, and in the machine.

    From memory.events (cgroup v2) or memory.oom_control (v1), and from /proc/vmstat; None: not known, or not
    read, as the machine's where the group's is counted.
    """

    container: Count | None = None
    machine: Count | None = None


class MemorySample(Struct, frozen=True):
    """Memory at one sampling, in bytes; None where it is not known. `at` is in seconds since 1970.

    `container_limit` is the tightest limit on this process's control groups that is below the machine's
    total.
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
    """An earlier run of a cell's code that ended well: its size, and the process's peak in bytes."""

    size: Size
    peak: Count


class Sizes(Struct, frozen=True):
    """The one whole number in which a cell and its earlier runs differ, such as the batch.

    `size` is the cell's own, `runs` are the earlier ones, oldest first. `name` is what the code calls the
    number, None where it gives it no name.
    """

    size: Size
    runs: Annotated[tuple[SizeRun, ...], Meta(max_length=MOST_RUNS)]
    name: Text | None = None


class CellName(Struct, frozen=True):
    """The first line of a cell, redacted; `sequence` says of which. `sizes` where it was seen with others."""

    sequence: Count
    name: Text
    sizes: Sizes | None = None


class KernelState(Struct, frozen=True):
    """What the sampler's thread writes down; `schema` is the version of this form.

    `process_started` is when the process began (s, Unix), which tells it from a later one of the same number.
    `largest_step` is the largest growth of the process between two looks of this cell, in bytes.
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
    """What the kernel is at, since when (s, Unix). `sequence` counts cells from 1; 0: none has begun.

    `stdout` and `stderr` are the bytes that native code had written to them by then.
    """

    phase: Phase
    since: Measured
    sequence: Count = 0
    execution_count: Count | None = None
    stdout: Count = 0
    stderr: Count = 0


class FlightRecord(Struct, frozen=True):
    """What was written down last."""

    at: At
    state: KernelState

    @property
    def latest(self) -> float:
        """When it was written to for the last time (s, Unix): the kernel lived then."""
        return max(self.at.since, 0.0 if self.state.sample is None else self.state.sample.at)

    @property
    def cell(self) -> CellName | None:
        """The last cell; None where nobody has looked while it ran."""
        cell = self.state.cell
        return cell if cell is not None and cell.sequence == self.at.sequence else None

    @property
    def first_line(self) -> str | None:
        """The first line of the last cell; None where nobody has looked while it ran."""
        return None if self.cell is None else self.cell.name


class Pages:
    """Writes the parts of an account into memory that is mapped from its file."""

    def __init__(self, memory: MutableSequence[int] | Any) -> None:
        self._memory = memory
        self._phases = self._states = 0

    def put_at(self, at: At) -> None:
        """Store the phase: a few bytes, half a microsecond."""
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
        """Write the state; the oldest of its lines are left out where it would have no room."""
        data = _encoded(state)
        while len(data) > _STATE_ROOM - _STATE.size and state.lines:
            state = replace(state, lines=state.lines[1:])
            data = _encoded(state)
        if len(data) <= _STATE_ROOM - _STATE.size:
            self.put_text(data)

    def put_text(self, data: bytes) -> None:
        """Write the JSON of a state, which has room."""
        self._states += 1
        packed = _STATE.pack(_MAGIC, self._states, len(data), zlib.crc32(data)) + data
        start = _STATE_SLOTS[self._states % 2]
        self._memory[start : start + len(packed)] = packed


def _encoded(state: KernelState) -> bytes:
    try:
        return json.encode(state)  # a tenth of the other's time, and this is done beside a running cell
    except UnicodeEncodeError:
        return decoding.to_bytes(state)


def decode(data: bytes) -> FlightRecord:
    """An account from the bytes of its file, whoever wrote them; raises RecordError, half a sentence."""
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
        told = {
            "phase": PHASES[phase],
            "since": since,
            "sequence": sequence,
            "execution_count": None if count == -1 else count,
            "stdout": stdout,
            "stderr": stderr,
        }
        newest = number, decoding.decode(At, told, "the phase")
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
    except (DecodeError, ValueError, RecursionError) as error:  # the second for what is no UTF-8
        raise RecordError("it holds no JSON") from error
    return decoding.decode(KernelState, read, "the state")
