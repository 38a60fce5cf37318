"""Judge why a Jupyter kernel exited, and how certain the cause is.

A signal alone does not prove a cause. Linux sends SIGKILL when memory runs out, but a person or another
program can send it, too. SIGSEGV comes from a crash or from another process. So the cause of an exit by a
signal is `likely` at best, with two exceptions. It is `sure` if the system counted the kill, or if the
system's log names this process. It is also `sure` if the last line that native code printed says that the
code gives up.
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
    "killed",  # another program or a person ended the process
    "crash",  # native code did something that the processor forbids
    "abort",  # native code ended the process itself
    "exit",  # the code ended its own process
    "unknown",
]
#: The causes that are a shortage of main memory.
MemoryCause = Literal["machine_memory", "container_memory"]

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

#: Shares of the memory in use. If at least `_SHORT` was in use, memory was short. If less than `_ENOUGH` was,
#: it was not. In between, this is not known.
_SHORT, _ENOUGH = 0.9, 0.6
#: The cause that each name of a memory in the system's log (`ExitReport.named`) stands for.
_MEMORY_OF: dict[str | None, MemoryCause] = {"machine": "machine_memory", "container": "container_memory"}
#: What `fullest_memory` would return if there were no sample: no used and no total bytes.
_NOT_SAMPLED: tuple[int, int, MemoryCause] = (0, 0, "machine_memory")
#: Seconds between the last sample and the exit up to which it is assumed that the system killed only one
#: process of the control group. The counted kill is then the kernel's.
_AT_ONCE_S = 3.0
#: Seconds before the exit from which on a sample with free memory still counts. An older one proves nothing,
#: because memory can fill up faster than samples are taken.
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
    """Return the exit cause, or None if the Jupyter kernel was shut down or restarted on purpose.

    `lines` are the last lines of native code that the catalogue explains, the newest at the end.
    """
    # The order matters. Signals that others send come first: native code that gives up ends by none of them.
    # After that, the explained lines come before a crash's signal and the exit status, because they say more.
    phase = None if flight_record is None else flight_record.at.phase
    if exit_report.asked or phase == "ended":
        return None
    # Otherwise the exit status is that of a shell or launcher around the Jupyter kernel.
    is_own_status = (
        flight_record is None or exit_report.pid is None or exit_report.pid == flight_record.state.pid
    )
    name, status = _signal_and_status(exit_report.status, is_own_status=is_own_status)
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
    return ExitCause("exit", "sure" if is_own_status else "likely", status=status)


def fullest_memory(sample: MemorySample) -> tuple[int, int, MemoryCause]:
    """Return the used and total bytes of the machine's or the container's memory, whichever is fuller.

    The third value is the exit cause if that memory ran out.
    """
    machine = sample.machine_used, sample.machine_total
    container = sample.container_used, sample.container_limit
    if container[0] is None or not container[1]:
        return *machine, "machine_memory"
    if container[0] * max(machine[1], 1) < machine[0] * container[1]:
        return *machine, "machine_memory"
    return container[0], container[1], "container_memory"


def _signal_and_status(status: int | None, *, is_own_status: bool) -> tuple[str | None, int | None]:
    """Return the name of the signal that ended the process, or else its exit status.

    A negative status is a signal. A shell around the Jupyter kernel reports signal N as the status 128 + N.
    """
    if status is None:
        return None, None
    if status < 0:
        number = -status
    elif not is_own_status and 128 < status < 160:
        number = status - 128
    else:
        return None, status
    try:
        return signal.Signals(number).name, None
    except ValueError:
        return f"signal {number}", None


def _cause_of_sigkill(flight_record: FlightRecord | None, exit_report: ExitReport) -> ExitCause:
    """Return the cause of an exit by SIGKILL.

    The signs are, from the strongest to the weakest: the system's log, its counts of killed processes, and
    the memory in use at the last sample.
    """
    sample = None if flight_record is None else flight_record.state.sample
    before, after = exit_report.oom_before if sample is None else sample.oom_kills, exit_report.oom_kills
    killed_in_group = _has_grown(before.container, after.container)
    killed_in_machine = _has_grown(before.machine, after.machine)
    used, total, memory_cause = _NOT_SAMPLED if sample is None else fullest_memory(sample)
    share = used / total if total else 0.0
    if killed_in_group and sample is not None and sample.container_limit is not None and share < _SHORT:
        memory_cause = "container_memory"  # it filled up after the last sample
    if exit_report.named in _MEMORY_OF:
        return ExitCause(_MEMORY_OF[exit_report.named], "sure", "SIGKILL")
    # A control group counts kills of its own processes only, even if the whole machine was out of memory. The
    # machine counts the kills of all processes.
    if killed_in_group or (killed_in_group is None and killed_in_machine):
        at_once = (
            sample is not None
            and exit_report.at is not None
            and 0 <= exit_report.at - sample.at <= _AT_ONCE_S
        )
        # A container cannot see a limit on a parent of its control group. So if no memory was full, it may
        # have been that limit, and the machine's memory is not certain.
        was_full = memory_cause == "container_memory" or share >= _SHORT
        is_sure = killed_in_group and at_once and was_full
        return ExitCause(memory_cause, "sure" if is_sure else "likely", "SIGKILL")
    if False in (killed_in_group, killed_in_machine):
        # Linux killed no process for memory. Another program that monitors memory may have killed this one.
        return ExitCause("killed", "open" if share >= _SHORT else "likely", "SIGKILL")
    if sample is None or flight_record is None:
        return ExitCause("unknown", "open", "SIGKILL")
    if share >= _SHORT:
        return ExitCause(memory_cause, "likely", "SIGKILL")
    # One more step like the largest between two samples would have filled the memory.
    if total and used + flight_record.state.largest_step >= total:
        return ExitCause(memory_cause, "open", "SIGKILL")
    is_recent = exit_report.at is not None and 0 <= exit_report.at - sample.at <= _RECENT_S
    if share < _ENOUGH and is_recent:
        return ExitCause("killed", "likely", "SIGKILL")
    return ExitCause("unknown", "open", "SIGKILL")


def _without_status(
    flight_record: FlightRecord | None, exit_report: ExitReport, lines: Sequence[LogLine]
) -> ExitCause | None:
    """Return the exit cause if the exit status is not known.

    It follows from the recorded phase, the system's log, the lines of native code, and the count of killed
    processes. If none of them shows a cause, return None. A kernel that was forced to restart shows none of
    these signs either.
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
        return ExitCause(fullest_memory(sample)[2], "likely")
    return None


def _has_grown(before: int | None, after: int | None) -> bool | None:
    return None if before is None or after is None else after > before


def _is_last_line_fatal(lines: Sequence[LogLine]) -> bool:
    """Return True if the newest line says that the process will end."""
    return bool(lines) and (lines[-1].verdict == "fatal" or _is_fatal(lines[-1].text))


def _is_fatal(text: str) -> bool:
    from jupyter_mlgpu.explain.logs import prefixes

    prefix = prefixes.read(text)
    return prefix is not None and prefix.level == "FATAL"
