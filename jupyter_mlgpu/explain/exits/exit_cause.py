"""Judge the exit cause of a kernel and its confidence.

A signal proves little. SIGKILL comes from the system when memory runs out, but anyone else can send it, too.
SIGSEGV comes from a crash or from another process. So an exit by a signal is `likely` one or the other. It is
`sure` only if the system counted or named it, or if the last line of native code says that it gives up.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import FlightRecord, MemorySample
from jupyter_mlgpu.record.limit import Confidence
from jupyter_mlgpu.record.record import LogLine

Cause = Literal[
    "machine_memory",  # the machine was out of memory
    "container_memory",  # the container or another control group was out of memory
    "device_memory",
    "device_lost",  # the device's context was lost: nothing works on it any more
    "killed",  # by another program or a person
    "crash",  # native code did something that the processor forbids
    "abort",  # native code ended the process itself
    "exit",  # the code ended its own process
    "unknown",
]
Memory = Literal["machine_memory", "container_memory"]

#: Catalogue ids of the messages after which native code gives up because the device is out of memory.
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
#: Catalogue ids of the messages that the device or its context is lost.
DEVICE_LOST = frozenset(
    {"cuda-context-lost", "nvidia-xid", "metal-gpu-address-fault", "metal-gpu-hang", "mlx-gpu-hang"}
)
_BY_LINE: tuple[tuple[Cause, frozenset[str]], ...] = (
    ("device_lost", DEVICE_LOST),
    ("device_memory", DEVICE_MEMORY),
)
_CRASHES = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP"})

#: Shares of the memory in use: from the first on memory was short, below the second it was not.
_SHORT, _ENOUGH = 0.9, 0.6
_MEMORY_OF: dict[str | None, Memory] = {"machine": "machine_memory", "container": "container_memory"}
_NO_MEMORY: tuple[int, int, Memory] = (0, 0, "machine_memory")
#: Seconds between the last sample and the exit in which at most one process of the group can have been
#: killed.
_AT_ONCE_S = 3.0
#: Seconds for which a sample describes the exit: memory can fill up faster than samples are taken.
_RECENT_S = 1.5


@dataclass(frozen=True, slots=True)
class ExitCause:
    """An exit cause with its confidence, and with the signal's name or the exit status if there is one."""

    cause: Cause
    confidence: Confidence
    signal: str | None = None
    status: int | None = None


def judge(
    flight_record: FlightRecord | None, exit_report: ExitReport, lines: Sequence[LogLine] = ()
) -> ExitCause | None:
    """Return the exit cause, or None if the kernel did not die, but was shut down or restarted.

    `lines` are the last explained lines of native code, the newest at the end.
    """
    phase = None if flight_record is None else flight_record.at.phase
    if exit_report.asked or phase == "ended":
        return None
    direct = flight_record is None or exit_report.pid is None or exit_report.pid == flight_record.state.pid
    name, status = _signal_and_status(exit_report.status, direct)
    if name == "SIGKILL":
        return _cause_of_sigkill(flight_record, exit_report)
    if name is None and status is None:
        return _without_status(flight_record, exit_report, lines)
    if name is not None and name not in _CRASHES and name != "SIGABRT":
        return ExitCause("killed", "likely", name)
    ids = {line.id for line in lines}
    for cause, ids_of_cause in _BY_LINE:
        if ids & ids_of_cause and (name is not None or status):
            return ExitCause(cause, "likely", name, status)
    if name == "SIGABRT":
        return ExitCause("abort", "sure" if _is_last_line_fatal(lines) else "likely", name)
    if name is not None:
        return ExitCause("crash", "sure" if exit_report.named == "crash" else "likely", name)
    return ExitCause("exit", "sure" if direct else "likely", status=status)


def tightest(sample: MemorySample) -> tuple[int, int, Memory]:
    """Return used bytes, total bytes and the kind of memory of machine or container, whichever is fuller."""
    machine = sample.machine_used, sample.machine_total
    container = sample.container_used, sample.container_limit
    if container[0] is None or not container[1]:
        return *machine, "machine_memory"
    if container[0] * max(machine[1], 1) < machine[0] * container[1]:
        return *machine, "machine_memory"
    return container[0], container[1], "container_memory"


