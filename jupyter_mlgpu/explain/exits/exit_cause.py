"""The cause of a death and how sure it is: pure, from an account and an ending.

What a signal proves is little. SIGKILL comes from the system when memory runs out, and from anybody else;
SIGSEGV comes from a crash, and from who sends it. So an end by a signal is `likely` one thing or the other,
and `sure` only where the system has counted or named it, or where native code has said in its last line that
it gives up.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import FlightRecord, MemorySample
from jupyter_mlgpu.record.record import LogLine

Cause = Literal[
    "machine_memory",  # the machine was out of memory
    "container_memory",  # the container, or another control group, was
    "device_memory",
    "device_lost",  # the device's context was lost: nothing works on it any more
    "killed",  # by another program, or somebody
    "crash",  # native code did what the processor forbids
    "abort",  # native code gave up by itself
    "exit",  # the code has ended its own process
    "unknown",
]
Memory = Literal["machine_memory", "container_memory"]
Confidence = Literal["sure", "likely", "open"]

#: Messages, by their id in the catalogue, after which native code gives up for want of the device's memory.
DEVICE_MEMORY = frozenset(
    {
        "cuda-memory-exhausted",
        "cuda-memory-allocation-failed",
        "cuda-memory-async-exhausted",
        "cuda-memory-block-refused",
        "cuda-memory-copy-refused",
        "cuda-memory-scratch-refused",
        "cuda-memory-tensor-refused",
        "cuda-memory-xla-exhausted",
        "jax-out-of-memory",
        "jax-resource-exhausted",
        "metal-gpu-memory",
        "metal-out-of-memory",
        "mlx-gpu-memory",
        "torch-cuda-out-of-memory",
        "torch-cuda-out-of-memory-short",
        "torch-mps-out-of-memory",
    }
)
#: Messages that the device, or its context, is lost.
DEVICE_LOST = frozenset(
    {"cuda-context-lost", "nvidia-xid", "metal-gpu-address-fault", "metal-gpu-hang", "mlx-gpu-hang"}
)
_BY_LINE: tuple[tuple[Cause, frozenset[str]], ...] = (
    ("device_lost", DEVICE_LOST),
    ("device_memory", DEVICE_MEMORY),
)
_CRASHES = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP"})

#: The part of the memory in use from which on it is said to be short, and below which it is not.
SHORT, ENOUGH = 0.9, 0.6
_MEMORY_OF: dict[str | None, Memory] = {"machine": "machine_memory", "container": "container_memory"}
NOTHING: tuple[int, int, Memory] = (0, 0, "machine_memory")
#: Seconds between the last look and the end in which one process of the group can have been killed.
AT_ONCE = 3.0
#: Seconds for which a look tells of the end: memory can be filled quicker than anybody looks.
RECENT = 1.5


@dataclass(frozen=True, slots=True)
class ExitCause:
    """A cause, how sure it is, and the signal's name or the exit status, where there is one."""

    cause: Cause
    confidence: Confidence
    signal: str | None = None
    status: int | None = None


def judge(
    flight_record: FlightRecord | None, exit_report: ExitReport, lines: Sequence[LogLine] = ()
) -> ExitCause | None:
    """Why the kernel died; None where it did not, but was shut down or restarted.

    `lines` are what native code wrote last, explained, the newest at the end.
    """
    phase = None if flight_record is None else flight_record.at.phase
    if exit_report.asked or phase == "ended":
        return None
    direct = flight_record is None or exit_report.pid is None or exit_report.pid == flight_record.state.pid
    name, status = _signal_and_status(exit_report.status, direct)
    if name == "SIGKILL":
        return _of_a_kill(flight_record, exit_report)
    if name is None and status is None:
        return _without_status(flight_record, exit_report, lines)
    if name is not None and name not in _CRASHES and name != "SIGABRT":
        return ExitCause("killed", "likely", name)
    ids = {line.id for line in lines}
    for cause, meant in _BY_LINE:
        if ids & meant and (name is not None or status):
            return ExitCause(cause, "likely", name, status)
    if name == "SIGABRT":
        return ExitCause("abort", "sure" if _gave_up(lines) else "likely", name)
    if name is not None:
        return ExitCause("crash", "sure" if exit_report.named == "crash" else "likely", name)
    return ExitCause("exit", "sure" if direct else "likely", status=status)


