"""Starts a program that is no child of this process.

Sources: PR_GET_CHILD_SUBREAPER of prctl(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence

#: Descriptors are assigned in two steps, so that none is overwritten before it was copied.
_COPIES_FROM = 64
_PR_GET_CHILD_SUBREAPER = 37


def python() -> str:
    """Return the path of a Python interpreter. Raises OSError if none is known.

    The user's code may have changed `sys.executable`. In a program that embeds Python it is that program.
    """
    for path in (sys.executable, getattr(sys, "_base_executable", ""), _of_this_process()):
        if path and "python" in os.path.basename(path).lower() and os.access(path, os.X_OK):
            return path
    raise OSError("no Python interpreter was found to run it")


def start(program: Sequence[str], descriptors: Sequence[int]) -> None:
    """Run a program with `descriptors` as 3, 4 and so on, and /dev/null as 0 to 2.

    A shell starts it and ends within 2 ms. The program then belongs to the system's first process, and
    `os.wait` and `children()` do not find it. Raises OSError if no process can be created, or if it would
    become a child of this one nevertheless.
    """
    if os.getpid() == 1 or _adopts():
        raise OSError("orphaned processes become children of this one")
    with contextlib.ExitStack() as opened:
        actions: list[tuple[int, ...]] = []
        for target, descriptor in enumerate(descriptors, start=3):
            copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _COPIES_FROM)
            opened.callback(os.close, copy)
            actions.append((os.POSIX_SPAWN_DUP2, copy, target))
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        opened.callback(os.close, null)
        actions += [(os.POSIX_SPAWN_DUP2, null, standard) for standard in range(3)]
        with _sigchld_hidden():
            shell = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", '"$@" &', "sh", *program],
                os.environ,
                file_actions=actions,
                setpgroup=0,  # not that of the kernel, to which a Ctrl-C is sent
                setsigmask=[],
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
            status = _exit_status(shell)
    if status:
        raise OSError(f"the shell could not start it (exit status {status})")


def _exit_status(process: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # the user's code waits for all children or ignores them
        return 0


def _of_this_process() -> str:
    try:
        return os.readlink("/proc/self/exe")
    except OSError:
        return ""


def _adopts() -> bool:
    """Return True if orphans among our descendants become our children."""
    adopts = ctypes.c_int(0)
    with contextlib.suppress(AttributeError):  # this system has no such call
        ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts), 0, 0, 0)
    return adopts.value != 0


@contextlib.contextmanager
def _sigchld_hidden() -> Iterator[None]:
    """Hide the end of our child from a handler of the user's, but not the end of the user's children."""
    handler = signal.getsignal(signal.SIGCHLD)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, handler)
        with contextlib.suppress(ChildProcessError):
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                signal.raise_signal(signal.SIGCHLD)
