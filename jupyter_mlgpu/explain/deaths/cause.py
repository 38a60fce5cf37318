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

from jupyter_mlgpu.record.accounts.account import Account, Look
from jupyter_mlgpu.record.accounts.ending import Ending
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
class CauseOfDeath:
    """A cause, how sure it is, and the signal's name or the exit status, where there is one."""

    cause: Cause
    confidence: Confidence
    signal: str | None = None
    status: int | None = None


def judge(account: Account | None, ending: Ending, lines: Sequence[LogLine] = ()) -> CauseOfDeath | None:
    """Why the kernel died; None where it did not, but was shut down or restarted.

    `lines` are what native code wrote last, explained, the newest at the end.
    """
    phase = None if account is None else account.at.phase
    if ending.asked or phase == "ended":
        return None
    direct = account is None or ending.pid is None or ending.pid == account.state.pid
    name, status = _signal_and_status(ending.status, direct)
    if name == "SIGKILL":
        return _of_a_kill(account, ending)
    if name is None and status is None:
        return _without_status(account, ending, lines)
    if name is not None and name not in _CRASHES and name != "SIGABRT":
        return CauseOfDeath("killed", "likely", name)
    ids = {line.id for line in lines}
    for cause, meant in _BY_LINE:
        if ids & meant and (name is not None or status):
            return CauseOfDeath(cause, "likely", name, status)
    if name == "SIGABRT":
        return CauseOfDeath("abort", "sure" if _gave_up(lines) else "likely", name)
    if name is not None:
        return CauseOfDeath("crash", "sure" if ending.named == "crash" else "likely", name)
    return CauseOfDeath("exit", "sure" if direct else "likely", status=status)


def tightest(look: Look) -> tuple[int, int, Memory]:
    """Bytes used, bytes there are, and of what: the machine or its container, whichever is fuller."""
    machine = look.machine_used, look.machine_total
    container = look.container_used, look.container_limit
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


def _of_a_kill(account: Account | None, ending: Ending) -> CauseOfDeath:
    look = None if account is None else account.state.look
    before, after = ending.oom_before if look is None else look.oom_kills, ending.oom_kills
    in_group = _grown(before.container, after.container)
    in_machine = _grown(before.machine, after.machine)
    used, total, where = NOTHING if look is None else tightest(look)
    share = used / total if total else 0.0
    if in_group and look is not None and look.container_limit is not None and share < SHORT:
        where = "container_memory"  # filled quicker than anybody looked
    if ending.named in _MEMORY_OF:
        return CauseOfDeath(_MEMORY_OF[ending.named], "sure", "SIGKILL")
    # A group counts its own processes alone, whoever ran out of memory; the machine counts all.
    if in_group or (in_group is None and in_machine):
        at_once = look is not None and ending.at is not None and 0 <= ending.at - look.at <= AT_ONCE
        # A limit on a group above may be hidden from a container: then it was not the machine.
        seen_full = where == "container_memory" or share >= SHORT
        return CauseOfDeath(where, "sure" if in_group and at_once and seen_full else "likely", "SIGKILL")
    if False in (in_group, in_machine):
        # The system has killed nobody; programs that watch memory may have.
        return CauseOfDeath("killed", "open" if share >= SHORT else "likely", "SIGKILL")
    if look is None or account is None:
        return CauseOfDeath("unknown", "open", "SIGKILL")
    if share >= SHORT:
        return CauseOfDeath(where, "likely", "SIGKILL")
    if total and used + account.state.largest_step >= total:
        return CauseOfDeath(where, "open", "SIGKILL")
    recent = ending.at is not None and 0 <= ending.at - look.at <= RECENT
    if share < ENOUGH and recent:
        return CauseOfDeath("killed", "likely", "SIGKILL")
    return CauseOfDeath("unknown", "open", "SIGKILL")


def _without_status(account: Account | None, ending: Ending, lines: Sequence[LogLine]) -> CauseOfDeath | None:
    """Nobody saw how the process ended: what it and the system said is all there is.

    Where neither said anything, None: whoever restarts a kernel by force leaves the same behind.
    """
    if account is None:
        return None
    if account.at.phase == "exited":
        return CauseOfDeath("exit", "sure")
    look = account.state.look
    if ending.named in _MEMORY_OF:
        return CauseOfDeath(_MEMORY_OF[ending.named], "likely")
    ids = {line.id for line in lines}
    if _gave_up(lines):
        for cause, meant in _BY_LINE:
            if ids & meant:
                return CauseOfDeath(cause, "open")
        return CauseOfDeath("abort", "likely")
    if look is not None and _grown(look.oom_kills.container, ending.oom_kills.container):
        return CauseOfDeath(tightest(look)[2], "likely")
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