def tightest(sample: MemorySample) -> tuple[int, int, Memory]:
    """Bytes used, bytes there are, and of what: the machine or its container, whichever is fuller."""
    machine = sample.machine_used, sample.machine_total
    container = sample.container_used, sample.container_limit
    if container[0] is None or not container[1]:
        return *machine, "machine_memory"
    if container[0] * max(machine[1], 1) < machine[0] * container[1]:
        return *machine, "machine_memory"
    return container[0], container[1], "container_memory"


def _signal_and_status(status: int | None, direct: bool) -> tuple[str | None, int | None]:
    """The signal's name, or the exit status. A shell around the kernel tells a signal as 128 and more."""
    if status is None:
        return None, None
    number = -status if status < 0 else status - 128 if not direct and 128 < status < 160 else None
    if number is None:
        return None, status
    try:
        return signal.Signals(number).name, None
    except ValueError:
        return f"signal {number}", None


def _of_a_kill(flight_record: FlightRecord | None, exit_report: ExitReport) -> ExitCause:
    sample = None if flight_record is None else flight_record.state.sample
    before, after = exit_report.oom_before if sample is None else sample.oom_kills, exit_report.oom_kills
    in_group = _grown(before.container, after.container)
    in_machine = _grown(before.machine, after.machine)
    used, total, where = NOTHING if sample is None else tightest(sample)
    share = used / total if total else 0.0
    if in_group and sample is not None and sample.container_limit is not None and share < SHORT:
        where = "container_memory"  # filled quicker than anybody looked
    if exit_report.named in _MEMORY_OF:
        return ExitCause(_MEMORY_OF[exit_report.named], "sure", "SIGKILL")
    # A group counts its own processes alone, whoever ran out of memory; the machine counts all.
    if in_group or (in_group is None and in_machine):
        at_once = (
            sample is not None and exit_report.at is not None and 0 <= exit_report.at - sample.at <= AT_ONCE
        )
        # A limit on a group above may be hidden from a container: then it was not the machine.
        seen_full = where == "container_memory" or share >= SHORT
        return ExitCause(where, "sure" if in_group and at_once and seen_full else "likely", "SIGKILL")
    if False in (in_group, in_machine):
        # The system has killed nobody; programs that watch memory may have.
        return ExitCause("killed", "open" if share >= SHORT else "likely", "SIGKILL")
    if sample is None or flight_record is None:
        return ExitCause("unknown", "open", "SIGKILL")
    if share >= SHORT:
        return ExitCause(where, "likely", "SIGKILL")
    if total and used + flight_record.state.largest_step >= total:
        return ExitCause(where, "open", "SIGKILL")
    recent = exit_report.at is not None and 0 <= exit_report.at - sample.at <= RECENT
    if share < ENOUGH and recent:
        return ExitCause("killed", "likely", "SIGKILL")
    return ExitCause("unknown", "open", "SIGKILL")


def _without_status(
    flight_record: FlightRecord | None, exit_report: ExitReport, lines: Sequence[LogLine]
) -> ExitCause | None:
    """Nobody saw how the process ended: what it and the system said is all there is.

    Where neither said anything, None: whoever restarts a kernel by force leaves the same behind.
    """
    if flight_record is None:
        return None
    if flight_record.at.phase == "exited":
        return ExitCause("exit", "sure")
    sample = flight_record.state.sample
    if exit_report.named in _MEMORY_OF:
        return ExitCause(_MEMORY_OF[exit_report.named], "likely")
    ids = {line.id for line in lines}
    if _gave_up(lines):
        for cause, meant in _BY_LINE:
            if ids & meant:
                return ExitCause(cause, "open")
        return ExitCause("abort", "likely")
    if sample is not None and _grown(sample.oom_kills.container, exit_report.oom_kills.container):
        return ExitCause(tightest(sample)[2], "likely")
    return None


def _grown(before: int | None, after: int | None) -> bool | None:
    return None if before is None or after is None else after > before


def _gave_up(lines: Sequence[LogLine]) -> bool:
    """Whether the newest line says that the process is ended."""
    return bool(lines) and (lines[-1].verdict == "fatal" or _is_fatal(lines[-1].text))


def _is_fatal(text: str) -> bool:
    from jupyter_mlgpu.explain.logs import prefixes

    prefix = prefixes.read(text)
    return prefix is not None and prefix.level == "FATAL"