def _signal_and_status(status: int | None, direct: bool) -> tuple[str | None, int | None]:
    """Return the signal's name or the exit status.

    A shell around the kernel reports a signal as 128 and more.
    """
    if status is None:
        return None, None
    number = -status if status < 0 else status - 128 if not direct and 128 < status < 160 else None
    if number is None:
        return None, status
    try:
        return signal.Signals(number).name, None
    except ValueError:
        return f"signal {number}", None


def _cause_of_sigkill(flight_record: FlightRecord | None, exit_report: ExitReport) -> ExitCause:
    sample = None if flight_record is None else flight_record.state.sample
    before, after = exit_report.oom_before if sample is None else sample.oom_kills, exit_report.oom_kills
    in_group = _has_grown(before.container, after.container)
    in_machine = _has_grown(before.machine, after.machine)
    used, total, where = _NO_MEMORY if sample is None else tightest(sample)
    share = used / total if total else 0.0
    if in_group and sample is not None and sample.container_limit is not None and share < _SHORT:
        where = "container_memory"  # it filled up after the last sample
    if exit_report.named in _MEMORY_OF:
        return ExitCause(_MEMORY_OF[exit_report.named], "sure", "SIGKILL")
    # A group counts its own processes only, whoever ran out of memory; the machine counts all.
    if in_group or (in_group is None and in_machine):
        at_once = (
            sample is not None
            and exit_report.at is not None
            and 0 <= exit_report.at - sample.at <= _AT_ONCE_S
        )
        # A limit on a parent group may be hidden from a container: then it was not the machine.
        seen_full = where == "container_memory" or share >= _SHORT
        return ExitCause(where, "sure" if in_group and at_once and seen_full else "likely", "SIGKILL")
    if False in (in_group, in_machine):
        # The system killed no process; programs that monitor memory may have.
        return ExitCause("killed", "open" if share >= _SHORT else "likely", "SIGKILL")
    if sample is None or flight_record is None:
        return ExitCause("unknown", "open", "SIGKILL")
    if share >= _SHORT:
        return ExitCause(where, "likely", "SIGKILL")
    if total and used + flight_record.state.largest_step >= total:
        return ExitCause(where, "open", "SIGKILL")
    recent = exit_report.at is not None and 0 <= exit_report.at - sample.at <= _RECENT_S
    if share < _ENOUGH and recent:
        return ExitCause("killed", "likely", "SIGKILL")
    return ExitCause("unknown", "open", "SIGKILL")


def _without_status(
    flight_record: FlightRecord | None, exit_report: ExitReport, lines: Sequence[LogLine]
) -> ExitCause | None:
    """Return the exit cause without an exit status, from the process's and the system's messages.

    Return None if there are none: a forced restart of a kernel leaves the same traces.
    """
    if flight_record is None:
        return None
    if flight_record.at.phase == "exited":
        return ExitCause("exit", "sure")
    sample = flight_record.state.sample
    if exit_report.named in _MEMORY_OF:
        return ExitCause(_MEMORY_OF[exit_report.named], "likely")
    ids = {line.id for line in lines}
    if _is_last_line_fatal(lines):
        for cause, ids_of_cause in _BY_LINE:
            if ids & ids_of_cause:
                return ExitCause(cause, "open")
        return ExitCause("abort", "likely")
    if sample is not None and _has_grown(sample.oom_kills.container, exit_report.oom_kills.container):
        return ExitCause(tightest(sample)[2], "likely")
    return None


def _has_grown(before: int | None, after: int | None) -> bool | None:
    return None if before is None or after is None else after > before


def _is_last_line_fatal(lines: Sequence[LogLine]) -> bool:
    """Return True if the newest line says that the process ends."""
    return bool(lines) and (lines[-1].verdict == "fatal" or _is_fatal(lines[-1].text))


def _is_fatal(text: str) -> bool:
    from jupyter_mlgpu.explain.logs import prefixes

    prefix = prefixes.read(text)
    return prefix is not None and prefix.level == "FATAL"
